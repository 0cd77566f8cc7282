//! Pictures of reversals: the tensor before and after, side by side, as text, as an SVG image or as
//! HTML.
//!
//! The last two axes form a grid. A tensor of higher rank has one grid for each index of the
//! leading axes. Moved elements are highlighted, and elements beyond their length are dimmed. Bytes that
//! form an image are drawn as its pixels. A [`Scene`] reads only the elements that it shows from its [`Source`], so the cost of drawing does
//! not depend on the size of the tensor.
//!
//! ```
//! use retrograde_picture::{Elements, Movement, Scene, Source, plain};
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
//!         Ok(0) // never called: `Reverse` has no lengths
//!     }
//! }
//!
//! let letters = Letters("live".chars().collect());
//! let Ok(scene) = Scene::of(&letters, &Movement::Axes(vec![0]), &[4], "letters", Elements::Text);
//! assert_eq!(scene.text(80, &plain), "\
//! Reverse  letters  axis 0
//!
//!   before      after
//!   l i v e  →  e v i l
//! ");
//! ```

mod element;
mod html;
mod markup;
mod movement;
mod paint;
mod pixels;
mod png;
mod scene;
mod source;
mod svg;
mod text;
mod window;

pub use element::{number, printable};
pub use movement::{Movement, Padding};
pub use paint::{Role, plain};
pub use scene::Scene;
pub use source::{Elements, Source};
