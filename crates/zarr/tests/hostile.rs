//! Chunks and metadata that lie about their sizes: an error that names the chunk, and no memory that
//! the metadata does not justify.

use retrograde_zarr::store::Local;
use retrograde_zarr::{Axes, Error, Job, Settings, Target};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;

/// The codecs behind `bytes` of an array of four u1 in one chunk, and the chunk.
fn reversed(codecs: &[Value], chunk: &[u8]) -> Result<Vec<u8>, Error> {
    let mut list = vec![json!({ "name": "bytes" })];
    list.extend(codecs.iter().cloned());
    with_metadata(&json!(list), &json!([4]), chunk)
}

fn with_metadata(codecs: &Value, chunk_shape: &Value, chunk: &[u8]) -> Result<Vec<u8>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.zarr"), folder.path().join("out.zarr"));
    fs::create_dir_all(input.join("deep/x/c")).unwrap();
    let group = json!({ "zarr_format": 3, "node_type": "group" });
    fs::write(input.join("zarr.json"), group.to_string()).unwrap();
    fs::write(input.join("deep/zarr.json"), group.to_string()).unwrap();
    let metadata = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk_shape } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
        "codecs": codecs,
    });
    fs::write(input.join("deep/x/zarr.json"), metadata.to_string()).unwrap();
    fs::write(input.join("deep/x/c/0"), chunk).unwrap();
    let settings = Settings { memory: 64 << 20, sync: false, ..Settings::default() };
    let store = Local::new(&input);
    Job::new(&store, &Axes::All.into())?.write(&Target::from(&output), &settings)?;
    // Plain again, so that elements can be compared without a codec.
    let elements = fs::read(output.join("deep/x/c/0")).unwrap();
    Ok(elements)
}

fn zstd() -> Value {
    json!({ "name": "zstd", "configuration": { "level": 1, "checksum": false } })
}

fn gzip() -> Value {
    json!({ "name": "gzip", "configuration": { "level": 1 } })
}

fn blosc() -> Value {
    let configuration = json!({ "cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0 });
    json!({ "name": "blosc", "configuration": configuration })
}

fn gzipped(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// The error names store, array and chunk, and says this.
fn refused(result: Result<Vec<u8>, Error>, says: &str) {
    let error = result.unwrap_err().to_string();
    let named = error.contains("in.zarr/deep/x/c/0: chunk [0]: ");
    assert!(named && error.contains(says), "{error}");
}

#[test]
fn a_frame_of_zstd_that_claims_too_much() {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    frame.extend((1u64 << 45).to_le_bytes());
    frame.extend([0x01, 0, 0]);
    assert_eq!(frame.len(), 16);
    refused(reversed(&[zstd()], &frame), "more than 4 bytes");
}

#[test]
fn streams_that_inflate_to_too_much() {
    let bomb = gzipped(&vec![0; 16 << 20]);
    refused(reversed(&[gzip()], &bomb[..]), "more than 4 bytes");
    // Twice: the first layer alone is too large.
    let twice = gzipped(&gzipped(&vec![0; 64 << 20]));
    refused(reversed(&[gzip(), gzip()], &twice), "more than");
    // A frame with as many blocks as it takes, each of one byte that is repeated.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let block = (128u32 << 10 << 3) | 1 << 1;
    for last in [0, 0, 1] {
        frame.extend(&(block | last).to_le_bytes()[..3]);
        frame.push(7);
    }
    refused(reversed(&[zstd()], &frame), "4 bytes");
}

#[test]
fn buffers_of_blosc_that_claim_too_much() {
    let buffer = |nbytes: u32, block: u32| {
        let mut buffer = vec![2, 1, 2, 1];
        buffer.extend([nbytes, block, 20].iter().flat_map(|size| size.to_le_bytes()));
        buffer.extend([1, 2, 3, 4]);
        buffer
    };
    refused(reversed(&[blosc()], &buffer(0x7fff_ffff, 4)), "more than 4 bytes");
    refused(reversed(&[blosc()], &buffer(4, 0x7fff_ffff)), "blocks of 2147483647 bytes");
}

#[test]
fn a_chunk_that_is_too_large_is_not_read() {
    refused(reversed(&[zstd()], &vec![0; 1 << 20]), "has 1048576 bytes, at most");
    refused(reversed(&[json!({ "name": "crc32c" })], &vec![0; 1 << 20]), "at most");
}

#[test]
fn shards_whose_tables_lie() {
    let bytes = json!({ "name": "bytes" });
    let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let shards = |inner: Value, chunk: Value| {
        json!([{ "name": "sharding_indexed", "configuration": {
            "chunk_shape": chunk, "codecs": inner, "index_codecs": [little],
            "index_location": "end",
        } }])
    };
    let plain = shards(json!([bytes]), json!([2]));
    let shard = |table: [u64; 4]| {
        let table = table.iter().flat_map(|entry| entry.to_le_bytes());
        [1, 2, 3, 4].into_iter().chain(table).collect::<Vec<u8>>()
    };
    // Two inner chunks become one shard of their elements, reversed.
    let out = with_metadata(&plain, &json!([4]), &shard([0, 2, 2, 2])).unwrap();
    assert_eq!(out[..4], [4, 3, 2, 1]);
    for table in [[0, 2, 2, 200], [0, 2, u64::MAX - 1, 2], [0, 2, u64::MAX, 3], [0, 2, 1 << 63, 2]]
    {
        refused(with_metadata(&plain, &json!([4]), &shard(table)), "inner chunk 1");
    }
    refused(with_metadata(&plain, &json!([4]), &[0; 31]), "table");
    // An inner chunk that inflates to more than its shape.
    let inner = shards(json!([bytes, gzip()]), json!([2]));
    let bomb = gzipped(&vec![0; 1 << 20]);
    let size = bomb.len() as u64;
    let table = [0, size, u64::MAX, u64::MAX].into_iter().flat_map(u64::to_le_bytes);
    let encoded: Vec<u8> = bomb.into_iter().chain(table).collect();
    let result = with_metadata(&inner, &json!([4]), &encoded);
    refused(result, "inner chunk 0: decodes to more than 2 bytes");
    // Inner chunks of another rank.
    let odd = shards(json!([bytes]), json!([2, 1]));
    assert!(with_metadata(&odd, &json!([4]), &shard([0, 2, 2, 2])).is_err());
}

#[test]
fn metadata_that_asks_for_too_much() {
    let codecs = json!([{ "name": "bytes" }, zstd()]);
    for size in [1u64 << 30, 1 << 45, 1 << 62, u64::MAX] {
        let error = with_metadata(&codecs, &json!([size]), &[]).unwrap_err().to_string();
        assert!(error.contains("in.zarr/deep/x"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let long = format!("[{}0]", "0,".repeat(5 << 20));
    fs::write(folder.path().join("zarr.json"), long).unwrap();
    let error = Job::new(&Local::new(folder.path()), &Axes::All.into()).err().unwrap();
    assert!(error.to_string().contains("zarr.json: has more than 4194304 values"), "{error}");
    let file = fs::File::create(folder.path().join("zarr.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = Job::new(&Local::new(folder.path()), &Axes::All.into()).err().unwrap();
    assert!(error.to_string().contains("has 1099511627776 bytes, at most"), "{error}");
}
