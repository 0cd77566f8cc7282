//! The eight orientations of images, by their EXIF numbers and by the names that other libraries have
//! for them.

use std::fmt;
use std::str::FromStr;

/// One of the eight orientations: what makes an image with this EXIF number upright.
///
/// | EXIF | name | also | Pillow | OpenCV | NumPy |
/// |---|---|---|---|---|---|
/// | 1 | `identity` | | | | |
/// | 2 | `fliplr` | `mirror`, `hflip` | `FLIP_LEFT_RIGHT` | `flip(x, 1)` | `fliplr(x)` |
/// | 3 | `rot180` | | `ROTATE_180` | `ROTATE_180` | `rot90(x, 2)` |
/// | 4 | `flipud` | `vflip` | `FLIP_TOP_BOTTOM` | `flip(x, 0)` | `flipud(x)` |
/// | 5 | `transpose` | | `TRANSPOSE` | `transpose(x)` | `x.T` |
/// | 6 | `rot270` | | `ROTATE_270` | `ROTATE_90_CLOCKWISE` | `rot90(x, 3)` |
/// | 7 | `transverse` | | `TRANSVERSE` | | `rot90(x, 2).T` |
/// | 8 | `rot90` | | `ROTATE_90` | `ROTATE_90_COUNTERCLOCKWISE` | `rot90(x)` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// 1: upright already.
    Identity = 1,
    /// 2: left and right are exchanged.
    FlipLr,
    /// 3: turned by half.
    Rot180,
    /// 4: top and bottom are exchanged.
    FlipUd,
    /// 5: rows become columns.
    Transpose,
    /// 6: turned clockwise by 90 degrees, which is 270 the other way.
    Rot270,
    /// 7: mirrored on the other diagonal.
    Transverse,
    /// 8: turned counter-clockwise by 90 degrees.
    Rot90,
}

use Orientation::*;

impl Orientation {
    /// All of them, in the order of their numbers.
    pub const ALL: [Orientation; 8] =
        [Identity, FlipLr, Rot180, FlipUd, Transpose, Rot270, Transverse, Rot90];

    /// The names of each; the first is the one it is shown by.
    const NAMES: [&'static [&'static str]; 8] = [
        &["identity"],
        &["fliplr", "mirror", "hflip"],
        &["rot180"],
        &["flipud", "vflip"],
        &["transpose"],
        &["rot270"],
        &["transverse"],
        &["rot90"],
    ];

    /// The one with this EXIF number, 1 to 8.
    pub fn from_exif(number: i64) -> Result<Self, UnknownOrientation> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = at.and_then(|at| Orientation::ALL.get(at).copied());
        found.ok_or_else(|| UnknownOrientation { given: number.to_string() })
    }

    /// The one that makes so many quarter turns counter-clockwise.
    pub fn from_turns(turns: i64) -> Self {
        [Identity, Rot90, Rot180, Rot270][turns.rem_euclid(4) as usize]
    }

    /// Its EXIF number.
    pub fn exif(self) -> u8 {
        self as u8
    }

    /// Its names; the first is the one it is shown by.
    pub fn names(self) -> &'static [&'static str] {
        Orientation::NAMES[self as usize - 1]
    }

    /// The one that undoes it.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Rot90 => Rot270,
            Rot270 => Rot90,
            other => other,
        }
    }

    /// Whether rows become columns.
    pub fn transposes(self) -> bool {
        self as u8 >= Transpose as u8
    }

    /// Whether the rows and the columns of the result run backward, after a transpose, if there is
    /// one.
    pub fn flips(self) -> [bool; 2] {
        [
            matches!(self, Rot180 | FlipUd | Transverse | Rot90),
            matches!(self, FlipLr | Rot180 | Rot270 | Transverse),
        ]
    }
}

impl fmt::Display for Orientation {
    /// Its number and name, such as `6 (rot270)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.exif(), self.names()[0])
    }
}

impl FromStr for Orientation {
    type Err = UnknownOrientation;

    /// Reads a name or a number.
    fn from_str(text: &str) -> Result<Self, UnknownOrientation> {
        if let Ok(number) = text.parse() {
            return Orientation::from_exif(number);
        }
        let found = Orientation::ALL.into_iter().find(|one| one.names().contains(&text));
        found.ok_or_else(|| UnknownOrientation { given: format!("{text:?}") })
    }
}

/// A number, or a name in quotes, that is no orientation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Orient: orientation is {given}, expected 1 to 8 or one of {}",
    Orientation::ALL.map(|one| one.names()[0]).join(", ")
)]
pub struct UnknownOrientation {
    /// What was given.
    pub given: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_texts_lead_back() {
        for (orientation, number) in Orientation::ALL.into_iter().zip(1..) {
            assert_eq!(i64::from(orientation.exif()), number);
            assert_eq!(Orientation::from_exif(number), Ok(orientation));
            assert_eq!(number.to_string().parse(), Ok(orientation));
            for name in orientation.names() {
                assert_eq!(name.parse(), Ok(orientation));
            }
            assert_eq!(orientation.inverse().inverse(), orientation);
        }
        let turns: Vec<_> = (-4..4).map(|turns| Orientation::from_turns(turns).exif()).collect();
        assert_eq!(turns, [1, 8, 3, 6, 1, 8, 3, 6]);
    }
}
