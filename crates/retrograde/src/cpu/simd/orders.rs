//! Orders of the bytes in a register, for the instruction sets that look bytes up in a table.

/// For every width of a unit up to 16 bytes: which byte comes where when the last whole units of a
/// register reverse their order.
pub(in crate::cpu) const fn reversed<const BYTES: usize>() -> [[u8; BYTES]; 17] {
    let mut orders = [[0; BYTES]; 17];
    let mut width = 1;
    while width <= 16 {
        let mut byte = 0;
        while byte < BYTES / width * width {
            let (unit, within) = (byte / width, byte % width);
            orders[width][byte] = (BYTES - (unit + 1) * width + within) as u8;
            byte += 1;
        }
        width += 1;
    }
    orders
}

/// The identity, and the order with units of `W` bytes reversed.
pub(in crate::cpu) const fn either<const W: usize>() -> [[u8; 16]; 2] {
    let mut orders = [[0; 16], reversed::<16>()[W]];
    let mut byte = 0;
    while byte < 16 {
        orders[0][byte] = byte as u8;
        byte += 1;
    }
    orders
}

/// Every byte of a register of 16 in its own place.
#[cfg(target_arch = "x86_64")]
pub(in crate::cpu) const OWN: [u8; 16] = either::<1>()[0];

/// For every byte of a register of `BYTES`, which 16 bytes it belongs to.
#[cfg(target_arch = "x86_64")]
pub(in crate::cpu) const fn sixteens<const BYTES: usize>() -> [u8; BYTES] {
    let mut sixteens = [0; BYTES];
    let mut byte = 0;
    while byte < BYTES {
        sixteens[byte] = (byte / 16) as u8;
        byte += 1;
    }
    sixteens
}

/// For every number of units of `W` bytes at the start of a register of `BYTES`, and `COUNT` is one
/// more than that: which byte comes where when they reverse their order. Bytes behind them have a
/// number, `0xFF`, that stands for no byte.
pub(in crate::cpu) const fn prefixes<const W: usize, const BYTES: usize, const COUNT: usize>()
-> [[u8; BYTES]; COUNT] {
    assert!(COUNT == BYTES + 1);
    let mut orders = [[0xFF; BYTES]; COUNT];
    let mut prefix_len = 0;
    while prefix_len <= BYTES / W {
        let mut byte = 0;
        while byte < prefix_len * W {
            orders[prefix_len][byte] = ((prefix_len - 1 - byte / W) * W + byte % W) as u8;
            byte += 1;
        }
        prefix_len += 1;
    }
    orders
}

/// For every byte of a register of 16, the first byte of its unit of `W` bytes, and its place in that.
pub(in crate::cpu) const fn places<const W: usize>() -> [[u8; 16]; 2] {
    let mut places = [[0; 16]; 2];
    let mut byte = 0;
    while byte < 16 {
        places[0][byte] = (byte / W * W) as u8;
        places[1][byte] = (byte % W) as u8;
        byte += 1;
    }
    places
}
