//! Elements as text, for every picture.

/// Significant digits of a float: a picture shows what moves, not every bit of it.
const DIGITS: usize = 5;

/// The shortest decimal that `is_same` accepts for a value, with no fraction beyond five digits.
pub fn number(value: f64, is_same: impl Fn(f64) -> bool) -> String {
    let size = value.abs();
    if !size.is_finite() {
        return value.to_string().to_lowercase();
    }
    // Outside this range, plain notation would have more zeros than digits.
    let is_plain = size == 0.0 || (1e-4..1e9).contains(&size);
    // Every digit before the decimal point is shown.
    let whole = if is_plain { format!("{size:.0}").len() } else { 1 };
    let mut text = String::new();
    let mut short = value;
    for decimals in whole - 1..whole.max(DIGITS) {
        text = format!("{value:.decimals$e}");
        short = text.parse().unwrap_or(value);
        if is_same(short) {
            break;
        }
    }
    if is_plain { short.to_string() } else { text }
}

/// The text with everything escaped that could control a terminal.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        // Ends of lines, and what XML has no place for.
        let is_special = matches!(character, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}');
        if character.is_control() || is_special || is_bidirectional_control(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

fn is_bidirectional_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
