//! The codecs of an array. Chunks are encoded by `zarrs` and decoded by [`Chain`], which knows how
//! large every step may become.

mod chain;

use crate::grid::Grid;
use chain::{Chain, options};
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::{ArrayBytes, ArrayToBytesCodecTraits, CodecChain, DataType, FillValue};

/// Decodes and encodes chunks.
#[derive(Debug, Clone)]
pub(crate) struct Codec {
    encoder: Arc<CodecChain>,
    /// Or why chunks cannot be decoded.
    decoder: Arc<Result<Chain, String>>,
    data_type: DataType,
    fill: FillValue,
    shape: Vec<NonZeroU64>,
    /// The bytes of an element, if all elements have as many.
    pub(crate) width: Option<usize>,
    /// Whether chunks are the bytes of their elements and nothing else.
    pub(crate) plain: bool,
    /// The bytes of a missing element in a chunk as it is moved: decoded, or plain.
    pub(crate) missing: Vec<u8>,
}

impl Codec {
    pub(crate) fn new(
        array: &zarrs::array::Array<()>,
        grid: &Grid,
        plain: bool,
    ) -> Result<Codec, String> {
        let shape: Option<Vec<_>> =
            grid.chunk().iter().map(|&size| NonZeroU64::new(size)).collect();
        let (data_type, fill) = (array.data_type().clone(), array.fill_value().clone());
        let width = data_type.fixed_size();
        let missing = fill.as_ne_bytes().to_vec();
        let shape = shape.unwrap_or_default();
        let encoder = array.codecs();
        let decoder = match width {
            Some(width) => Chain::of(&encoder, &shape, &data_type, &fill, width),
            None => Err("elements have different sizes".to_owned()),
        };
        let decoder = Arc::new(decoder);
        let codec =
            Codec { encoder, decoder, data_type, fill, shape, width, plain: false, missing };
        if !plain || width.is_none() {
            return Ok(codec);
        }
        // Plain elements stay in the byte order of the store; so must the fill value.
        let one = Codec { shape: vec![NonZeroU64::MIN; grid.rank()], ..codec.clone() };
        let missing = one.encode(codec.missing.clone())?;
        let plain = Some(missing.len()) == width;
        Ok(if plain { Codec { plain, missing, ..codec } } else { codec })
    }

    /// The most bytes of an encoded chunk; `None` if the metadata does not say.
    pub(crate) fn most(&self) -> Option<u64> {
        self.decoder.as_ref().as_ref().ok().map(Chain::most)
    }

    /// Memory to decode a chunk, including the chunk before and after.
    pub(crate) fn room(&self) -> u64 {
        self.decoder.as_ref().as_ref().map_or(0, Chain::room)
    }

    /// The elements of an encoded chunk. Checksums are compared.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match self.decoder.as_ref() {
            Ok(chain) => chain.decode(Cow::Borrowed(bytes)),
            Err(why) => Err(format!("cannot be decoded: {why}")),
        }
    }

    /// An encoded chunk of these elements.
    pub(crate) fn encode(&self, elements: Vec<u8>) -> Result<Vec<u8>, String> {
        let Codec { shape, data_type, fill, .. } = self;
        let bytes = ArrayBytes::new_flen(elements);
        let encoded = self.encoder.encode(bytes, shape, data_type, fill, &options());
        encoded.map(|encoded| encoded.into_owned()).map_err(|error| error.to_string())
    }
}
