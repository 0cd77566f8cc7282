//! Where the elements of a picture come from, and what they are.

/// Supplies the elements and lengths of a picture.
pub trait Source {
    /// The error of reading an element or a length.
    type Error;

    /// The element at this index of the input, as text.
    fn text(&self, index: &[usize]) -> Result<String, Self::Error>;

    /// The length at this index of the lengths; see [`Movement::length_at`](crate::Movement::length_at).
    fn length(&self, at: &[usize]) -> Result<i128, Self::Error>;

    /// Whether a mask lets the element at this index stay. Masks of lengths are lengths of 0 instead.
    fn stays(&self, _index: &[usize]) -> bool {
        false
    }

    /// The element at this index of the result, which comes from `origin` in the input, as text: another
    /// one than there if a table changes it.
    fn result(&self, _index: &[usize], origin: &[usize]) -> Result<String, Self::Error> {
        self.text(origin)
    }

    /// What the headline says besides the axes.
    fn note(&self) -> String {
        String::new()
    }

    /// An element of zero bytes, as text.
    fn zero(&self) -> String {
        "0".to_owned()
    }
}

/// What elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// Numbers and the like, right-aligned.
    Numbers,
    /// Text, left-aligned.
    Text,
    /// Numbers from 0 to 255: pixels, if the tensor has the shape of an image.
    Bytes,
}
