//! Numbers of JavaScript as integers. All of them are floats there, so each is checked.

/// Integers up to here are exact in JavaScript (`Number.MAX_SAFE_INTEGER`).
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The sizes of a shape.
pub(crate) fn sizes(operator: &str, shape: &[f64]) -> Result<Vec<usize>, String> {
    let size = |(axis, &size): (usize, &f64)| {
        if !(0.0..=LARGEST).contains(&size) || size.fract() != 0.0 {
            let range = format!("outside the integers in [0, {LARGEST}]");
            return Err(format!("{operator}: shape[{axis}] is {size}, {range}"));
        }
        // What a 32-bit memory cannot hold saturates, and is then refused with its shape.
        Ok(size as usize)
    };
    shape.iter().enumerate().map(size).collect()
}

/// An axis, which the operator compares with the rank. `argument` is its name for errors.
pub(crate) fn axis(operator: &str, argument: &str, value: f64) -> Result<i64, String> {
    if !(-LARGEST..=LARGEST).contains(&value) || value.fract() != 0.0 {
        return Err(format!("{operator}: {argument} is {value}, not an integer"));
    }
    Ok(value as i64)
}

/// A list of axes.
pub(crate) fn axes(operator: &str, values: &[f64]) -> Result<Vec<i64>, String> {
    let one = |(at, &value)| axis(operator, &format!("axes[{at}]"), value);
    values.iter().enumerate().map(one).collect()
}
