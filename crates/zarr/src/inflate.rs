//! Undoes compression and checksums within a limit: nothing allocates more than the caller allows,
//! whatever the compressed bytes claim. Chunks of Zarr and filters of HDF5 both pass through here.

use flate2::bufread::{GzDecoder, ZlibDecoder};
use std::io::Read;

/// The bytes of the header of a Blosc buffer.
const BLOSC_HEADER: usize = 16;
/// The largest block that Blosc chooses by itself is 2 MiB at most.
pub(crate) const BLOSC_BLOCK: u64 = 2 << 20;

/// One way to compress bytes, or to append a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Zstd,
    Gzip,
    Zlib,
    /// With blocks of at most this many bytes.
    Blosc(u64),
    Crc32c,
}

impl Compression {
    /// The original bytes, `limit` of them at most. Checksums are compared.
    pub(crate) fn undo(self, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        match self {
            Compression::Zstd => zstd(bytes, limit),
            Compression::Gzip => read(GzDecoder::new(bytes), limit),
            Compression::Zlib => read(ZlibDecoder::new(bytes), limit),
            Compression::Blosc(block) => blosc(bytes, limit, block),
            Compression::Crc32c => crc32c(bytes, limit),
        }
    }

    /// Memory that is needed besides the bytes before and after.
    pub(crate) fn scratch(self, limit: u64) -> u64 {
        match self {
            // A block before and after its bytes are put in order.
            Compression::Blosc(block) => 2 * block.min(limit) + (4 << 10),
            // The tables of a decoder, and its window of 32 KiB where there is one.
            _ => 256 << 10,
        }
    }
}

fn too_many(limit: u64) -> String {
    format!("decodes to more than {limit} bytes, which is all that its metadata allows")
}

/// An empty vector with room for so many bytes.
fn room(bytes: u64) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let size = usize::try_from(bytes).map_err(|error| error.to_string())?;
    out.try_reserve_exact(size).map_err(|error| format!("{bytes} bytes: {error}"))?;
    Ok(out)
}

fn read(mut decoder: impl Read, limit: u64) -> Result<Vec<u8>, String> {
    let bad = |error: std::io::Error| format!("cannot be inflated: {error}");
    let mut out = room(limit)?;
    decoder.by_ref().take(limit).read_to_end(&mut out).map_err(bad)?;
    // The end of the stream, where its checksum is compared.
    match decoder.read(&mut [0]).map_err(bad)? {
        0 => Ok(out),
        _ => Err(too_many(limit)),
    }
}

/// All frames at once, into memory of a fixed size: a window is not allocated.
fn zstd(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    if let Ok(Some(claimed)) = zstd::zstd_safe::get_frame_content_size(bytes)
        && claimed > limit
    {
        return Err(too_many(limit));
    }
    let bound = zstd::bulk::Decompressor::upper_bound(bytes).map_or(limit, |bound| bound as u64);
    let mut out = room(bound.min(limit))?;
    let mut decoder = zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?;
    match decoder.decompress_to_buffer(bytes, &mut out) {
        Ok(_) => Ok(out),
        Err(error) => Err(format!("is not {limit} bytes of zstd or less: {error}")),
    }
}

fn blosc(bytes: &[u8], limit: u64, most: u64) -> Result<Vec<u8>, String> {
    let header = bytes.get(..BLOSC_HEADER).ok_or("is shorter than the header of Blosc")?;
    let number = |at: usize| {
        u64::from(u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]))
    };
    let (decoded, block, encoded) = (number(4), number(8), number(12));
    if decoded > limit {
        return Err(too_many(limit));
    }
    if encoded != bytes.len() as u64 {
        return Err(format!("has {} bytes, its Blosc header says {encoded}", bytes.len()));
    }
    if decoded == 0 {
        return Ok(Vec::new());
    }
    if block > most.min(decoded) {
        let most = most.min(decoded);
        return Err(format!("has Blosc blocks of {block} bytes, the metadata allows {most}"));
    }
    // Validated and decompressed by the library of Blosc, into memory of the size in the header.
    let valid = zarrs::array::codec::blosc_validate(bytes);
    if valid.map(|size| size as u64) != Some(decoded) {
        return Err("is no valid Blosc buffer".to_owned());
    }
    zarrs::array::codec::blosc_decompress_bytes(bytes, decoded as usize, 1)
        .map_err(|error| error.to_string())
}

fn crc32c(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let Some((data, sum)) = bytes.split_last_chunk() else {
        return Err("is shorter than its checksum".to_owned());
    };
    if data.len() as u64 > limit {
        return Err(too_many(limit));
    }
    let (stored, computed) = (u32::from_le_bytes(*sum), crc32c::crc32c(data));
    if stored != computed {
        return Err(format!("the checksum is {stored:#010x}, computed {computed:#010x}"));
    }
    Ok(data.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression as Level;
    use std::io::Write;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), Level::best());
        out.write_all(data).unwrap();
        out.finish().unwrap()
    }

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), Level::best());
        out.write_all(data).unwrap();
        out.finish().unwrap()
    }

    fn blosc(data: &[u8]) -> Vec<u8> {
        use zarrs::array::codec::{BloscCompressor, BloscShuffleMode, blosc_compress_bytes};
        let (mode, level) = (BloscShuffleMode::Shuffle, 5.try_into().unwrap());
        blosc_compress_bytes(data, level, mode, 4, BloscCompressor::LZ4, 0, 1).unwrap()
    }

    fn summed(data: &[u8]) -> Vec<u8> {
        [data, &crc32c::crc32c(data).to_le_bytes()].concat()
    }

    fn each(data: &[u8]) -> [(Compression, Vec<u8>); 5] {
        [
            (Compression::Zstd, zstd::bulk::compress(data, 3).unwrap()),
            (Compression::Gzip, gzip(data)),
            (Compression::Zlib, zlib(data)),
            (Compression::Blosc(BLOSC_BLOCK), blosc(data)),
            (Compression::Crc32c, summed(data)),
        ]
    }

    #[test]
    fn as_many_bytes_as_allowed_and_no_more() {
        let data: Vec<u8> = (0..10_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let size = data.len() as u64;
        for (how, bytes) in each(&data) {
            assert_eq!(how.undo(&bytes, size).as_ref(), Ok(&data), "{how:?}");
            assert_eq!(how.undo(&bytes, size + 1).as_ref(), Ok(&data), "{how:?}");
            let error = how.undo(&bytes, size - 1).unwrap_err();
            assert!(error.contains(&(size - 1).to_string()), "{how:?}: {error}");
        }
    }

    #[test]
    fn bytes_that_were_cut_or_changed_are_errors() {
        let data: Vec<u8> = (0..999u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        for (how, bytes) in each(&data) {
            for len in 0..bytes.len() {
                // No frame at all is no error of zstd, but no chunk either.
                let out = how.undo(&bytes[..len], 1 << 20).unwrap_or_default();
                assert!(out.is_empty(), "{how:?} cut at {len}");
            }
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 0x55;
                // Not every format has a checksum, but no result is larger than the limit.
                let size = how.undo(&changed, 4096).map_or(0, |out| out.len());
                assert!(size <= 4096, "{how:?}");
            }
        }
    }

    #[test]
    fn what_a_header_claims_is_not_allocated() {
        // A frame of one raw block that claims 2^45 bytes.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x48];
        frame.extend((1u64 << 45).to_le_bytes());
        frame.extend([0x01, 0x00]);
        assert!(Compression::Zstd.undo(&frame, 64).unwrap_err().contains("64 bytes"));
        // Buffers of Blosc that claim to hold, or to need, two gigabytes.
        let mut bytes = blosc(&[1; 256]);
        bytes[8..12].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
        assert!(Compression::Blosc(BLOSC_BLOCK).undo(&bytes, 256).unwrap_err().contains("blocks"));
        bytes[4..8].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
        let error = Compression::Blosc(BLOSC_BLOCK).undo(&bytes, 256).unwrap_err();
        assert!(error.contains("more than 256 bytes"), "{error}");
    }
}
