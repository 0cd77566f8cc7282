//! Which keys of a server may become paths on this machine: a server names them, and a name such as
//! `a\..\..\x` or `C:\x` would lead out of the folder on Windows.

/// Names may be nested this deep.
const DEPTH: usize = 128;
/// Names that are devices on Windows, whatever follows behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Fails with a reason if a key is not a relative path of plain names. `windows` adds what only
/// Windows forbids.
pub(crate) fn check(key: &str, windows: bool) -> Result<(), String> {
    let bad = |why: &str| {
        let shown: String = key.chars().take(80).collect();
        Err(format!("the store has the key {shown:?}, {why}"))
    };
    if key.split('/').nth(DEPTH).is_some() {
        return bad(&format!("which is nested more than {DEPTH} deep"));
    }
    let mut letters = key.chars();
    if letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.next() == Some(':')
    {
        return bad("which begins like a drive of Windows");
    }
    for name in key.split('/') {
        match name {
            "" => return bad("which has an empty name"),
            "." | ".." => return bad("which leads to another folder"),
            name if name.contains('\\') => return bad("which has a backslash"),
            name if name.contains(char::is_control) => return bad("which has a control character"),
            _ => {}
        }
        if windows && name.contains(['<', '>', ':', '"', '|', '?', '*']) {
            return bad("which has a character that Windows does not allow");
        }
        if windows && name.ends_with(['.', ' ']) {
            return bad("which has a name that ends with a dot or space");
        }
        let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
        let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
        let port = port.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()));
        if windows && (port || DEVICES.contains(&stem.trim_end())) {
            return bad("which has the name of a device");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_their_folder_on_every_system() {
        for key in ["zarr.json", "a/b/c/0/1", "my data/.zarray", "ünïcode", "a..b", "...x", "con"]
        {
            assert_eq!(check(key, false), Ok(()), "{key}");
        }
        for key in ["dense/kernel:0", "a/b.", "aux/x", "com1.txt"] {
            assert_eq!(check(key, false), Ok(()), "{key}");
            assert!(check(key, true).is_err(), "{key}");
        }
        for key in ["zarr.json", "a/b/c/0/1", ".zarray", "console", "com", "com10", "lpt/x y"] {
            assert_eq!(check(key, true), Ok(()), "{key}");
        }
        let deep = "a/".repeat(DEPTH) + "a";
        for key in [
            r"a\..\..\x",
            r"C:\x",
            "C:x",
            r"\\host\share\x",
            r"\x",
            "/x",
            "//host/x",
            "../x",
            "a/../x",
            "a/..",
            ".",
            "..",
            "",
            "a//b",
            "a/",
            "a/./b",
            "a\0b",
            "a\nb",
            "c:/windows",
            &deep,
        ] {
            for windows in [false, true] {
                assert!(check(key, windows).is_err(), "{key:?} {windows}");
            }
        }
        assert!(check(&deep[2..], true).is_ok());
    }
}
