//! The backward half of a bidirectional layer on a padded batch, with a gradient.
//!
//!     cargo run --example bidirectional
//!
//! Each sequence is reversed within its own length, so that a scan over time starts at its last
//! step and not in its padding. The scan here is a running sum.

use candle_core::{Device, Result, Tensor, Var};
use retrograde_candle::{flip, reverse_sequence};

fn main() -> Result<()> {
    let x = [[1f32, 2., 3., 4.], [5., 6., 0., 0.], [7., 8., 9., 0.]];
    let x = Var::from_tensor(&Tensor::new(&x, &Device::Cpu)?)?;
    let lengths = Tensor::new(&[4u32, 2, 3], &Device::Cpu)?;

    println!("x\n{}", x.as_tensor());
    println!("flipped along time\n{}", flip(&x, &[1])?);
    let reversed = reverse_sequence(&x, &lengths, 1, 0)?;
    println!("each sequence reversed\n{reversed}");
    let backward = reverse_sequence(&reversed.cumsum(1)?, &lengths, 1, 0)?;
    println!("sums from the end of each sequence\n{backward}");

    // The gradient of the first step's sum is 1 in the whole sequence, and 0 in its padding.
    let gradients = backward.narrow(1, 0, 1)?.sum_all()?.backward()?;
    println!("gradient\n{}", gradients.get(&x).expect("x is a variable"));
    Ok(())
}
