//! How the extension module is linked where a linker has to be told. On macOS, it finds Python's functions in
//! the process that loads it. On Windows, what is not listed would be exported too, if zig links: more
//! names than a DLL can have.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_VENDOR").as_deref() == Ok("apple") {
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/_engine.abi3.so");
    }
    if std::env::var("TARGET").as_deref() == Ok("x86_64-pc-windows-gnu") {
        let folder = std::env::var("OUT_DIR").expect("cargo sets it");
        let list = std::path::Path::new(&folder).join("exports.def");
        let names = "EXPORTS\n PyInit__engine\n CreateEpFactories\n ReleaseEpFactory\n RetrogradeLiveSessions\n";
        std::fs::write(&list, names).expect("cargo made the folder");
        println!("cargo::rustc-cdylib-link-arg={}", list.display());
    }
}
