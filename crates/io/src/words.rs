//! Formats text for error messages: system errors, byte counts, names and excerpts.

use std::io;

/// The system's error message, without the error number that Rust appends.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A number of bytes, with the unit in singular or plural.
pub(crate) fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

/// The error message of a library, on one line.
pub(crate) fn one_line(error: &impl std::fmt::Display) -> String {
    let joined = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    // Names from a file may contain anything, such as escape sequences of terminals.
    let printable = |character: char| match character.is_control() {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    joined.chars().map(printable).collect()
}

/// A name from a file, truncated for printing.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 120;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// The first `limit` bytes of some content, escaped and in quotes.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let shown = &bytes[..bytes.len().min(limit)];
    let more = if bytes.len() > limit { "..." } else { "" };
    // Single quotes need no escape inside double quotes.
    format!("\"{}{more}\"", shown.escape_ascii().to_string().replace("\\'", "'"))
}

/// Names in quotes, followed by the number of names that are not listed.
pub(crate) fn listed(names: &[String], more: usize) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_libraries_are_one_printable_line() {
        assert_eq!(
            one_line(&"unknown field `a\n\u{1b}[2Jb`,\r\n  at 3"),
            r"unknown field `a \u{1b}[2Jb`, at 3"
        );
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(short("a"), "a");
        assert_eq!(short(&"é".repeat(500)).chars().count(), 123);
    }
}
