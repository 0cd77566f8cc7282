//! Models with ReverseSequence: loaded from bytes, typed, optimised and run.

mod model;

use model::*;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::ndarray::Array;
use tract_onnx::tract_hir::internal::{Datum, Op, TDim};

const BATCH: &[(&str, i64)] = &[("batch_axis", 0), ("time_axis", 1)];

/// One node on `x`, with the lengths as a second input or as a constant.
fn one(of: DataType, shape: &[Size], lengths: Option<&[i64]>, axes: &[(&str, i64)]) -> Vec<u8> {
    let mut inputs = vec![value("x", of, shape)];
    let mut constants = vec![];
    match lengths {
        Some(values) => constants.push(integers("lengths", &[values.len()], values)),
        None => inputs.push(value("lengths", DataType::Int64, &[Size::Named("L")])),
    }
    let node = node("y", "ReverseSequence", &["x", "lengths"], axes);
    model(inputs, constants, vec![node], &["y"])
}

fn floats(shape: &[usize]) -> Tensor {
    let count = shape.iter().product::<usize>();
    let values = (0..count).map(|at| at as f32).collect();
    Array::from_shape_vec(shape, values).unwrap().into()
}

/// The two examples of the operator's specification.
#[test]
fn official_examples() -> TractResult<()> {
    let x = Tensor::from_shape(&[4, 4], &(0..16).map(|at| at as f32).collect::<Vec<_>>())?;
    let by_batch = [0., 1., 2., 3., 5., 4., 6., 7., 10., 9., 8., 11., 15., 14., 13., 12.];
    let expected = Tensor::from_shape::<f32>(&[4, 4], &by_batch)?;
    let lengths = tensor1(&[1i64, 2, 3, 4]);
    let computed = one(DataType::Float, &sizes(&[4, 4]), None, BATCH);
    assert_eq!(*run(&computed, &[x.clone(), lengths])?[0], expected);
    let constant = one(DataType::Float, &sizes(&[4, 4]), Some(&[1, 2, 3, 4]), BATCH);
    assert_eq!(*run(&constant, &[x])?[0], expected);

    let columns = [0., 4., 8., 12., 1., 5., 9., 13., 2., 6., 10., 14., 3., 7., 11., 15.];
    let x = Tensor::from_shape::<f32>(&[4, 4], &columns)?;
    let by_time = [3., 6., 9., 12., 2., 5., 8., 13., 1., 4., 10., 14., 0., 7., 11., 15.];
    let expected = Tensor::from_shape::<f32>(&[4, 4], &by_time)?;
    let lengths = tensor1(&[4i64, 3, 2, 1]);
    let explicit = &[("time_axis", 0), ("batch_axis", 1)];
    for axes in [explicit, &[][..]] {
        let computed = one(DataType::Float, &sizes(&[4, 4]), None, axes);
        assert_eq!(*run(&computed, &[x.clone(), lengths.clone()])?[0], expected);
    }
    Ok(())
}

/// What this crate is for.
#[test]
fn without_registering_the_model_does_not_run() {
    let bytes = one(DataType::Float, &sizes(&[4, 4]), Some(&[1, 2, 3, 4]), BATCH);
    let typed = tract_onnx::onnx().model_for_read(&mut &bytes[..]).and_then(|m| m.into_typed());
    assert!(text(typed.unwrap_err()).contains("ReverseSequence"));
    assert!(load(&bytes).and_then(|model| model.into_typed()).is_ok());
}

/// Random tensors, against an index that tract's own GatherElements follows.
#[test]
fn agrees_with_gather() -> TractResult<()> {
    let mut state = 5u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound
    };
    for round in 0..40 {
        let rank = 2 + below(3);
        let shape: Vec<usize> = (0..rank).map(|_| 1 + below(6)).collect();
        let (time, batch) = if round % 2 == 0 { (0, 1) } else { (1, 0) };
        let lengths: Vec<i64> = (0..shape[batch]).map(|_| below(shape[time] + 1) as i64).collect();
        let coordinate =
            |at: usize, axis: usize| at / shape[axis + 1..].iter().product::<usize>() % shape[axis];
        let index = (0..shape.iter().product()).map(|at| {
            let (step, length) = (coordinate(at, time) as i64, lengths[coordinate(at, batch)]);
            if step < length { length - 1 - step } else { step }
        });
        let index = integers("index", &shape, &index.collect::<Vec<_>>());
        let axes = [("time_axis", time as i64), ("batch_axis", batch as i64)];
        let nodes = vec![
            node("y", "ReverseSequence", &["x", "lengths"], &axes),
            node("z", "GatherElements", &["x", "index"], &[("axis", time as i64)]),
        ];
        let inputs = vec![
            value("x", DataType::Float, &sizes(&shape)),
            value("lengths", DataType::Int64, &sizes(&[shape[batch]])),
        ];
        let bytes = model(inputs, vec![index], nodes, &["y", "z"]);
        let outputs = run(&bytes, &[floats(&shape), tensor1(&lengths)])?;
        assert_eq!(outputs[0], outputs[1], "{shape:?} {lengths:?}");
    }
    Ok(())
}

/// The backward half of a bidirectional layer: reversed, scanned over time, and reversed again.
#[test]
fn backward_scan() -> TractResult<()> {
    let nodes = vec![
        node("reversed", "ReverseSequence", &["x", "lengths"], BATCH),
        node("scanned", "CumSum", &["reversed", "one"], &[]),
        node("y", "ReverseSequence", &["scanned", "lengths"], BATCH),
    ];
    let mut one = integers("one", &[], &[1]);
    one.dims.clear();
    let inputs = vec![
        value("x", DataType::Float, &[Size::Named("N"), Size::Is(4)]),
        value("lengths", DataType::Int64, &[Size::Named("N")]),
    ];
    let bytes = model(inputs, vec![one], nodes, &["y"]);
    let x = tensor2(&[[1f32, 2., 3., 4.], [5., 6., 0., 0.]]);
    // The padding behind the second sequence continues its sum.
    let expected = tensor2(&[[10f32, 9., 7., 4.], [11., 6., 11., 11.]]);
    assert_eq!(*run(&bytes, &[x, tensor1(&[4i64, 2])])?[0], expected);
    Ok(())
}

#[test]
fn symbolic_dimensions() -> TractResult<()> {
    let shape = [Size::Named("N"), Size::Named("T"), Size::Is(2)];
    let bytes = one(DataType::Float, &shape, None, BATCH);
    let typed = load(&bytes)?.into_optimized()?;
    let fact = typed.output_fact(0)?;
    assert_eq!(format!("{:?}", fact.shape), "N,T,2");
    let runnable = typed.into_runnable()?;
    for (batch, time) in [(1, 1), (3, 5), (2, 4)] {
        let x = floats(&[batch, time, 2]);
        let full = vec![time as i64; batch];
        let outputs = runnable.run(tvec!(x.clone().into(), tensor1(&full).into()))?;
        let x = x.to_plain_array_view::<f32>()?;
        let y = outputs[0].to_plain_array_view::<f32>()?;
        for (at, y) in y.indexed_iter() {
            assert_eq!(*y, x[[at[0], time - 1 - at[1], at[2]]]);
        }
    }
    Ok(())
}

/// Exporters give the batch and the lengths a symbol each. Sizes are compared in each run.
#[test]
fn symbols_may_differ() -> TractResult<()> {
    let shape = [Size::Named("N"), Size::Is(3)];
    let runnable = load(&one(DataType::Float, &shape, None, BATCH))?.into_optimized()?;
    let runnable = runnable.into_runnable()?;
    let run =
        |lengths: &[i64]| runnable.run(tvec!(floats(&[2, 3]).into(), tensor1(lengths).into()));
    assert_eq!(*run(&[3, 2])?[0], tensor2(&[[2f32, 1., 0.], [4., 3., 5.]]));
    let error = text(run(&[3, 2, 1]).unwrap_err());
    assert!(error.contains("ReverseSequence: "), "{error}");
    Ok(())
}

fn moves<T: Datum + Copy + PartialEq>(of: DataType, values: [T; 6]) -> TractResult<()> {
    let [a, b, c, d, e, f] = values;
    let bytes = one(of, &sizes(&[2, 3]), Some(&[3, 2]), BATCH);
    let y = run(&bytes, &[Tensor::from_shape(&[2, 3], &values)?])?;
    assert_eq!(*y[0], Tensor::from_shape(&[2, 3], &[c, b, a, e, d, f])?, "{of:?}");
    Ok(())
}

#[test]
fn every_type_that_tract_loads() -> TractResult<()> {
    moves(DataType::Bool, [true, true, false, false, true, true])?;
    moves(DataType::Uint8, [1u8, 2, 3, 4, 5, 6])?;
    moves(DataType::Uint16, [1u16, 2, 3, 4, 5, 6])?;
    moves(DataType::Uint32, [1u32, 2, 3, 4, 5, 6])?;
    moves(DataType::Uint64, [1u64, 2, 3, 4, 5, 6])?;
    moves(DataType::Int8, [1i8, 2, 3, 4, 5, 6])?;
    moves(DataType::Int16, [1i16, 2, 3, 4, 5, 6])?;
    moves(DataType::Int32, [1i32, 2, 3, 4, 5, 6])?;
    moves(DataType::Int64, [1i64, 2, 3, 4, 5, 6])?;
    moves(DataType::Float16, [1f32, 2., 3., 4., 5., 6.].map(f16::from_f32))?;
    moves(DataType::Float, [1f32, 2., 3., 4., 5., 6.])?;
    moves(DataType::Double, [1f64, 2., 3., 4., 5., 6.])
}

#[test]
fn strings_and_dimensions() -> TractResult<()> {
    let text = |words: [&str; 4]| -> Tensor {
        Array::from_shape_vec([2, 2], words.map(String::from).to_vec()).unwrap().into()
    };
    let bytes = one(DataType::String, &sizes(&[2, 2]), Some(&[2, 1]), BATCH);
    let y = run(&bytes, &[text(["to", "be", "or", "not"])])?;
    assert_eq!(*y[0], text(["be", "to", "or", "not"]));

    let dims = |dims: [i64; 4]| -> Tensor {
        Array::from_shape_vec([2, 2], dims.map(TDim::from).to_vec()).unwrap().into()
    };
    let mut typed = TypedModel::default();
    let x = typed.add_source("x", TDim::datum_type().fact([2, 2]))?;
    let lengths = typed.add_const("lengths", tensor1(&[2i32, 1]))?;
    let operator = retrograde_tract::ReverseSequence::new(1, 0);
    assert_eq!(operator.info()?, ["time axis 1, batch axis 0"]);
    let y = typed.wire_node("y", operator, &[x, lengths])?;
    typed.select_output_outlets(&y)?;
    let y = typed.into_runnable()?.run(tvec!(dims([1, 2, 3, 4]).into()))?;
    assert_eq!(*y[0], dims([2, 1, 3, 4]));
    Ok(())
}

/// The input of a caller is left alone; a temporary value is reversed in place.
#[test]
fn inputs_are_not_changed() -> TractResult<()> {
    let bytes = one(DataType::Float, &sizes(&[2, 3]), Some(&[3, 3]), BATCH);
    let runnable = load(&bytes)?.into_optimized()?.into_runnable()?;
    let x: TValue = floats(&[2, 3]).into();
    runnable.run(tvec!(x.clone()))?;
    assert_eq!(*x, floats(&[2, 3]));
    Ok(())
}

/// Transposes around a node disappear: the node takes the other axes instead.
#[test]
fn transposes_cancel() -> TractResult<()> {
    let transpose = |name: &str, input: &str| {
        let mut transpose = node(name, "Transpose", &[input], &[]);
        transpose.attribute.push(list("perm", &[2, 0, 1]));
        transpose
    };
    let mut back = transpose("y", "reversed");
    back.attribute[0].ints = vec![1, 2, 0];
    let nodes = vec![
        transpose("moved", "x"),
        node("reversed", "ReverseSequence", &["moved", "lengths"], BATCH),
        back,
    ];
    let inputs = vec![
        value("x", DataType::Float, &sizes(&[3, 4, 2])),
        value("lengths", DataType::Int64, &sizes(&[2])),
    ];
    let bytes = model(inputs, vec![], nodes, &["y"]);
    let optimised = load(&bytes)?.into_optimized()?;
    let operators: Vec<_> = optimised.nodes().iter().map(|node| node.op().name()).collect();
    assert_eq!(operators, ["Source", "Source", "ReverseSequence"]);
    let y = run(&bytes, &[floats(&[3, 4, 2]), tensor1(&[3i64, 1])])?;
    let expected = (0..24).map(|at| {
        let (a, rest) = (at / 8, at % 8);
        let from = if rest % 2 == 0 { 2 - a } else { a };
        (from * 8 + rest) as f32
    });
    assert_eq!(*y[0], Tensor::from_shape(&[3, 4, 2], &expected.collect::<Vec<_>>())?);
    Ok(())
}

#[test]
fn wrong_lengths_are_errors() -> TractResult<()> {
    let too_long = "ReverseSequence: lengths[1] is 4, outside [0, 3]";
    let negative = "ReverseSequence: lengths[0] is -1, outside [0, 3]";
    for (lengths, expected) in [([3, 4], too_long), ([-1, 0], negative)] {
        // Constant: when types are checked. Computed: in each run, after which others still work.
        let bytes = one(DataType::Float, &sizes(&[2, 3]), Some(&lengths), BATCH);
        let error = load(&bytes)?.into_typed().map(drop).unwrap_err();
        assert!(text(error).contains(expected));
        let bytes = one(DataType::Float, &sizes(&[2, 3]), None, BATCH);
        let runnable = load(&bytes)?.into_optimized()?.into_runnable()?;
        let x = || TValue::from(floats(&[2, 3]));
        let error = runnable.run(tvec!(x(), tensor1(&lengths).into())).unwrap_err();
        assert!(text(error).contains(expected));
        assert!(runnable.run(tvec!(x(), tensor1(&[1i64, 2]).into())).is_ok());
    }
    Ok(())
}

#[test]
fn wrong_models_are_errors() {
    let error =
        |bytes: Vec<u8>| text(load(&bytes).and_then(|model| model.into_typed()).unwrap_err());
    let x = || sizes(&[2, 3]);
    let axis = one(DataType::Float, &x(), None, &[("time_axis", 2)]);
    assert!(error(axis).contains("ReverseSequence: time_axis is 2"));
    let same = one(DataType::Float, &x(), None, &[("time_axis", 1)]);
    assert!(error(same).contains("ReverseSequence: "));
    let count = one(DataType::Float, &x(), Some(&[1, 2, 3]), BATCH);
    assert!(error(count).contains("ReverseSequence: lengths have shape [3], expected [2]"));
    let flat = one(DataType::Float, &sizes(&[2]), None, BATCH);
    assert!(error(flat).contains("ReverseSequence: "));
    let inputs = vec![value("x", DataType::Float, &x()), value("l", DataType::Float, &sizes(&[2]))];
    let node = node("y", "ReverseSequence", &["x", "l"], BATCH);
    assert!(error(model(inputs, vec![], vec![node], &["y"])).contains("expected an integer type"));
    let inputs = vec![value("x", DataType::Float, &x())];
    let alone = model::node("y", "ReverseSequence", &["x"], BATCH);
    error(model(inputs, vec![], vec![alone], &["y"]));
}
