//! Masks and tables on a device, beside naive computations. The conformance suite has random calls
//! of all operators; here are the sizes and places at which kernels differ.
//!
//! Without an adapter, every test prints that it was skipped.

use retrograde::{
    Align, DType, Error as CallError, ExecuteError, Layout, Prepared, Reversal, Reverse,
    ReverseSegments, ReverseSequence, Table, Tail,
};
use retrograde_wgpu::{Error, Gpu, GpuLengths, View};
use std::future::Future;

/// Bytes before a tensor: views begin inside a word.
const STARTS: [usize; 3] = [0, 5, 10];
/// Bytes behind it, which must stay.
const GUARD: usize = 9;

/// Runs a test on an adapter, if there is one: with the kernels of small tensors, with those of large
/// ones, and cut into pieces.
fn on_gpus<F: Future<Output = Result<(), Error>>>(test: impl Fn(Gpu) -> F) {
    match pollster::block_on(Gpu::new()) {
        Ok(gpu) => {
            let large = gpu.testing_small().with_words_each(4);
            let pieces = gpu.with_bindings_of(1024);
            for gpu in [gpu, large, pieces] {
                pollster::block_on(test(gpu)).unwrap();
            }
        }
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
}

fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect()
}

/// No byte is its own entry, and entry 0 is not 0.
fn entries() -> [u8; 256] {
    std::array::from_fn(|byte| (byte as u8).wrapping_mul(37).wrapping_add(11))
}

/// Runs a call whose both sides have one layout, out of place and in place, from several places of a
/// buffer; `wanted` makes the result from the tensor's bytes.
async fn agrees(
    gpu: &Gpu,
    what: &str,
    prepared: &Prepared<'_>,
    bytes: usize,
    wanted: impl Fn(&mut [u8]),
) -> Result<(), Error> {
    for start in STARTS {
        let memory = noise(start + bytes + GUARD);
        let mut expected = memory.clone();
        wanted(&mut expected[start..start + bytes]);
        let (src, dst) = (gpu.upload(&memory)?, gpu.upload(&memory)?);
        let view = |buffer| View::new(buffer, start as u64, bytes as u64);
        gpu.run(prepared, view(&src), None, view(&dst))?;
        gpu.run(prepared, view(&src), None, view(&src))?;
        for (buffer, how) in [(&dst, "out of place"), (&src, "in place")] {
            let moved = gpu.download(buffer, 0..memory.len() as u64).await?;
            let at = moved.iter().zip(&expected).position(|(got, want)| got != want);
            assert_eq!(at, None, "{what} from byte {start}, {how}");
        }
    }
    gpu.check().await
}

/// Reverses bytes and looks them up.
fn complement(bytes: &mut [u8]) {
    bytes.reverse();
    look_up(bytes);
}

fn look_up(bytes: &mut [u8]) {
    let entries = entries();
    bytes.iter_mut().for_each(|byte| *byte = entries[usize::from(*byte)]);
}

#[test]
fn flips_are_looked_up_also_what_keeps_its_place() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        // Words are exchanged, rows are dense or share words, everything stays.
        let shapes = [[4, 8, 12], [3, 5, 7], [2, 33, 64], [5, 1, 1], [1, 9, 3], [2, 3, 1001]];
        for shape in shapes {
            let layout = Layout::dense(DType::U8, &shape).unwrap();
            for flips in 0..8usize {
                let has = |axis: usize| flips >> axis & 1 == 1;
                let axes = (0..3).filter(|&axis| has(axis)).map(|axis| axis as i64);
                let prepared = Reverse::axes(axes).table(&table).prepare(&layout, &layout)?;
                let naive = |bytes: &mut [u8]| {
                    let old = bytes.to_vec();
                    let strides = [shape[1] * shape[2], shape[2], 1];
                    for (to, byte) in bytes.iter_mut().enumerate() {
                        let from: usize = (0..3)
                            .map(|axis| {
                                let at = to / strides[axis] % shape[axis];
                                let at = if has(axis) { shape[axis] - 1 - at } else { at };
                                at * strides[axis]
                            })
                            .sum();
                        *byte = old[from];
                    }
                    look_up(bytes);
                };
                let what = format!("{shape:?}, flips {flips:03b}");
                agrees(&gpu, &what, &prepared, layout.byte_len(), naive).await?;
            }
        }
        Ok(())
    });
}

#[test]
fn of_sequences_only_what_is_reversed_is_looked_up() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        for (rows, steps) in [(5, 63), (7, 64), (3, 1), (40, 129), (1, 1000)] {
            let layout = Layout::dense(DType::U8, &[rows, steps]).unwrap();
            let lengths: Vec<u16> = (0..rows).map(|row| (row * 29 % (steps + 1)) as u16).collect();
            let mask: Vec<bool> = (0..rows).map(|row| row % 3 != 1).collect();
            for (align, tail) in [Align::Start, Align::End]
                .into_iter()
                .flat_map(|align| [(align, Tail::Keep), (align, Tail::Zero)])
            {
                let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
                let bound = operator.align(align).tail(tail).lengths(&lengths);
                let masks: &[bool] = if tail == Tail::Zero { &[false] } else { &[false, true] };
                for &masked in masks {
                    let bound = match masked {
                        true => bound.clone().where_(&mask),
                        false => bound.clone(),
                    };
                    let prepared = bound.table(&table).prepare(&layout, &layout)?;
                    let naive = |bytes: &mut [u8]| {
                        for (row, bytes) in bytes.chunks_mut(steps).enumerate() {
                            let moves = !masked || mask[row];
                            let len = if moves { usize::from(lengths[row]) } else { 0 };
                            let (moved, rest) = match align {
                                Align::Start => bytes.split_at_mut(len),
                                Align::End => {
                                    let (rest, moved) = bytes.split_at_mut(steps - len);
                                    (moved, rest)
                                }
                            };
                            complement(moved);
                            if tail == Tail::Zero {
                                rest.fill(0);
                            }
                        }
                    };
                    let what = format!("[{rows}, {steps}], {align:?}, {tail:?}, mask {masked}");
                    agrees(&gpu, &what, &prepared, rows * steps, naive).await?;
                }
            }
        }
        Ok(())
    });
}

/// Columns go through a temporary buffer, and vectors of words are exchanged.
#[test]
fn sequences_along_the_outer_axis_are_looked_up_to_their_lengths() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        for (steps, lanes, unit) in [(64, 128, 1), (33, 36, 1), (20, 7, 1), (9, 5, 3), (9, 5, 8)] {
            let layout = Layout::dense(DType::U8, &[steps, lanes, unit]).unwrap();
            let lengths: Vec<i32> =
                (0..lanes).map(|lane| (lane * 11 % (steps + 1)) as i32).collect();
            let mask: Vec<bool> = (0..lanes).map(|lane| lane % 5 != 2).collect();
            let bound = ReverseSequence::new().lengths(&lengths).where_(&mask);
            let prepared = bound.table(&table).prepare(&layout, &layout)?;
            let naive = |bytes: &mut [u8]| {
                let old = bytes.to_vec();
                for lane in (0..lanes).filter(|&lane| mask[lane]) {
                    let len = lengths[lane] as usize;
                    for step in 0..len {
                        let vector = |step: usize| (step * lanes + lane) * unit;
                        let (to, from) = (vector(step), vector(len - 1 - step));
                        let moved = &mut bytes[to..to + unit];
                        moved.copy_from_slice(&old[from..from + unit]);
                        look_up(moved);
                    }
                }
            };
            let what = format!("[{steps}, {lanes}, {unit}]");
            agrees(&gpu, &what, &prepared, layout.byte_len(), naive).await?;
        }
        Ok(())
    });
}

#[test]
fn segments_follow_their_marks_along_any_axis() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        let offsets = [0u32, 1, 1, 8, 30, 31, 67, 90];
        let mask = [true, true, false, true, false, true, false];
        // Vectors of one byte, of three and of words behind an offset, and rows that are cut.
        for (shape, axis) in [([1, 97, 1], 1), ([1, 97, 3], 1), ([1, 97, 8], 1), ([6, 97, 1], 1)] {
            let layout = Layout::dense(DType::U8, &shape).unwrap();
            let unit = shape[2];
            for (masked, looks_up) in [(true, false), (false, true), (true, true)] {
                let bound = ReverseSegments::along(axis).offsets(&offsets);
                let bound = if masked { bound.where_(&mask) } else { bound };
                let prepared = match looks_up {
                    true => bound.table(&table).prepare(&layout, &layout)?,
                    false => bound.prepare(&layout, &layout)?,
                };
                let naive = |bytes: &mut [u8]| {
                    for row in bytes.chunks_mut(97 * unit) {
                        for (at, ends) in offsets.windows(2).enumerate() {
                            if masked && !mask[at] {
                                continue;
                            }
                            let segment =
                                &mut row[ends[0] as usize * unit..ends[1] as usize * unit];
                            segment.reverse();
                            segment.chunks_mut(unit).for_each(<[u8]>::reverse);
                            if looks_up {
                                look_up(segment);
                            }
                        }
                    }
                };
                let what = format!("{shape:?}, mask {masked}, table {looks_up}");
                agrees(&gpu, &what, &prepared, layout.byte_len(), naive).await?;
            }
        }
        Ok(())
    });
}

/// Marks in the memory of the device are checked there like other offsets.
#[test]
fn marked_offsets_may_be_on_the_device() {
    on_gpus(async |gpu| {
        let layout = Layout::dense(DType::U8, &[8]).unwrap();
        let marked = [1i64, 2 * 3, 2 * 5 + 1, 2 * 8];
        let prepared =
            ReverseSegments::along(0).marked().offsets(&marked).prepare(&layout, &layout)?;
        let memory = gpu.upload(b"abcdefgh")?;
        let view = View::new(&memory, 0, 8);
        let run = async |offsets: [i64; 4]| {
            let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
            let offsets = gpu.upload(&bytes)?;
            let lengths = GpuLengths::from((DType::I64, View::new(&offsets, 0, 32)));
            gpu.run(&prepared, view, Some(lengths), view)?;
            gpu.check().await
        };
        run(marked).await?;
        assert_eq!(gpu.download(&memory, 0..8).await?, b"cbadehgf");
        for (offsets, ordinal, value, low, high) in [
            ([3, 6, 11, 16], 0, 1, 0, 0),
            ([1, 6, 11, 19], 3, 9, 5, 8),
            ([1, 6, 5, 16], 2, 2, 3, 8),
            ([1, -3, 11, 16], 1, -2, 0, 8),
            ([1, 6, 11, i64::MAX], 3, i128::from(i64::MAX / 2), 5, 8),
        ] {
            let error = ExecuteError::OffsetOutOfRange { ordinal, value, low, high };
            assert_eq!(run(offsets).await.unwrap_err(), error.into());
        }
        assert_eq!(gpu.download(&memory, 0..8).await?, b"cbadehgf");
        Ok(())
    });
}

/// An element of a packed tensor, the first one in the low bits.
fn element(bytes: &[u8], bits: usize, at: usize) -> u8 {
    bytes[at * bits / 8] >> (at * bits % 8) & ((1 << bits) - 1)
}

fn set_element(bytes: &mut [u8], bits: usize, at: usize, value: u8) {
    let (byte, shift) = (&mut bytes[at * bits / 8], at * bits % 8);
    *byte = *byte & !(((1 << bits) - 1) << shift) | value << shift;
}

#[test]
fn packed_elements_are_looked_up_one_by_one() {
    on_gpus(async |gpu| {
        let nibbles: [u8; 16] = std::array::from_fn(|at| (at as u8 * 5 + 3) % 16);
        let quarters = [2, 3, 1, 0];
        for (dtype, bits) in [(DType::U4, 4), (DType::U2, 2)] {
            let (table, entries): (_, &[u8]) = match bits {
                4 => (Table::nibbles(&nibbles), &nibbles),
                _ => (Table::quarters(&quarters), &quarters),
            };
            for (rows, steps) in [(1, 64), (1, 33), (3, 7), (5, 31), (4, 128)] {
                let layout = Layout::dense(dtype, &[rows, steps]).unwrap();
                let lengths: Vec<u8> = (0..rows).map(|at| (at * 13 % (steps + 1)) as u8).collect();
                let flip = Reverse::axes([1]).table(&table).prepare(&layout, &layout)?;
                let sequences = ReverseSequence::new().time_axis(1).batch_axis(0);
                let sequences =
                    sequences.lengths(&lengths).table(&table).prepare(&layout, &layout)?;
                let stays = Reverse::axes([]).table(&table).prepare(&layout, &layout)?;
                for (prepared, kind) in [(&flip, 0), (&sequences, 1), (&stays, 2)] {
                    let naive = |bytes: &mut [u8]| {
                        let old = bytes.to_vec();
                        for at in 0..rows * steps {
                            let (row, step) = (at / steps, at % steps);
                            let len = if kind == 1 { usize::from(lengths[row]) } else { steps };
                            let from = if kind == 2 || step >= len { step } else { len - 1 - step };
                            let value = element(&old, bits, row * steps + from);
                            let value =
                                if step < len { entries[usize::from(value)] } else { value };
                            set_element(bytes, bits, at, value);
                        }
                        // The unused bits of the last byte are cleared.
                        for at in rows * steps..bytes.len() * 8 / bits {
                            set_element(bytes, bits, at, 0);
                        }
                    };
                    let what = format!("{dtype} [{rows}, {steps}], call {kind}");
                    agrees(&gpu, &what, prepared, layout.byte_len(), naive).await?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn views_with_gaps_keep_what_is_between_their_elements() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        let (rows, steps, pitch) = (6, 50, 61);
        // Rows with gaps, every second byte, and rows from the last to the first.
        for (strides, offset) in
            [([pitch, 1], 0), ([2 * pitch, 2], 0), ([-pitch, 1], pitch as usize * (rows - 1))]
        {
            let layout = Layout::strided(DType::U8, &[rows, steps], &strides, offset).unwrap();
            let offsets = [0i16, 3, 20, 21, 44];
            let mask = [true, false, true, true];
            let bound = ReverseSegments::along(1).offsets(&offsets).where_(&mask);
            let prepared = bound.table(&table).prepare(&layout, &layout)?;
            let naive = |bytes: &mut [u8]| {
                let at = |row: usize, step: usize| {
                    let by = strides[0] * row as isize + strides[1] * step as isize;
                    (offset as isize + by) as usize
                };
                for row in 0..rows {
                    for (ends, _) in offsets.windows(2).zip(mask).filter(|(_, moves)| *moves) {
                        let steps = ends[0] as usize..ends[1] as usize;
                        let mut segment: Vec<u8> =
                            steps.clone().map(|step| bytes[at(row, step)]).collect();
                        complement(&mut segment);
                        steps.zip(segment).for_each(|(step, byte)| bytes[at(row, step)] = byte);
                    }
                }
            };
            let bytes = layout.byte_len().max(2 * pitch as usize * rows);
            agrees(&gpu, &format!("strides {strides:?}"), &prepared, bytes, naive).await?;
        }
        Ok(())
    });
}

/// From one layout to another: tiles are transposed, and what follows a length keeps its value.
#[test]
fn transposed_inputs_are_looked_up_in_tiles() {
    on_gpus(async |gpu| {
        let table = Table::bytes(&entries());
        let (rows, columns) = (40, 64);
        let output = Layout::dense(DType::U8, &[rows, columns]).unwrap();
        let dense = Layout::dense(DType::U8, &[columns, rows]).unwrap();
        let input = dense.permuted(&[1, 0]).unwrap();
        let lengths: Vec<u8> = (0..columns).map(|at| (at * 7 % (rows + 1)) as u8).collect();
        let flip = Reverse::axes([0]).table(&table).prepare(&input, &output)?;
        let bound = ReverseSequence::new().lengths(&lengths);
        let sequences = bound.table(&table).prepare(&input, &output)?;
        for (prepared, has_lengths) in [(&flip, false), (&sequences, true)] {
            let memory = noise(rows * columns);
            let mut expected = memory.clone();
            for column in 0..columns {
                let len = if has_lengths { usize::from(lengths[column]) } else { rows };
                let mut steps = memory[column * rows..][..rows].to_vec();
                complement(&mut steps[..len]);
                for (row, byte) in steps.into_iter().enumerate() {
                    expected[row * columns + column] = byte;
                }
            }
            let (src, dst) = (gpu.upload(&memory)?, gpu.allocate(memory.len() as u64)?);
            gpu.run(prepared, View::whole(&src), None, View::whole(&dst))?;
            let moved = gpu.download(&dst, 0..memory.len() as u64).await?;
            assert!(moved == expected, "lengths {has_lengths}");
        }
        Ok(())
    });
}

#[test]
fn the_host_s_tensors_are_looked_up_in_pieces() {
    on_gpus(async |gpu| {
        let (table, offsets) = (Table::bytes(&entries()), [0i64, 11, 900, 2000]);
        let layout = Layout::dense(DType::U8, &[2000, 3]).unwrap();
        let bound = ReverseSegments::along(0).offsets(&offsets).where_(&[true, false, true]);
        let prepared = bound.table(&table).prepare(&layout, &layout)?;
        let input = noise(layout.byte_len());
        let (mut wanted, mut output) = (input.clone(), vec![0; input.len()]);
        prepared.run(&input, &mut wanted)?;
        gpu.reverse_in_pieces(&prepared, &input, None, &mut output, 512, |_| ()).await?;
        assert!(output == wanted);
        gpu.reverse(&prepared, &wanted, None, &mut output).await?;
        prepared.run_in_place(&mut wanted)?;
        assert!(output == wanted);
        let bad = prepared.with_lengths(&[2i64, 22, 1800, 4000]).unwrap();
        let error = gpu.reverse(&bad, &input, None, &mut output).await.unwrap_err();
        assert_eq!(error.to_string(), "ReverseSegments: offsets[0] is 1, outside [0, 0]");
        assert!(output == wanted, "nothing is written");
        Ok(())
    });
}

/// A table that does not fit is refused before there is a call, and wrong lengths before it runs.
#[test]
fn wrong_tables_and_lengths_write_nothing() {
    let error = Table::new(&[0; 255]).unwrap_err();
    assert_eq!(error, CallError::TableLength { len: 255 });
    for (dtype, table) in [
        (DType::U16, Table::dna()),
        (DType::U4, Table::dna()),
        (DType::U8, Table::nibbles(&[0; 16])),
        (DType::U4, Table::quarters(&[0; 4])),
    ] {
        let layout = Layout::dense(dtype, &[8]).unwrap();
        let error = Reverse::all().table(&table).prepare(&layout, &layout).unwrap_err();
        assert!(matches!(error, CallError::TableType { .. }), "{error}");
    }
    on_gpus(async |gpu| {
        let layout = Layout::dense(DType::U8, &[2, 4]).unwrap();
        let bound = ReverseSequence::new().time_axis(1).batch_axis(0).lengths(&[3i64, 9]);
        let prepared = bound.table(&Table::dna()).prepare(&layout, &layout)?;
        let (input, output) = (gpu.upload(b"ACGTACGT")?, gpu.upload(b"........")?);
        let (src, dst) = (View::new(&input, 0, 8), View::new(&output, 0, 8));
        for dst in [dst, src] {
            let error = gpu.run(&prepared, src, None, dst).unwrap_err();
            assert_eq!(error.to_string(), "ReverseSequence: lengths[1] is 9, outside [0, 4]");
        }
        let lengths = gpu.upload(&[3i64, 9].map(i64::to_ne_bytes).concat())?;
        let lengths = GpuLengths::from((DType::I64, View::new(&lengths, 0, 16)));
        gpu.run(&prepared, src, Some(lengths), src)?;
        let error = ExecuteError::LengthOutOfRange { ordinal: 1, value: 9, limit: 4 };
        assert_eq!(gpu.check().await.unwrap_err(), error.into());
        assert_eq!(gpu.download(&input, 0..8).await?, b"ACGTACGT");
        assert_eq!(gpu.download(&output, 0..8).await?, b"........");
        Ok(())
    });
}
