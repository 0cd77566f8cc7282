//! On macOS, an extension module finds Python's functions in the process that loads it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_VENDOR").as_deref() == Ok("apple") {
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/_engine.abi3.so");
    }
}
