//! The compiled kernels, embedded: machine code for known chips, PTX for newer ones.
//!
//! `scripts/build kernels` builds them; `tests/built.rs` detects stale ones.

use lzma_rust2::XzReader;
use std::io::Read;

/// Compiled kernels for one generation of chips.
struct Image {
    /// The compute capability that it is compiled for.
    capability: (u32, u32),
    /// Whether it is machine code, which also runs on chips of the same major and a higher minor
    /// version. Otherwise it is PTX, which the driver compiles for any later chip.
    native: bool,
    packed: &'static [u8],
}

macro_rules! image {
    ($capability:expr, $native:expr, $file:literal) => {
        Image {
            capability: $capability,
            native: $native,
            packed: include_bytes!(concat!("../kernels/built/", $file, ".xz")),
        }
    };
}

const IMAGES: [Image; 6] = [
    image!((12, 0), true, "sm_120.cubin"),
    image!((10, 0), true, "sm_100.cubin"),
    image!((9, 0), true, "sm_90.cubin"),
    image!((8, 0), true, "sm_80.cubin"),
    image!((7, 5), true, "sm_75.cubin"),
    image!((7, 5), false, "compute_75.ptx"),
];

/// The images that a chip of this compute capability can load, best first.
fn candidates(major: u32, minor: u32) -> impl Iterator<Item = &'static Image> {
    IMAGES.iter().filter(move |image| match image.native {
        true => image.capability.0 == major && image.capability.1 <= minor,
        false => image.capability <= (major, minor),
    })
}

/// The images for a chip, decompressed, best first; only PTX unless `native`. PTX is
/// NUL-terminated, as the driver expects.
pub(crate) fn images(major: u32, minor: u32, native: bool) -> impl Iterator<Item = Vec<u8>> {
    candidates(major, minor).filter(move |image| native || !image.native).map(|image| {
        let mut bytes = Vec::new();
        XzReader::new(image.packed, false)
            .read_to_end(&mut bytes)
            .expect("tests/built.rs unpacks every embedded file");
        bytes.push(0);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(major: u32, minor: u32) -> Vec<((u32, u32), bool)> {
        candidates(major, minor).map(|image| (image.capability, image.native)).collect()
    }

    #[test]
    fn machine_code_serves_its_own_generation_and_ptx_the_rest() {
        let ptx = ((7, 5), false);
        assert_eq!(picked(9, 0), [((9, 0), true), ptx]);
        assert_eq!(picked(8, 9), [((8, 0), true), ptx]);
        assert_eq!(picked(12, 1), [((12, 0), true), ptx]);
        assert_eq!(picked(11, 0), [ptx]);
        assert_eq!(picked(7, 0), []);
    }

    #[test]
    fn every_image_unpacks() {
        for (major, minor) in [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)] {
            for image in images(major, minor, true) {
                assert!(image.starts_with(b"\x7fELF") || image.starts_with(b"//"));
            }
        }
    }
}
