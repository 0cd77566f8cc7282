//! The device's face: buffers of the caller's, errors, reports that are read later, pieces. What
//! moves where is the conformance suite's business (`retrograde-wgpu-suite`).
//!
//! Without an adapter, every test prints that it was skipped.

use retrograde::{
    DType, ExecuteError, Layout, LengthsOperator, Plan, Reversal, Reverse, ReverseSegments,
    ReverseSequence,
};
use retrograde_wgpu::{Error, Gpu, GpuLengths, Options, Reports, View, wgpu};
use std::future::Future;

/// Runs a test on an adapter, if there is one.
fn on_gpu<F: Future<Output = Result<(), Error>>>(test: impl FnOnce(Gpu) -> F) {
    match pollster::block_on(Gpu::new()) {
        Ok(gpu) => pollster::block_on(test(gpu)).unwrap(),
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
}

fn flip(dtype: DType, shape: &[usize], axes: &[i64]) -> Plan {
    let layout = Layout::dense(dtype, shape).unwrap();
    Reverse::axes(axes.to_vec()).plan(&layout, &layout).unwrap()
}

/// Rows of bytes with a 32-bit length each.
fn rows(rows: usize, steps: usize) -> Plan {
    let layout = Layout::dense(DType::U8, &[rows, steps]).unwrap();
    let lanes = Layout::dense(DType::I32, &[rows]).unwrap();
    let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
    operator.plan(&layout, &lanes, &layout).unwrap()
}

fn bytes(lengths: &[i32]) -> Vec<u8> {
    lengths.iter().flat_map(|length| length.to_ne_bytes()).collect()
}

#[test]
fn views_may_begin_at_any_byte_and_neighbours_are_kept() {
    on_gpu(async |gpu| {
        let input = gpu.upload(b"..abcdefg.......")?;
        let output = gpu.upload(b"################")?;
        let plan = flip(DType::U8, &[7], &[0]);
        gpu.run(&plan, View::new(&input, 2, 7), None, View::new(&output, 5, 7))?;
        assert_eq!(gpu.download(&output, 0..16).await?, b"#####gfedcba####");
        let same = View::new(&output, 5, 7);
        gpu.run(&plan, same, None, same)?;
        assert_eq!(gpu.download(&output, 3..14).await?, b"##abcdefg##");
        // Another part of the same buffer.
        gpu.run(&plan, View::new(&output, 5, 7), None, View::new(&output, 12, 4)).unwrap_err();
        let plan = flip(DType::U8, &[4], &[0]);
        gpu.run(&plan, View::new(&output, 5, 4), None, View::new(&output, 10, 4))?;
        assert_eq!(gpu.download(&output, 0..16).await?, b"#####abcdedcba##");
        Ok(())
    });
}

#[test]
fn what_the_host_can_see_is_refused_before_anything_is_submitted() {
    on_gpu(async |gpu| {
        let buffer = gpu.upload(&[7; 64])?;
        let plan = flip(DType::F32, &[8], &[0]);
        let at = |start, len| View::new(&buffer, start, len);
        let run = |src, dst| gpu.run(&plan, src, None, dst).unwrap_err();
        let outside = Error::OutsideBuffer { view: "input", start: 40, end: 72, size: 64 };
        assert_eq!(run(at(40, 32), at(0, 32)), outside);
        let end = u64::MAX;
        let outside = Error::OutsideBuffer { view: "output", start: 8, end, size: 64 };
        assert_eq!(run(at(0, 32), at(8, u64::MAX)), outside);
        assert_eq!(run(at(0, 32), at(16, 32)), ExecuteError::Overlap.into());
        let small = ExecuteError::BufferTooSmall { buffer: "input", needed: 32, available: 31 };
        assert_eq!(run(at(0, 31), at(32, 32)), small.into());
        let missing = ExecuteError::LengthsMissing;
        let rows = rows(2, 4);
        let same = at(0, 8);
        assert_eq!(gpu.run(&rows, same, None, same).unwrap_err(), missing.into());
        let given = GpuLengths::from((DType::I32, at(4, 8)));
        let over = ExecuteError::LengthsOverlap;
        assert_eq!(gpu.run(&rows, same, Some(given), same).unwrap_err(), over.into());
        let copies = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 64,
            usage: wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let error = run(View::whole(&copies), at(0, 32));
        let text = "the input buffer needs the usage BufferUsages(STORAGE); it was created with \
                    BufferUsages(COPY_DST)";
        assert_eq!(error.to_string(), text);
        assert_eq!(gpu.download(&buffer, 0..64).await?, [7; 64]);
        gpu.check().await
    });
}

#[test]
fn an_invalid_length_on_the_device_stops_its_call_and_is_reported_later() {
    on_gpu(async |gpu| {
        let memory = gpu.upload(b"abcdefgh")?;
        let view = View::new(&memory, 0, 8);
        let plan = rows(2, 4);
        let (bad, good) = (gpu.upload(&bytes(&[3, 5]))?, gpu.upload(&bytes(&[3, 4]))?);
        let run = |lengths: &wgpu::Buffer| {
            gpu.run(&plan, view, Some((DType::I32, View::whole(lengths)).into()), view)
        };
        // Buffers have at least 16 bytes; the plan reads what it needs.
        run(&bad)?;
        run(&good)?;
        assert_eq!(gpu.download(&memory, 0..8).await?, b"cbadhgfe");
        let error = ExecuteError::LengthOutOfRange { ordinal: 1, value: 5, limit: 4 };
        assert_eq!(gpu.check().await.unwrap_err(), error.into());
        gpu.check().await?;
        // On the host, they are checked at once.
        let lengths = [-1i32, 0];
        let host = Some(GpuLengths::Host((&lengths).into()));
        let error = ExecuteError::LengthOutOfRange { ordinal: 0, value: -1, limit: 4 };
        assert_eq!(gpu.run(&plan, view, host, view).unwrap_err(), error.into());
        Ok(())
    });
}

#[test]
fn each_call_may_have_its_own_report() {
    on_gpu(async |gpu| {
        let layout = Layout::dense(DType::F32, &[6]).unwrap();
        let offsets = Layout::dense(DType::I32, &[3]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &offsets, &layout).unwrap();
        let memory = gpu.upload(&bytes(&[0, 1, 2, 3, 4, 5]))?;
        let given = [[0, 2, 6], [1, 2, 6], [0, 4, 3], [0, 2, 7], [0, 6, 6]];
        let reports = Reports::new(&gpu, given.len());
        let lengths: Result<Vec<_>, _> =
            given.iter().map(|offsets| gpu.upload(&bytes(offsets))).collect();
        for (at, lengths) in lengths?.iter().enumerate() {
            let view = View::new(lengths, 0, 12);
            let gpu = gpu.reporting_to(&reports, at);
            let memory = View::new(&memory, 0, 24);
            gpu.run(&plan, memory, Some((DType::I32, view).into()), memory)?;
        }
        let bad = |ordinal, value, low, high| {
            Some(ExecuteError::OffsetOutOfRange { ordinal, value, low, high })
        };
        let expected = [None, bad(0, 1, 0, 0), bad(2, 3, 4, 6), bad(2, 7, 2, 6), None];
        assert_eq!(gpu.read(&reports).await?, expected);
        assert_eq!(gpu.read(&reports).await?, [const { None }; 5]);
        // Two segments reversed, then the whole.
        assert_eq!(gpu.download(&memory, 0..24).await?, bytes(&[2, 3, 4, 5, 0, 1]));
        Ok(())
    });
}

#[test]
fn a_prepared_call_names_its_operator() {
    on_gpu(async |gpu| {
        let layout = Layout::dense(DType::U8, &[2, 4]).unwrap();
        let lengths = [3i64, 9];
        let operator = ReverseSequence::new().time_axis(1).batch_axis(0).lengths(&lengths);
        let prepared = operator.prepare(&layout, &layout)?;
        let (src, dst) = (gpu.upload(b"abcdefgh")?, gpu.allocate(8)?);
        let error = gpu.run(&prepared, (&src).into(), None, (&dst).into()).unwrap_err();
        assert_eq!(error.to_string(), "ReverseSequence: lengths[1] is 9, outside [0, 4]");
        Ok(())
    });
}

#[test]
fn the_host_s_tensors_go_through_in_pieces_and_gaps_are_kept() {
    on_gpu(async |gpu| {
        let layout = Layout::strided(DType::U16, &[40, 30], &[37, 1], 0).unwrap();
        let plan = Reverse::axes([0, 1]).plan(&layout, &layout).unwrap();
        let input: Vec<u8> = (0..layout.byte_len()).map(|i| (i * 7) as u8).collect();
        let mut wanted = vec![0xAA; input.len()];
        Reverse::axes([0, 1]).prepare(&layout, &layout)?.run(&input, &mut wanted)?;
        let mut output = vec![0xAA; input.len()];
        let mut told = 0;
        gpu.reverse_in_pieces(&plan, &input, None, &mut output, 256, |_| told += 1).await?;
        assert!(output == wanted);
        assert!(told > 4, "{told} pieces");
        Ok(())
    });
}

#[test]
fn an_invocation_may_take_one_word_or_four() {
    on_gpu(async |gpu| {
        let input: Vec<u8> = (0..12_345usize).map(|i| (i * 13 / 7) as u8).collect();
        let src = gpu.upload(&input)?;
        for words in [1, 4] {
            let gpu = gpu.with_words_each(words);
            for (dtype, len) in [(DType::U8, 12_345), (DType::F32, 3_086), (DType::Bytes(3), 4_115)]
            {
                let plan = flip(dtype, &[len], &[0]);
                let dst = gpu.upload(&input)?;
                gpu.run(&plan, View::whole(&src), None, View::whole(&dst))?;
                let mut wanted = input.clone();
                let layout = Layout::dense(dtype, &[len]).unwrap();
                let used = &mut wanted[..layout.byte_len()];
                used.reverse();
                let width = layout.byte_len() / len;
                used.chunks_mut(width).for_each(<[u8]>::reverse);
                assert!(gpu.download(&dst, 0..12_345).await? == wanted, "{dtype}, {words} words");
                gpu.run(&plan, (&dst).into(), None, (&dst).into())?;
                assert!(gpu.download(&dst, 0..12_345).await? == input, "{dtype}, {words} words");
            }
        }
        Ok(())
    });
}

/// Rows that share words, over several workgroups, at any byte, with guards on both sides.
#[test]
fn dense_rows_of_any_length_are_gathered_and_swapped() {
    const GUARD: usize = 8;
    on_gpu(async |gpu| {
        let units = [(DType::U8, 1), (DType::U16, 2), (DType::Bytes(3), 3), (DType::F32, 4)];
        for (case, steps) in [1usize, 4, 5, 21, 63, 64, 1000, 5000].into_iter().enumerate() {
            let (dtype, unit) = units[case % units.len()];
            let (start, count) = (GUARD + case % 4, 9_000 / (steps * unit) + 2);
            let row = steps * unit;
            let memory: Vec<u8> =
                (0..start + count * row + GUARD).map(|i| (i * 29 / 11) as u8).collect();
            let lengths: Vec<i32> = (0..count).map(|i| (i * 7 % (steps + 1)) as i32).collect();
            let mut wanted = memory.clone();
            for (row, &length) in wanted[start..].chunks_exact_mut(row).zip(&lengths) {
                let reversed = &mut row[..length as usize * unit];
                reversed.reverse();
                reversed.chunks_mut(unit).for_each(<[u8]>::reverse);
            }
            let layout = Layout::dense(dtype, &[count, steps]).unwrap();
            let lanes = Layout::dense(DType::I32, &[count]).unwrap();
            let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
            let plan = operator.plan(&layout, &lanes, &layout).unwrap();
            let lengths = gpu.upload(&bytes(&lengths))?;
            let given = || Some((DType::I32, View::new(&lengths, 0, count as u64 * 4)).into());
            for words in [1, 4] {
                let gpu = gpu.with_words_each(words);
                let (src, dst) = (gpu.upload(&memory)?, gpu.upload(&memory)?);
                let view = |buffer| View::new(buffer, start as u64, (count * row) as u64);
                gpu.run(&plan, view(&src), given(), view(&dst))?;
                gpu.run(&plan, view(&src), given(), view(&src))?;
                for (buffer, how) in [(&dst, "out of place"), (&src, "in place")] {
                    let moved = gpu.download(buffer, 0..memory.len() as u64).await?;
                    assert!(moved == wanted, "{dtype} [{count},{steps}], {words} words, {how}");
                }
            }
        }
        gpu.check().await
    });
}

/// The limits that every WebGPU device has: 128 MiB a binding.
#[test]
#[ignore = "takes half a minute and 600 MiB"]
fn tensors_larger_than_a_binding_run_in_pieces() {
    let options = Options { default_limits: true, ..Options::default() };
    let gpu = match pollster::block_on(Gpu::open(options)) {
        Ok(gpu) => gpu,
        Err(error) => return eprintln!("SKIPPED: {error}"),
    };
    let len = (128 << 20) + 12_345;
    let plan = flip(DType::U8, &[len], &[0]);
    let input: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    let (src, dst) = (gpu.upload(&input).unwrap(), gpu.allocate(len as u64).unwrap());
    let bound = gpu.bind(&plan, View::whole(&src), None, View::whole(&dst)).unwrap();
    assert!(bound.len() > 1);
    gpu.submit(&bound);
    let got = pollster::block_on(gpu.download(&dst, 0..len as u64)).unwrap();
    assert!(got.iter().eq(input.iter().rev()));
    gpu.run(&plan, (&dst).into(), None, (&dst).into()).unwrap();
    assert!(pollster::block_on(gpu.download(&dst, 0..len as u64)).unwrap() == input);
}
