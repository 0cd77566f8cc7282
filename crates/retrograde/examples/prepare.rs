//! A prepared call: checked and planned once, run on frame after frame.

use retrograde::{DType, Error, Layout, Reversal, Reverse};

fn main() -> Result<(), Error> {
    let frame = Layout::dense(DType::U8, &[1, 4, 3])?;
    let mirror = Reverse::axes([1]).prepare(&frame, &frame)?;
    let mut mirrored = [0; 12];
    for pixels in [b"RGBCMYrgbcmy", b"...___rgbRGB"] {
        mirror.run(pixels, &mut mirrored)?;
        println!("{}", mirrored.escape_ascii());
    }
    Ok(())
}
