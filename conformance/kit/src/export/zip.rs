//! A zip archive without compression, as `.npz` files are.

/// An archive under construction.
#[derive(Debug, Default)]
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

/// 1 January 1980, the first day of the format: archives do not depend on when they are written.
const DAY: u16 = 1 << 5 | 1;

impl Zip {
    /// Adds a file. `None` if the archive would be too large for the format without extensions.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Option<()> {
        let offset = u32::try_from(self.bytes.len()).ok()?;
        let size = u32::try_from(content.len()).ok()?;
        let length = u16::try_from(name.len()).ok()?;
        let mut common = Vec::new();
        // Version 2.0; names are UTF-8; stored.
        for word in [20u16, 1 << 11, 0, 0, DAY] {
            common.extend(word.to_le_bytes());
        }
        for word in [crc(content), size, size] {
            common.extend(word.to_le_bytes());
        }
        common.extend(length.to_le_bytes());
        // No extra field.
        common.extend([0; 2]);
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(content);
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&common);
        // No comment, first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count = self.count.checked_add(1)?;
        Some(())
    }

    /// The archive; `None` as for [`add`](Self::add).
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        let size = u32::try_from(self.directory.len()).ok()?;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        for _ in 0..2 {
            self.bytes.extend(self.count.to_le_bytes());
        }
        for word in [size, start] {
            self.bytes.extend(word.to_le_bytes());
        }
        self.bytes.extend([0; 2]);
        Some(self.bytes)
    }
}

/// The CRC-32 of zip.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
    }
}
