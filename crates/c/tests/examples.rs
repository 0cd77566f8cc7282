//! The examples compile without warnings, with the static and the shared library, and print what
//! they should.

mod common;

use common::{Compiler, Language, Linkage, crate_folder};

fn check(source: &str, language: Language, standard: &str, expected: &str) {
    let source = crate_folder().join("examples").join(source);
    for linkage in [Linkage::Static, Linkage::Shared] {
        let compiler = Compiler::new(language).strict().flag(standard);
        if let Some(output) = compiler.run(&source, linkage) {
            assert_eq!(output, expected, "{linkage:?}");
        }
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the names of libraries are those of Linux")]
fn the_c_example() {
    let expected = "\
desserts
evil....
strap...
edsserts
veil....
tsrap...
RETROGRADE_LENGTH_OUT_OF_RANGE: ReverseSequence: lengths[1] is 9, outside [0, 8]
edsserts
veil....
tsrap...
";
    check("reverse.c", Language::C, "-std=c99", expected);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the names of libraries are those of Linux")]
fn the_cpp_example() {
    let expected = "\
ef cd ab kl ij gh 
dessertsevil....strap...
dessertsevilradar
ReverseSequence: lengths[1] is 9, outside [0, 8]
";
    check("reverse.cpp", Language::Cpp, "-std=c++20", expected);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the names of libraries are those of Linux")]
fn the_quickstart() {
    let page = crate_folder().join("../../docs/quickstart.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, rest) = page.split_once("```cpp\n").expect("a block of C++");
    let (program, _) = rest.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("quickstart.cpp");
    std::fs::write(&source, program).expect("a file");
    let compiler = Compiler::new(Language::Cpp).strict().flag("-std=c++20");
    if let Some(output) = compiler.run(&source, Linkage::Static) {
        assert_eq!(output, "3 2 1 6 5 4 ");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the names of libraries are those of Linux")]
fn the_directml_example() {
    let expected = "  5 10  3  4\n  1  6  7  8\n  9  2 11 12\n";
    check("directml.cpp", Language::Cpp, "-std=c++11", expected);
}
