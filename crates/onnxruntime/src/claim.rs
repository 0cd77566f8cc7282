//! Claims the nodes of a graph that the provider can run, and nothing else.

use crate::ffi::{OrtEpGraphSupportInfo, OrtGraph, OrtLogger, OrtNodeFusionOptions};
use crate::node::Node;
use crate::options::Options;
use crate::report::{Line, Report, graph_name};
use crate::runtime::{Failure, Runtime};
use std::ptr;

/// Why a node in a second graph of a model is not claimed.
const ONE_GRAPH: &str =
    "ONNX Runtime 1.23 can compile nodes of one graph only, and another has some";

/// Claims nodes of a graph, and adds every candidate to the report and the log.
///
/// # Safety
/// The runtime asks what the provider can run in this graph.
pub(crate) unsafe fn claim(
    runtime: &Runtime,
    options: &Options,
    logger: *const OrtLogger,
    graph: *const OrtGraph,
    info: *mut OrtEpGraphSupportInfo,
    report: &mut Report,
) -> Result<(), Failure> {
    // 1.23 numbers the nodes that it fuses from 0 in every graph, and refuses a second one of the
    // same name.
    let full = !runtime.has_registries() && report.has_claims();
    // SAFETY: the runtime's own graph, nodes and logger.
    unsafe {
        for node in Node::all_of(runtime, graph)? {
            if !node.is_candidate() {
                continue;
            }
            let reason = match node.operation(options) {
                Ok(_) if full => Some(ONE_GRAPH.to_owned()),
                Ok(_) => claim_node(runtime, info, &node)?,
                Err(reason) => Some(reason),
            };
            let line = Line {
                graph: graph_name(runtime, graph),
                node: node.name().to_owned(),
                operator: node.operator.to_owned(),
                output: node.output_name().to_owned(),
                reason,
            };
            let said = match &line.reason {
                None => "claimed".to_owned(),
                Some(reason) => format!("not claimed: {reason}"),
            };
            let Line { operator, node, output, .. } = &line;
            let message = format!("Retrograde: {operator} {node:?} (output {output:?}): {said}");
            runtime.log(logger, message);
            report.add(line);
        }
    }
    Ok(())
}

/// Claims one node, or says why the runtime would have no kernel for it.
///
/// # Safety
/// As for [`claim`], with a node of the graph.
unsafe fn claim_node(
    runtime: &Runtime,
    info: *mut OrtEpGraphSupportInfo,
    node: &Node<'_>,
) -> Result<Option<String>, Failure> {
    // SAFETY: passed on; registries only where the runtime has them.
    unsafe {
        if runtime.has_registries() {
            let mut definition = ptr::null();
            runtime.check(runtime.ep.look_up_kernel(info, node.node, &mut definition))?;
            if definition.is_null() {
                return Ok(Some("its types have no kernel".to_owned()));
            }
            runtime.check(runtime.ep.add_single_node(info, node.node))?;
        } else {
            // Constants stay inputs: starts and ends are read when the node runs.
            let version = runtime.version;
            let fusion = OrtNodeFusionOptions { version, drop_constant_initializers: false };
            runtime.check(runtime.ep.add_nodes_to_fuse(info, &node.node, 1, &fusion))?;
        }
    }
    Ok(None)
}
