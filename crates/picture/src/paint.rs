//! What a piece of text is, which decides its colour.

/// The role of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The operator's name.
    Operator,
    /// A label, or a mark for elements that are not shown.
    Label,
    /// A length.
    Length,
    /// An element that did not move.
    Plain,
    /// An element that moved.
    Moved,
    /// An element beyond its length.
    Padding,
    /// Two pixels of these colours (red, green, blue), one above the other: the upper half of a block in
    /// the colour of the first on the second. Without colours, the text stays as it is.
    Pixels {
        /// The upper pixel.
        above: [u8; 3],
        /// The lower pixel.
        below: [u8; 3],
    },
}

/// Returns the text without colours.
pub fn plain(_: Role, text: &str) -> String {
    text.to_owned()
}

/// Adds colours to a piece of text. They must not change its width.
pub(crate) type Paint<'a> = &'a dyn Fn(Role, &str) -> String;
