//! The oracle: arrays as lists of elements, reversed one by one, and stores of plain chunks written
//! and read by hand. It imports nothing of the crate.

use std::fs;
use std::path::Path;

/// A small generator of random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// How the store keeps its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain2,
    Plain3,
    /// Big-endian.
    Big3,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Plain2, Kind::Plain3, Kind::Big3];

    pub(crate) fn metadata_name(self) -> &'static str {
        if self == Kind::Plain2 { ".zarray" } else { "zarr.json" }
    }
}

/// An array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Naive {
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<u64>,
    pub(crate) chunk: Vec<u64>,
    pub(crate) width: usize,
    /// Elements in the byte order of the store, row-major.
    pub(crate) elements: Vec<Vec<u8>>,
    /// Which chunks exist, row-major.
    pub(crate) exists: Vec<bool>,
}

/// The value of missing elements.
const FILL: u8 = 5;

fn index(mut number: usize, sizes: &[u64]) -> Vec<u64> {
    let mut index = vec![0; sizes.len()];
    for axis in (0..sizes.len()).rev() {
        index[axis] = number as u64 % sizes[axis];
        number /= sizes[axis] as usize;
    }
    index
}

fn number(index: &[u64], sizes: &[u64]) -> usize {
    index.iter().zip(sizes).fold(0, |sum, (at, size)| sum * *size as usize + *at as usize)
}

impl Naive {
    pub(crate) fn random(
        kind: Kind,
        shape: &[u64],
        chunk: &[u64],
        width: usize,
        missing_percent: usize,
        random: &mut Random,
    ) -> Naive {
        let len: u64 = shape.iter().product();
        let mut array = Naive {
            kind,
            shape: shape.to_vec(),
            chunk: chunk.to_vec(),
            width,
            elements: Vec::new(),
            exists: Vec::new(),
        };
        let counts: u64 = array.counts().iter().product();
        array.exists = (0..counts).map(|_| random.below(100) >= missing_percent).collect();
        for at in 0..len as usize {
            let exists = array.exists[number(&array.chunk_of(at), &array.counts())];
            let element = (0..width).map(|_| random.below(256) as u8).collect();
            array.elements.push(if exists { element } else { array.fill() });
        }
        array
    }

    /// A missing element.
    pub(crate) fn missing(&self) -> Vec<u8> {
        self.fill()
    }

    fn fill(&self) -> Vec<u8> {
        let mut fill = vec![0; self.width];
        let at = if self.kind == Kind::Big3 { self.width - 1 } else { 0 };
        fill[at] = FILL;
        fill
    }

    fn counts(&self) -> Vec<u64> {
        self.shape.iter().zip(&self.chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect()
    }

    fn chunk_of(&self, at: usize) -> Vec<u64> {
        index(at, &self.shape).iter().zip(&self.chunk).map(|(at, size)| at / size).collect()
    }

    /// The array reversed. A chunk exists if one of its elements comes from a chunk that does.
    pub(crate) fn reversed(&self, mask: &[bool]) -> Naive {
        let mut out = Naive { exists: vec![false; self.exists.len()], ..self.clone() };
        for at in 0..self.elements.len() {
            let mut from = index(at, &self.shape);
            for axis in 0..mask.len() {
                if mask[axis] {
                    from[axis] = self.shape[axis] - 1 - from[axis];
                }
            }
            let from = number(&from, &self.shape);
            out.elements[at] = self.elements[from].clone();
            let target = number(&self.chunk_of(at), &self.counts());
            out.exists[target] |= self.exists[number(&self.chunk_of(from), &self.counts())];
        }
        out
    }

    fn path(&self, folder: &Path, chunk: &[u64]) -> std::path::PathBuf {
        let names: Vec<String> = chunk.iter().map(u64::to_string).collect();
        match self.kind {
            Kind::Plain2 => folder.join(names.join(".")),
            _ => folder.join("c").join(names.join("/")),
        }
    }

    pub(crate) fn write(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let (shape, chunk, bits) = (&self.shape, &self.chunk, 8 * self.width);
        let metadata = match self.kind {
            Kind::Plain2 => {
                let order = if self.width == 1 { '|' } else { '<' };
                format!(
                    r#"{{"zarr_format":2,"shape":{shape:?},"chunks":{chunk:?},"dtype":"{order}u{}",
                    "compressor":null,"fill_value":{FILL},"order":"C","filters":null}}"#,
                    self.width
                )
            }
            kind => {
                let endian = if kind == Kind::Big3 { "big" } else { "little" };
                format!(
                    r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},
                    "data_type":"uint{bits}","chunk_grid":{{"name":"regular","configuration":
                    {{"chunk_shape":{chunk:?}}}}},"chunk_key_encoding":{{"name":"default"}},
                    "fill_value":{FILL},"codecs":[{{"name":"bytes","configuration":
                    {{"endian":"{endian}"}}}}],"unknown_attribute_of_nobody":{{"must_understand":
                    false}},"attributes":{{"title":"kept"}}}}"#
                )
            }
        };
        let metadata = metadata.replace(", ", ",");
        fs::write(folder.join(self.kind.metadata_name()), metadata).unwrap();
        for (at, exists) in self.exists.iter().enumerate() {
            if !exists {
                continue;
            }
            let position = index(at, &self.counts());
            let len: u64 = self.chunk.iter().product();
            let mut bytes = Vec::new();
            for inner in 0..len as usize {
                let place: Vec<u64> = index(inner, &self.chunk)
                    .iter()
                    .zip(&position)
                    .zip(&self.chunk)
                    .map(|((at, chunk), size)| at + chunk * size)
                    .collect();
                let inside = place.iter().zip(&self.shape).all(|(at, size)| at < size);
                let element = inside.then(|| self.elements[number(&place, &self.shape)].clone());
                bytes.extend(element.unwrap_or_else(|| self.fill()));
            }
            let path = self.path(folder, &position);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // An equal file keeps its time.
            if fs::read(&path).ok().as_ref() != Some(&bytes) {
                fs::write(path, bytes).unwrap();
            }
        }
    }

    /// Reads an array with the metadata of another. Padding must be the fill value.
    pub(crate) fn read(folder: &Path, like: &Naive) -> Naive {
        let mut out = like.clone();
        out.exists.fill(false);
        out.elements.fill(like.fill());
        for at in 0..out.exists.len() {
            let position = index(at, &like.counts());
            let Ok(bytes) = fs::read(like.path(folder, &position)) else { continue };
            out.exists[at] = true;
            let len: u64 = like.chunk.iter().product();
            assert_eq!(bytes.len(), len as usize * like.width);
            for (inner, element) in bytes.chunks(like.width).enumerate() {
                let place: Vec<u64> = index(inner, &like.chunk)
                    .iter()
                    .zip(&position)
                    .zip(&like.chunk)
                    .map(|((at, chunk), size)| at + chunk * size)
                    .collect();
                match place.iter().zip(&like.shape).all(|(at, size)| at < size) {
                    true => out.elements[number(&place, &like.shape)] = element.to_vec(),
                    false => assert_eq!(element, like.fill()),
                }
            }
        }
        out
    }
}
