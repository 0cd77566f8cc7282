//! Pictures of calls whose elements come as text.

use retrograde_picture::{Elements, Movement, Scene, Source, plain};

/// The width that text pictures may take.
const COLUMNS: usize = 100;

struct Texts<'a> {
    elements: Vec<&'a str>,
    shape: &'a [usize],
    lengths: &'a [i128],
    /// The shape of the lengths.
    lanes: Vec<usize>,
}

/// The position of an index in row-major order.
fn ravel(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (at, size)| flat * size + at)
}

impl Source for Texts<'_> {
    type Error = String;

    fn text(&self, index: &[usize]) -> Result<String, String> {
        let at = ravel(index, self.shape);
        let missing = || format!("picture: no element {at}, there are {}", self.elements.len());
        self.elements.get(at).map(|text| (*text).to_owned()).ok_or_else(missing)
    }

    fn length(&self, at: &[usize]) -> Result<i128, String> {
        let at = ravel(at, &self.lanes);
        self.lengths.get(at).copied().ok_or_else(|| format!("picture: no length {at}"))
    }
}

/// Draws a call that was checked.
pub(crate) fn draw(
    movement: &Movement,
    shape: &[usize],
    lengths: &[i128],
    elements: &str,
    what: &str,
    format: &str,
) -> Result<String, String> {
    let lanes = match movement {
        Movement::Sequence { batch, .. } => vec![shape[*batch]],
        Movement::Lanes { axis, .. } => {
            let mut lanes = shape.to_vec();
            lanes[*axis] = 1;
            lanes
        }
        Movement::Axes(_) | Movement::Segments { .. } | Movement::Orient { .. } => Vec::new(),
    };
    let texts = Texts { elements: elements.lines().collect(), shape, lengths, lanes };
    let scene = Scene::of(&texts, movement, shape, what, Elements::Numbers)?;
    match format {
        "text" => Ok(scene.text(COLUMNS, &plain)),
        "svg" => Ok(scene.svg()),
        "html" => Ok(scene.html()),
        other => {
            Err(format!("picture: format is {other:?}, expected \"text\", \"svg\" or \"html\""))
        }
    }
}
