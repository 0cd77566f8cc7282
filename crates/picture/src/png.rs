//! PNG images as URLs, without compression: they are small.

/// An image of red, green, blue and opacity as a `data:` URL.
pub(crate) fn url(width: usize, height: usize, pixels: &[[u8; 4]]) -> String {
    format!("data:image/png;base64,{}", base64(&encoded(width, height, pixels)))
}

fn encoded(width: usize, height: usize, pixels: &[[u8; 4]]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(height * (1 + 4 * width));
    for row in pixels.chunks(width.max(1)) {
        // Rows are not filtered.
        rows.push(0);
        rows.extend(row.as_flattened());
    }
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits, with opacity; the usual compression and filters; not interlaced.
    header.extend([8, 6, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &stored(&rows));
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(content);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// A zlib stream of blocks that are stored as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(len.to_le_bytes());
        stream.extend((!len).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1, 0);
    for &byte in bytes {
        low = (low + u32::from(byte)) % 65521;
        high = (high + low) % 65521;
    }
    high << 16 | low
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = !0;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number =
            (0..3).fold(0, |all, at| all << 8 | group.get(at).map_or(0, |&b| u32::from(b)));
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn base64_has_its_padding() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn an_image_is_what_decoders_expect() {
        let file = encoded(2, 1, &[[1, 2, 3, 255], [4, 5, 6, 0]]);
        assert!(
            file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x01\x08\x06\0\0\0")
        );
        let rows = [0, 1, 2, 3, 255, 4, 5, 6, 0];
        let block =
            [&[0x78, 1, 1, 9, 0, !9, 0xff][..], &rows, &adler32(&rows).to_be_bytes()].concat();
        assert!(file.windows(block.len()).any(|part| part == block));
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
