//! Decodes chunks in bounded memory, step by step: how large each step may become follows from the
//! metadata and is known before anything is decoded.
//!
//! `zarrs` reads the metadata and does what cannot grow (byte order, transposition). Compression,
//! checksums and shards are undone here, because its codecs believe what a chunk says about itself.

use crate::flip::{self, Chunk};
use crate::grid::Piece;
use crate::inflate::{BLOSC_BLOCK, Compression};
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::api::{BytesToBytesCodecTraits, CodecMetadataOptions};
use zarrs::array::codec::{
    BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZlibCodec,
    ZstdCodec,
};
use zarrs::array::codec::{ShardingCodecConfiguration, ShardingIndexLocation};
use zarrs::array::{
    ArrayBytes, ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, CodecChain, CodecOptions,
    DataType, FillValue,
};
use zarrs::plugin::{ExtensionName, ZarrVersion};

/// Shards in shards may be this deep.
const DEPTH: usize = 8;
/// Encoders may add this much to a chunk besides a part of its size, such as the name of a file.
const SLACK: u64 = 64 << 10;
/// The bytes of an entry in the table of a shard.
const ENTRY: u64 = 16;
/// The entry of an inner chunk that is missing.
const MISSING: (u64, u64) = (u64::MAX, u64::MAX);

/// The codecs of chunks of one shape.
///
/// 1. `size` is the number of bytes of a decoded chunk, and fits in `isize`.
/// 2. `limits[n]` is the most bytes that undoing `compressions[n]` may give; none overflows.
#[derive(Debug)]
pub(super) struct Chain {
    size: u64,
    data_type: DataType,
    fill: FillValue,
    /// Each with the shape before it is applied.
    transposes: Vec<(Arc<dyn ArrayToArrayCodecTraits>, Vec<NonZeroU64>)>,
    serializer: Serializer,
    compressions: Vec<Compression>,
    limits: Vec<u64>,
    /// The most bytes of an encoded chunk.
    most: u64,
    /// Memory to decode a chunk, including the chunk before and after.
    room: u64,
}

/// How elements become bytes.
#[derive(Debug)]
enum Serializer {
    /// One after the other.
    Bytes {
        codec: Arc<dyn ArrayToBytesCodecTraits>,
        shape: Vec<NonZeroU64>,
    },
    Shards(Box<Shards>),
}

/// Inner chunks and a table of where they are.
#[derive(Debug)]
struct Shards {
    /// The shape of a shard.
    shape: Vec<u64>,
    /// The shape of an inner chunk.
    chunk: Vec<u64>,
    /// Inner chunks of a shard, per axis.
    counts: Vec<u64>,
    width: usize,
    fill: FillValue,
    inner: Chain,
    /// Decodes the table.
    table: Chain,
    at_end: bool,
}

impl Chain {
    /// The codecs of chunks with this shape. Fails if one of them is not known here, or if a size
    /// does not fit in memory.
    pub(super) fn of(
        codecs: &CodecChain,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill: &FillValue,
        width: usize,
    ) -> Result<Chain, String> {
        Chain::at_depth(codecs, shape, data_type, fill, width, 0)
    }

    fn at_depth(
        codecs: &CodecChain,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill: &FillValue,
        width: usize,
        depth: usize,
    ) -> Result<Chain, String> {
        if depth > DEPTH {
            return Err(format!("shards are nested more than {DEPTH} deep"));
        }
        let size = shape.iter().try_fold(width as u64, |size, axis| size.checked_mul(axis.get()));
        // (1)
        let size = size.filter(|&size| isize::try_from(size).is_ok());
        let size = size.ok_or_else(|| format!("a chunk of {shape:?} does not fit in memory"))?;
        let mut inner = shape.to_vec();
        let mut transposes = Vec::new();
        for codec in codecs.array_to_array_codecs() {
            if !codec.as_any().is::<TransposeCodec>() {
                return Err(unknown(codec.name(ZarrVersion::V3)));
            }
            let encoded = codec.encoded_shape(&inner).map_err(|error| error.to_string())?;
            transposes.push((codec.clone(), std::mem::replace(&mut inner, encoded.to_vec())));
        }
        let codec = codecs.array_to_bytes_codec();
        let serializer = if codec.as_any().is::<BytesCodec>() {
            Serializer::Bytes { codec: codec.clone(), shape: inner }
        } else if let Some(shards) = codec.as_any().downcast_ref::<ShardingCodec>() {
            let shards = Shards::of(shards, &inner, data_type, fill, width, depth)?;
            Serializer::Shards(Box::new(shards))
        } else {
            return Err(unknown(codec.name(ZarrVersion::V3)));
        };
        let compressions = codecs.bytes_to_bytes_codecs().iter().map(compression);
        let compressions = compressions.collect::<Result<Vec<_>, _>>()?;
        let overflow = || "the size of an encoded chunk does not fit in 64 bits".to_owned();
        let (first, inside) = match &serializer {
            Serializer::Bytes { .. } => (size, 0),
            Serializer::Shards(shards) => {
                (shards.most().ok_or_else(overflow)?, shards.inner.room.max(shards.table.room))
            }
        };
        // (2)
        let (mut limits, mut most, mut room) = (Vec::new(), first, size);
        for compression in &compressions {
            limits.push(most);
            let larger = match compression {
                Compression::Crc32c => most.checked_add(4),
                _ => most.checked_add(most / 4).and_then(|most| most.checked_add(64)),
            };
            let before = larger.ok_or_else(overflow)?;
            room = room.max(before.saturating_add(most).saturating_add(compression.scratch(most)));
            most = before;
        }
        // A shard and what its inner chunks need, beside the result; or a transposed copy.
        room = room.max(size.saturating_add(first).saturating_add(inside));
        let (data_type, fill) = (data_type.clone(), fill.clone());
        let (most, room) =
            (most.checked_add(SLACK).ok_or_else(overflow)?, room.saturating_add(SLACK));
        Ok(Chain {
            size,
            data_type,
            fill,
            transposes,
            serializer,
            compressions,
            limits,
            most,
            room,
        })
    }

    /// The most bytes of an encoded chunk.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Memory to decode a chunk, including the chunk before and after.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// The elements of an encoded chunk, in the byte order of the machine.
    pub(super) fn decode(&self, mut bytes: Cow<'_, [u8]>) -> Result<Vec<u8>, String> {
        if bytes.len() as u64 > self.most {
            return Err(format!("has {} bytes, at most {} are possible", bytes.len(), self.most));
        }
        for (compression, limit) in self.compressions.iter().zip(&self.limits).rev() {
            bytes = Cow::Owned(compression.undo(&bytes, *limit)?);
        }
        let mut elements = match &self.serializer {
            Serializer::Bytes { codec, shape } => {
                if bytes.len() as u64 != self.size {
                    let (is, expected) = (bytes.len(), self.size);
                    return Err(format!("decodes to {is} bytes, expected {expected}"));
                }
                let Chain { data_type, fill, .. } = self;
                let decoded = codec.decode(bytes, shape, data_type, fill, &options());
                fixed(decoded.map_err(|error| error.to_string())?)?
            }
            Serializer::Shards(shards) => shards.decode(&bytes)?,
        };
        for (codec, shape) in self.transposes.iter().rev() {
            let (data_type, fill) = (&self.data_type, &self.fill);
            let decoded =
                codec.decode(ArrayBytes::new_flen(elements), shape, data_type, fill, &options());
            elements = fixed(decoded.map_err(|error| error.to_string())?)?;
        }
        match elements.len() as u64 == self.size {
            true => Ok(elements),
            false => Err(format!("decodes to {} bytes, expected {}", elements.len(), self.size)),
        }
    }
}

fn fixed(decoded: ArrayBytes<'_>) -> Result<Vec<u8>, String> {
    decoded.into_fixed().map(Cow::into_owned).map_err(|error| error.to_string())
}

fn unknown(name: Option<Cow<'static, str>>) -> String {
    let name = name.unwrap_or("without a name".into());
    format!(
        "the codec {name} is not supported here; these are: bytes, transpose, sharding_indexed, \
         blosc, zstd, gzip, zlib and crc32c"
    )
}

fn compression(codec: &Arc<dyn BytesToBytesCodecTraits>) -> Result<Compression, String> {
    let any = codec.as_any();
    Ok(if any.is::<ZstdCodec>() {
        Compression::Zstd
    } else if any.is::<GzipCodec>() {
        Compression::Gzip
    } else if any.is::<ZlibCodec>() {
        Compression::Zlib
    } else if any.is::<BloscCodec>() {
        let settings = codec.configuration(ZarrVersion::V3, &CodecMetadataOptions::default());
        let block = settings.and_then(|settings| settings.get("blocksize")?.as_u64());
        Compression::Blosc(block.unwrap_or(0).max(BLOSC_BLOCK))
    } else if any.is::<Crc32cCodec>() {
        Compression::Crc32c
    } else {
        return Err(unknown(codec.name(ZarrVersion::V3)));
    })
}

impl Shards {
    fn of(
        codec: &ShardingCodec,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill: &FillValue,
        width: usize,
        depth: usize,
    ) -> Result<Shards, String> {
        use zarrs::array::codec::api::CodecTraits;
        let settings = codec.configuration(ZarrVersion::V3, &CodecMetadataOptions::default());
        let settings = settings.ok_or("shards without a configuration")?;
        let settings = serde_json::to_value(settings).map_err(|error| error.to_string())?;
        let settings: ShardingCodecConfiguration =
            serde_json::from_value(settings).map_err(|error| error.to_string())?;
        let ShardingCodecConfiguration::V1(settings) = settings else {
            return Err("an unknown version of shards".to_owned());
        };
        let chunk: Vec<NonZeroU64> = settings.chunk_shape.to_vec();
        if chunk.len() != shape.len() {
            return Err(format!("shards of {shape:?} have inner chunks of {chunk:?}"));
        }
        let sizes = shape.iter().zip(&chunk);
        let ratio = sizes.map(|(shard, chunk)| {
            (shard.get() % chunk.get() == 0).then(|| shard.get() / chunk.get())
        });
        let counts = ratio.collect::<Option<Vec<u64>>>();
        let counts =
            counts.ok_or_else(|| format!("{shape:?} are not whole inner chunks of {chunk:?}"))?;
        let chain = |codecs| CodecChain::from_metadata(codecs).map_err(|error| error.to_string());
        let inner = chain(&settings.codecs)?;
        let inner = Chain::at_depth(&inner, &chunk, data_type, fill, width, depth + 1)?;
        let entries: Option<Vec<NonZeroU64>> =
            counts.iter().copied().chain([2]).map(NonZeroU64::new).collect();
        let entries = entries.ok_or("shards without inner chunks")?;
        let table = Chain::at_depth(
            &chain(&settings.index_codecs)?,
            &entries,
            &zarrs::array::data_type::uint64(),
            &FillValue::from(u64::MAX),
            8,
            depth + 1,
        )?;
        if table.compressions.iter().any(|&compression| compression != Compression::Crc32c) {
            return Err(
                "the table of a shard is compressed, so that its size is unknown".to_owned()
            );
        }
        let plain = |shape: &[NonZeroU64]| shape.iter().map(|size| size.get()).collect();
        let at_end = settings.index_location == ShardingIndexLocation::End;
        let (shape, chunk, fill) = (plain(shape), plain(&chunk), fill.clone());
        Ok(Shards { shape, chunk, counts, width, fill, inner, table, at_end })
    }

    /// The bytes of the encoded table, which only checksums can lengthen.
    fn table_bytes(&self) -> u64 {
        self.table.size + 4 * self.table.compressions.len() as u64
    }

    /// The most bytes of a shard. Chunks that were replaced may still be in it, as many again.
    fn most(&self) -> Option<u64> {
        let count = self.table.size / ENTRY;
        let chunks = (self.inner.most - SLACK).checked_mul(count)?;
        chunks.checked_mul(2)?.checked_add(self.table_bytes())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let (len, table) = (bytes.len() as u64, self.table_bytes());
        if len < table {
            return Err(format!("has {len} bytes, no room for its table of {table} bytes"));
        }
        let at = if self.at_end { (len - table) as usize } else { 0 };
        let encoded = &bytes[at..at + table as usize];
        let table = self.table.decode(Cow::Borrowed(encoded));
        let table = table.map_err(|why| format!("the table of the shard: {why}"))?;
        let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        let entries = || table.chunks_exact(16).map(|e| (number(&e[..8]), number(&e[8..])));
        let size = self.shape.iter().product::<u64>() as usize * self.width;
        let mut out = Vec::new();
        out.try_reserve_exact(size).map_err(|error| format!("{size} bytes: {error}"))?;
        out.resize(size, 0);
        if entries().any(|entry| entry == MISSING) {
            flip::fill(&mut out, self.fill.as_ne_bytes());
        }
        let kept = vec![false; self.shape.len()];
        let from = Chunk { shape: &self.chunk, width: self.width, begin: 0 };
        let to = Chunk { shape: &self.shape, ..from };
        let origin = vec![0; self.shape.len()];
        for (number, (at, size)) in entries().enumerate() {
            if (at, size) == MISSING {
                continue;
            }
            let bad = |why: String| format!("inner chunk {number}: {why}");
            let range = at.checked_add(size).filter(|&end| end <= len);
            let range = range.map(|end| at as usize..end as usize);
            let range = range.ok_or_else(|| bad(format!("bytes {at} to {at}+{size} of {len}")))?;
            let elements = self.inner.decode(Cow::Borrowed(&bytes[range])).map_err(bad)?;
            let mut rest = number as u64;
            let mut start = origin.clone();
            for axis in (0..start.len()).rev() {
                start[axis] = rest % self.counts[axis] * self.chunk[axis];
                rest /= self.counts[axis];
            }
            let (chunk, len) = (origin.clone(), self.chunk.clone());
            let piece = Piece { chunk, from: origin.clone(), to: start, len };
            flip::flip(&piece, &kept, (from, &elements), (to, &mut out))
                .map_err(|error| bad(error.to_string()))?;
        }
        Ok(out)
    }
}

/// Codecs work on the thread that calls them: chunks are processed in parallel, not their parts.
pub(super) fn options() -> CodecOptions {
    CodecOptions::default().with_concurrent_target(1).with_validate_checksums(true)
}
