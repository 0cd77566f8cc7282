//! Checks of graphs and of the inputs they are run on.

use super::*;
use bytes::Bytes;
use retrograde::DType;

fn named(name: &str) -> NodeName {
    NodeName { name: name.to_owned(), kind: "Test".to_owned() }
}

fn node(name: &str, op: Op, inputs: &[&str], output: &str) -> Node {
    let inputs = inputs.iter().map(|&input| Source::Value(input.to_owned())).collect();
    Node { name: named(name), op, inputs, output: output.to_owned() }
}

fn input(name: &str, dtype: DType, dims: &[Dim]) -> Input {
    let declared =
        Declared { dtype: Some(dtype), dims: Some(dims.to_vec()), ..Declared::default() };
    Input { names: vec![name.to_owned()], value: name.to_owned(), declared, has_default: false }
}

fn output(name: &str) -> Output {
    let declared = Declared::default();
    Output { names: vec![name.to_owned()], value: name.to_owned(), declared }
}

fn bytes(shape: &[usize]) -> Value {
    let count: usize = shape.iter().product();
    Value::new(DType::U8, shape, (0..count as u8).collect::<Vec<_>>()).unwrap()
}

fn integers(values: &[i64]) -> Value {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Value::new(DType::I64, &[values.len()], data).unwrap()
}

const ROWS: Op = Op::Sequence { time: 1, batch: 0, opset: Some(10) };

/// x and lens to y, through intermediate values, with nodes out of order.
fn rows() -> Parts {
    let named = |name: &str| Dim::Named(name.to_owned());
    Parts {
        inputs: vec![
            input("x", DType::U8, &[named("B"), named("T")]),
            input("lens", DType::I64, &[named("B")]),
        ],
        outputs: vec![output("y"), output("x")],
        nodes: vec![
            node("last", Op::Identity, &["b"], "y"),
            node("first", Op::Identity, &["x"], "a"),
            node("middle", ROWS, &["a", "lens"], "b"),
        ],
        ..Parts::default()
    }
}

fn given(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn nodes_run_in_an_order_that_works() {
    let graph = rows().check().unwrap();
    let names: Vec<_> = graph.nodes().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["first", "middle", "last"]);
    let x = bytes(&[2, 3]);
    let results = graph.run(given(&[("x", x.clone()), ("lens", integers(&[3, 2]))])).unwrap();
    assert_eq!(results[0], Value::new(DType::U8, &[2, 3], vec![2, 1, 0, 4, 3, 5]).unwrap());
    assert_eq!(results[1], x);
}

#[test]
fn strings_are_reversed_too() {
    let mut parts = rows();
    parts.inputs[0].declared.dtype = Some(DType::String);
    let words = ["a", "b", "c", "d"].map(|word| Bytes::from_static(word.as_bytes()));
    let x = Value::strings(&[2, 2], words.iter().cloned().collect()).unwrap();
    let graph = parts.check().unwrap();
    let results = graph.run(given(&[("x", x.clone()), ("lens", integers(&[2, 1]))])).unwrap();
    let expected = ["b", "a", "c", "d"].map(|word| Bytes::from_static(word.as_bytes()));
    assert_eq!(
        results[0].elements(),
        &crate::Elements::Strings(expected.iter().cloned().collect())
    );
    let error = graph.run(given(&[("x", x), ("lens", integers(&[3, 1]))])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "middle (Test): ReverseSequence: lengths[0] is 3, outside [0, 2]"
    );
}

#[test]
fn a_default_can_be_overridden() {
    let mut parts = rows();
    parts.constants = vec![("lens".to_owned(), integers(&[0, 3]))];
    parts.inputs[1].has_default = true;
    let graph = parts.check().unwrap();
    let x = bytes(&[2, 3]);
    let data = |inputs: &[(&str, Value)]| match graph.run(given(inputs)).unwrap()[0].elements() {
        crate::Elements::Bytes(bytes) => bytes.to_vec(),
        crate::Elements::Strings(_) => vec![],
    };
    assert_eq!(data(&[("x", x.clone())]), [0, 1, 2, 5, 4, 3]);
    assert_eq!(data(&[("x", x), ("lens", integers(&[2, 0]))]), [1, 0, 2, 3, 4, 5]);
}

#[test]
fn graphs_that_cannot_be_are_refused() {
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = rows();
        change(&mut parts);
        parts.check().unwrap_err().to_string()
    };
    let push = |at: Node| move |parts: &mut Parts| parts.nodes.push(at.clone());
    assert_eq!(
        with(&push(node("again", Op::Identity, &["x"], "b"))),
        "value \"b\" is produced twice"
    );
    assert_eq!(with(&push(node("x", Op::Identity, &["a"], "x"))), "value \"x\" is produced twice");
    assert_eq!(
        with(&push(node("late", Op::Identity, &["nowhere"], "z"))),
        "late (Test) reads \"nowhere\", which nothing produces"
    );
    assert_eq!(
        with(&|parts| parts.outputs.push(output("z"))),
        "the list of outputs reads \"z\", which nothing produces"
    );
    assert_eq!(with(&|parts| parts.outputs.clear()), "it has no outputs");
    assert_eq!(with(&push(node("odd", ROWS, &["x"], "z"))), "odd (Test): has 1 inputs, expected 2");
    assert_eq!(
        with(&|parts| {
            parts.nodes.push(node("p", Op::Identity, &["q"], "p"));
            parts.nodes.push(node("q", Op::Identity, &["p"], "q"));
        }),
        "its nodes form a cycle: q (Test) -> p (Test) -> q (Test)"
    );
    assert_eq!(
        with(&push(node("self", Op::Identity, &["s"], "s"))),
        "its nodes form a cycle: self (Test) -> self (Test)"
    );
    assert_eq!(
        with(&|parts| parts.foreign = vec![named("n\u{1b}[31m"), named("")]),
        "it has nodes that retrograde cannot run: n\\u{1b}[31m (Test), a node without a name (Test)"
    );
    let many = with(&|parts| parts.foreign = vec![named("n"); 150]);
    assert!(many.ends_with("n (Test) and 50 more: 50 Test"), "{many}");
}

#[test]
fn long_chains_need_no_stack() {
    let count = 200_000;
    let step = |at: usize| node("n", Op::Identity, &[&at.to_string()], &(at + 1).to_string());
    let parts = Parts {
        inputs: vec![input("0", DType::U8, &[Dim::Any])],
        nodes: (0..count).rev().map(step).collect(),
        outputs: vec![output(&count.to_string())],
        ..Parts::default()
    };
    let graph = parts.check().unwrap();
    assert_eq!(graph.run(given(&[("0", bytes(&[4]))])).unwrap(), [bytes(&[4])]);
}

#[test]
fn inputs_must_be_what_is_declared() {
    let graph = rows().check().unwrap();
    let x = bytes(&[2, 3]);
    let lens = integers(&[3, 2]);
    let wrong = |inputs: &[(&str, Value)]| graph.run(given(inputs)).unwrap_err().to_string();
    assert_eq!(wrong(&[("x", x.clone())]), "input \"lens\" is missing (i64 [B])");
    assert_eq!(
        wrong(&[("x", x.clone()), ("lens", lens.clone()), ("z", x.clone())]),
        "there is no input \"z\", expected \"x\" or \"lens\""
    );
    assert_eq!(wrong(&[("x", x.clone()), ("x", x.clone())]), "input \"x\" is given twice");
    assert_eq!(
        wrong(&[("x", lens.clone()), ("lens", lens.clone())]),
        "input \"x\": has type i64, expected u8 [B, T]"
    );
    assert_eq!(
        wrong(&[("x", bytes(&[4])), ("lens", lens)]),
        "input \"x\": has shape [4], expected u8 [B, T]"
    );
    assert_eq!(
        wrong(&[("x", x), ("lens", integers(&[1, 1, 1]))]),
        "input \"lens\": axis 0 has size 3, but B is already 2 (input \"x\")"
    );
    let mut parts = rows();
    parts.inputs[0].declared.dims = Some(vec![Dim::Fixed(3), Dim::Between(1, 4)]);
    parts.outputs[0].declared.dims = Some(vec![Dim::Any, Dim::Fixed(9)]);
    let graph = parts.check().unwrap();
    let run = |shape: &[usize], lengths: &[i64]| {
        graph
            .run(given(&[("x", bytes(shape)), ("lens", integers(lengths))]))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(run(&[2, 3], &[1, 1]), "input \"x\": has shape [2, 3], expected u8 [3, 1..4]");
    assert_eq!(run(&[3, 5], &[1; 3]), "input \"x\": has shape [3, 5], expected u8 [3, 1..4]");
    assert_eq!(run(&[3, 4], &[1; 3]), "output \"y\": has shape [3, 4], expected ? [?, 9]");
}

/// The results of nodes that read `x`, a 2 x 3 tensor of the bytes 0 to 5, and lists of integers.
fn computed(nodes: Vec<Node>, lists: &[(&str, &[i64])]) -> Result<(Vec<usize>, Vec<u8>), String> {
    let last = nodes.last().unwrap().output.clone();
    let parts = Parts {
        inputs: vec![input("x", DType::U8, &[Dim::Any, Dim::Fixed(3)])],
        outputs: vec![output(&last)],
        constants: lists.iter().map(|(name, list)| ((*name).to_owned(), integers(list))).collect(),
        nodes,
        ..Parts::default()
    };
    let graph = parts.check().map_err(|error| error.to_string())?;
    let results =
        graph.run(given(&[("x", bytes(&[2, 3]))])).map_err(|error| format!("ran: {error}"))?;
    let crate::Elements::Bytes(bytes) = results[0].elements() else { return Err("text".into()) };
    assert!(bytes.len() < 100, "the result has {} bytes", bytes.len());
    Ok((results[0].shape().to_vec(), bytes.to_vec()))
}

#[test]
fn views_move_once_and_compose() {
    let slice = node("s", Op::Slice, &["x", "a", "b", "c", "d"], "s");
    let lists: &[(&str, &[i64])] = &[
        ("a", &[-1]),
        ("b", &[i64::MIN]),
        ("c", &[1]),
        ("d", &[-1]),
        ("zero", &[0]),
        ("picks", &[0, 2, 1]),
    ];
    assert_eq!(computed(vec![slice.clone()], lists).unwrap(), (vec![2, 3], vec![2, 1, 0, 5, 4, 3]));
    let turned = node("t", Op::Transpose("order"), &["s"], "t");
    assert_eq!(
        computed(vec![slice.clone(), turned.clone()], lists).unwrap(),
        (vec![3, 2], vec![2, 5, 1, 4, 0, 3])
    );
    let wide = node("u", Op::Unsqueeze, &["t", "zero"], "u");
    let thin = node("q", Op::Squeeze { skips: false }, &["u"], "q");
    let both = node("j", Op::Concat { axis: 1 }, &["q", "t"], "j");
    assert_eq!(
        computed(vec![slice.clone(), turned.clone(), wide, thin, both], lists).unwrap(),
        (vec![3, 4], vec![2, 5, 2, 5, 1, 4, 1, 4, 0, 3, 0, 3])
    );
    let picked = node("g", Op::Gather, &["s", "picks", "c"], "g");
    assert_eq!(computed(vec![slice, picked], lists).unwrap(), (vec![2, 3], vec![2, 0, 1, 5, 3, 4]));
}

#[test]
fn integers_around_a_reversal_are_computed() {
    let lists: &[(&str, &[i64])] = &[("zero", &[0]), ("two", &[2]), ("shape", &[2, 1])];
    let nodes = vec![
        node("shape", Op::Shape { start: 1, end: None, dtype: DType::I64 }, &["x"], "sizes"),
        node("less", Op::Arithmetic(Function::Subtract), &["sizes", "two"], "one"),
        node("range", Op::Range(None), &["zero", "sizes", "one"], "times"),
        node("back", Op::Arithmetic(Function::Subtract), &["two", "times"], "back"),
        node("rows", Op::Expand { both: true }, &["back", "shape"], "rows"),
        node("pick", Op::GatherElements { axis: 1 }, &["x", "rows"], "y"),
    ];
    assert_eq!(computed(nodes, lists).unwrap(), (vec![2, 3], vec![2, 1, 0, 5, 4, 3]));
    let fill =
        Op::Fill(Box::new(Value::new(DType::I64, &[], vec![3, 0, 0, 0, 0, 0, 0, 0]).unwrap()));
    let nodes = vec![
        node("fill", fill, &["two"], "lens"),
        node("cast", Op::Cast(DType::I64), &["lens"], "long"),
        node("turn", ROWS, &["x", "long"], "y"),
    ];
    assert_eq!(computed(nodes, lists).unwrap(), (vec![2, 3], vec![2, 1, 0, 5, 4, 3]));
}

/// Everything that is known without inputs is checked before the graph runs.
#[test]
fn nodes_are_checked_before_they_run() {
    let lists: &[(&str, &[i64])] =
        &[("one", &[1]), ("three", &[3]), ("zero", &[0]), ("long", &[3, 4]), ("huge", &[1 << 40])];
    let wrong =
        |op: Op, inputs: &[&str]| computed(vec![node("n", op, inputs, "y")], lists).unwrap_err();
    let squeeze = Op::Squeeze { skips: false };
    let cases = [
        (wrong(squeeze, &["x", "one"]), "axes[0] is axis 1, which has size 3, expected 1"),
        (wrong(Op::Unsqueeze, &["x", "three"]), "axes[0] is 3, outside [-3, 2]"),
        (wrong(Op::Gather, &["x", "three", "one"]), "indices[0] is 3, outside [-3, 2]"),
        (wrong(Op::Gather, &["x", "one", "three"]), "axis is 3, outside [-2, 1]"),
        (wrong(Op::Concat { axis: 2 }, &["x", "x"]), "axis is 2, outside [-2, 1]"),
        (
            wrong(Op::Concat { axis: 0 }, &["x", "one"]),
            "input 1 has type i64, expected u8 as input 0",
        ),
        (
            wrong(Op::Transpose("order"), &["x", "one"]),
            "order has 1 entries but the shape of the input has 2",
        ),
        (wrong(Op::Slice, &["x", "one", "long"]), "ends has 2 entries but starts has 1"),
        (wrong(Op::Slice, &["x", "x", "one"]), "starts has 2 axes, expected a list"),
        (
            wrong(Op::Cast(DType::F32), &["x"]),
            "it has nodes that retrograde cannot run: n (Test of f32)",
        ),
        (
            wrong(Op::Reverse(retrograde::ReverseMode::Index), &["x", "three"]),
            "Reverse: axis 3 is out of range",
        ),
        (
            wrong(Op::Arithmetic(Function::Add), &["x", "one"]),
            "input 1 has type i64, expected u8 as input 0",
        ),
        (wrong(ROWS, &["x", "one"]), "ran: n (Test): ReverseSequence: "),
    ];
    for (found, expected) in cases {
        let found = found.strip_prefix("n (Test): ").unwrap_or(&found).to_owned();
        if expected.starts_with("Reverse:") {
            assert!(found.starts_with("Reverse: "), "{found}");
        } else {
            assert!(found.starts_with(expected), "{found}");
        }
    }
    assert_eq!(wrong(Op::Slice, &["x", "one"]), "n (Test): has 2 inputs, expected 3 to 5");
    // Results that are much larger than what is read, and lists that never end.
    let nodes = vec![
        node("wide", Op::Expand { both: true }, &["x", "shape"], "wide"),
        node("turn", ROWS, &["wide", "lens"], "y"),
    ];
    let error = computed(nodes, &[("shape", &[1 << 30, 2, 3]), ("lens", &[1])]).unwrap_err();
    assert!(error.contains("ReverseSequence: lengths have shape [1]"), "{error}");
    let wide = vec![node("wide", Op::Expand { both: true }, &["x", "shape"], "y")];
    let error = computed(wide, &[("shape", &[1 << 30, 2, 3])]).unwrap_err();
    assert_eq!(
        error,
        "ran: output \"y\": the result has 6442450944 bytes, more than the 67108864 that are accepted"
    );
    let error = wrong(Op::Range(None), &["zero", "huge", "one"]);
    assert!(error.contains("more than the 1048576 that are accepted"), "{error}");
}

/// The steps of a graph with this node between "x", which is `u8 [3, T]`, and "y".
fn chained(op: Op, operands: &[(&str, Value)]) -> Result<Vec<String>, String> {
    let names: Vec<&str> =
        ["x"].into_iter().chain(operands.iter().map(|(name, _)| *name)).collect();
    let parts = Parts {
        inputs: vec![
            input("x", DType::U8, &[Dim::Fixed(3), Dim::Named("T".to_owned())]),
            input("lens", DType::I64, &[Dim::Fixed(3)]),
        ],
        outputs: vec![output("y")],
        constants: given(operands).into_iter().filter(|(name, _)| name != "lens").collect(),
        nodes: vec![node("same", Op::Identity, &["z"], "y"), node("one", op, &names, "z")],
        ..Parts::default()
    };
    let graph = parts.check().unwrap();
    let steps = |chain: Chain<'_>| chain.steps.iter().map(|step| format!("{step:?}")).collect();
    graph.chain().map(steps).map_err(|error| error.to_string())
}

#[test]
fn reversals_are_a_chain() {
    use retrograde::ReverseMode::{Index, Mask};
    let axes = |values: &[i64]| vec![("axes", integers(values))];
    assert_eq!(chained(Op::Reverse(Index), &axes(&[-1, 1])), Ok(vec!["Axes([1])".to_owned()]));
    assert_eq!(chained(Op::Reverse(Index), &axes(&[])), Ok(vec!["Axes([])".to_owned()]));
    let mask = Value::new(DType::Bool, &[2], vec![1, 0]).unwrap();
    assert_eq!(chained(Op::Reverse(Mask), &[("m", mask)]), Ok(vec!["Axes([0])".to_owned()]));
    let lens = ("lens", integers(&[]));
    let found = chained(ROWS, &[lens]).unwrap();
    assert!(found[0].starts_with("Sequence { time: 1, batch: 0, lengths: Input("), "{found:?}");
    let constant = chained(ROWS, &[("three", integers(&[0, 1, 2]))]).unwrap();
    assert!(constant[0].contains("lengths: Constant("), "{constant:?}");
    let sliced = |start: i64, end: i64| {
        let names = ["s", "e", "a", "t"];
        let values = [[0, start], [i64::MAX, end], [0, 1], [1, -1]];
        let operands: Vec<_> =
            names.into_iter().zip(values.iter().map(|one| integers(one))).collect();
        chained(Op::Slice, &operands)
    };
    assert_eq!(sliced(-1, i64::MIN), Ok(vec!["Axes([1])".to_owned()]));
    assert_eq!(
        sliced(-1, -4),
        Err(
            "one (Test): of axis 1, declared as T, it keeps or may keep a part, expected all of it"
                .to_owned()
        )
    );
}

#[test]
fn what_is_not_a_chain_is_named() {
    let order = integers(&[1, 0]);
    let refused = chained(Op::Transpose("order"), &[("order", order)]).unwrap_err();
    assert_eq!(refused, "one (Test) is not a reversal of the input");
    let two = rows().check().unwrap().chain().unwrap_err().to_string();
    assert_eq!(two, "it has 2 outputs, expected one");
    let constant = Parts {
        outputs: vec![output("c")],
        constants: given(&[("c", integers(&[1]))]),
        ..Parts::default()
    };
    let refused = constant.check().unwrap().chain().unwrap_err().to_string();
    assert_eq!(refused, "output \"c\" is a constant, expected a reversal of an input");
}

/// The result of one node on constants.
fn result_of(op: Op, operands: &[Value]) -> Result<Value, String> {
    let names: Vec<String> = (0..operands.len()).map(|at| at.to_string()).collect();
    let declared = |name: &String| Input {
        names: vec![name.clone()],
        value: name.clone(),
        declared: Declared::default(),
        has_default: false,
    };
    let parts = Parts {
        inputs: names.iter().map(declared).collect(),
        outputs: vec![output("y")],
        nodes: vec![node("n", op, &names.iter().map(String::as_str).collect::<Vec<_>>(), "y")],
        ..Parts::default()
    };
    let graph = parts.check().map_err(|error| error.to_string())?;
    let inputs = names.into_iter().zip(operands.iter().cloned()).collect();
    graph.run(inputs).map(|results| results[0].clone()).map_err(|error| error.to_string())
}

fn words(shape: &[usize], words: &[&'static str]) -> Value {
    Value::strings(shape, words.iter().map(|&word| Bytes::from(word)).collect()).unwrap()
}

#[test]
fn elements_of_every_type_are_picked_and_joined() {
    let flags = Value::new(DType::Bool, &[2, 1], vec![1, 0]).unwrap();
    let floats = |bytes: &[u8]| Value::new(DType::F16, &[2], bytes.to_vec()).unwrap();
    // NaN payloads are kept.
    let picked =
        result_of(Op::Select, &[flags.clone(), floats(&[1, 2, 3, 0x7E]), floats(&[5, 6, 7, 8])]);
    let expected = Value::new(DType::F16, &[2, 2], vec![1, 2, 3, 0x7E, 5, 6, 7, 8]).unwrap();
    assert_eq!(picked.unwrap(), expected);
    let nibbles = |elements: &[u8]| Value::of_bytes(DType::I4, &[3], elements).unwrap();
    let picked = result_of(Op::Select, &[flags.clone(), nibbles(&[1, 2, 15]), nibbles(&[4, 5, 6])]);
    let expected = Value::of_bytes(DType::I4, &[2, 3], &[1, 2, 15, 4, 5, 6]).unwrap();
    assert_eq!(picked.unwrap(), expected);
    let (one, other) = (words(&[2], &["a", "bc"]), words(&[2], &["", "déf"]));
    let picked = result_of(Op::Select, &[flags.clone(), one.clone(), other.clone()]).unwrap();
    assert_eq!(picked, words(&[2, 2], &["a", "bc", "", "déf"]));
    let joined = result_of(Op::Concat { axis: 0 }, &[one.clone(), other.clone(), one.clone()]);
    assert_eq!(joined.unwrap(), words(&[6], &["a", "bc", "", "déf", "a", "bc"]));
    assert_eq!(
        result_of(Op::Select, &[flags, one, nibbles(&[0; 3])]).unwrap_err(),
        "n (Test): input 2 has type i4, expected string as input 1"
    );
    for element in [words(&[], &["ab"]), Value::of_bytes(DType::U2, &[], &[3]).unwrap()] {
        let filled = result_of(Op::Fill(Box::new(element)), &[integers(&[5])]).unwrap();
        let expected = match filled.dtype() {
            DType::String => words(&[5], &["ab"; 5]),
            dtype => Value::of_bytes(dtype, &[5], &[3; 5]).unwrap(),
        };
        assert_eq!(filled, expected);
    }
}

#[test]
fn lists_of_indices_pick_what_loops_pick() {
    let (shape, data) = ([3, 4, 2], bytes(&[3, 4, 2]));
    for depth in 1..=3 {
        // Neighbours, repetitions, steps backwards, and from the end.
        let lists = [0, 1, 2, 2, 1, 0, -1, 1, 0, 0].map(|start: i64| {
            (0..depth).map(|axis| if axis == 2 { start % 2 } else { start }).collect::<Vec<_>>()
        });
        let mut indices = integers(&lists.concat());
        indices = Value::new(
            DType::I64,
            &[2, 5, depth],
            match indices.elements() {
                crate::Elements::Bytes(bytes) => bytes.clone(),
                crate::Elements::Strings(_) => unreachable!(),
            },
        )
        .unwrap();
        let rest: usize = shape[depth..].iter().product();
        let picked = lists.iter().flat_map(|list| {
            let at = list
                .iter()
                .zip(shape)
                .fold(0, |at, (&index, size)| at * size + index.rem_euclid(size as i64) as usize);
            (at * rest..(at + 1) * rest).map(|at| at as u8)
        });
        let expected = [&[2, 5], &shape[depth..]].concat();
        let expected = Value::new(DType::U8, &expected, picked.collect::<Vec<_>>()).unwrap();
        assert_eq!(result_of(Op::GatherNd, &[data.clone(), indices]).unwrap(), expected);
    }
    let wrong = |indices: Value| result_of(Op::GatherNd, &[data.clone(), indices]).unwrap_err();
    assert_eq!(wrong(integers(&[0, 4])), "n (Test): indices[1] is 4, outside [-4, 3]");
    let text = "n (Test): indices has shape [4], expected a last axis with one index for each of \
                the first axes of the input";
    assert_eq!(wrong(integers(&[0; 4])), text);
}

#[test]
fn arithmetic_on_other_numbers_is_listed_like_other_operators() {
    let of = |dtype| Declared { dtype: Some(dtype), ..Declared::default() };
    let add = |name: &str, value: &str, result: &str| {
        node(name, Op::Arithmetic(Function::Add), &[value, value], result)
    };
    let parts = |foreign: Vec<NodeName>| Parts {
        inputs: vec![input("x", DType::F32, &[Dim::Any]), input("n", DType::I32, &[Dim::Any])],
        outputs: vec![output("y"), output("z")],
        nodes: vec![add("a", "x", "b"), add("c", "b", "y"), add("d", "n", "z")],
        declared: [("x", of(DType::F32)), ("b", of(DType::F32)), ("n", of(DType::I32))]
            .map(|(name, declared)| (name.to_owned(), declared))
            .into(),
        foreign,
        ..Parts::default()
    };
    let refused = |foreign| parts(foreign).check().unwrap_err().to_string();
    let text = "it has nodes that retrograde cannot run: a (Test of f32), c (Test of f32)";
    assert_eq!(refused(vec![]), text);
    let text =
        "it has nodes that retrograde cannot run: e (Test), a (Test of f32), c (Test of f32)";
    assert_eq!(refused(vec![named("e")]), text);
}
