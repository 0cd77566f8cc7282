//! Pictures of reversals: the tensor before and after, side by side, as text, as an SVG image and as
//! HTML.
//!
//! The last two axes make a grid; a tensor of more has one grid for each index of the others. What
//! moved is bright, what lies beyond its length is dim. A [`Scene`] asks its [`Source`] for the few
//! elements that it shows, so drawing is instant for a tensor of any size.
//!
//! ```
//! use retrograde_picture::{Movement, Scene, Source, plain};
//!
//! struct Letters(Vec<char>);
//!
//! impl Source for Letters {
//!     type Error = std::convert::Infallible;
//!
//!     fn text(&self, index: &[usize]) -> Result<String, Self::Error> {
//!         Ok(self.0[index[0]].to_string())
//!     }
//!
//!     fn length(&self, _: &[usize]) -> Result<i128, Self::Error> {
//!         Ok(0) // nobody asks: whole axes have no lengths
//!     }
//! }
//!
//! let letters = Letters("live".chars().collect());
//! let Ok(scene) = Scene::of(&letters, &Movement::Axes(vec![0]), &[4], "letters", true);
//! assert_eq!(scene.text(80, &plain), "\
//! Reverse  letters  axis 0
//!
//!   before      after
//!   l i v e  →  e v i l
//! ");
//! ```

mod html;
mod markup;
mod movement;
mod scene;
mod svg;
mod text;
mod window;

pub use movement::Movement;
pub use scene::{Scene, Source};
pub use text::{Role, plain};
