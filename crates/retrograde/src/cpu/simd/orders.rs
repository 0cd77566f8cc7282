//! Orders of bytes in a register of 16, for the instruction sets that look bytes up in a table.

/// Which byte comes where when the last whole units of `W` bytes, which end at the end of the
/// register, reverse their order.
pub(in crate::cpu) const fn reversed<const W: usize>() -> [u8; 16] {
    let mut order = [0; 16];
    let mut byte = 0;
    while byte < 16 / W * W {
        let (unit, within) = (byte / W, byte % W);
        order[byte] = (16 - (unit + 1) * W + within) as u8;
        byte += 1;
    }
    order
}

/// The identity, and the order with units of `W` bytes reversed.
pub(in crate::cpu) const fn either<const W: usize>() -> [[u8; 16]; 2] {
    let mut orders = [[0; 16], reversed::<W>()];
    let mut byte = 0;
    while byte < 16 {
        orders[0][byte] = byte as u8;
        byte += 1;
    }
    orders
}
