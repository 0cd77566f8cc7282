"""Runs calls of ``retrograde.torch`` on ``DTensor`` in two processes, and prints what they communicate, as JSON.

``test_torch_dtensor.py`` starts it. With ``without`` it runs as if PyTorch had no name that it does not document.
"""

import contextlib
import json
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode

OPS = torch.ops.retrograde
SHARDS = {"batch": Shard(0), "time": Shard(1), "features": Shard(2), "nothing": Replicate()}


def work(rank, folder, without):
    if without:
        from retrograde import _torch_private

        _torch_private.find = lambda path: None
    import retrograde.torch as rt

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    results = {}

    def put(x, placement):
        return distribute_tensor(x, mesh, [placement])

    def record(name, call, expected, counted=True):
        moves = CommDebugMode()
        with moves if counted else contextlib.nullcontext():
            got = call()
        results[name] = {
            "moves": sum(moves.get_comm_counts().values()) if counted else None,
            "placement": str(got.placements[0]),
            "right": torch.equal(got.full_tensor(), expected),
        }

    def refused(name, call):
        try:
            call()
            results[name] = "no error"
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"

    # Seven and five: shards of different sizes.
    x = torch.arange(7 * 8 * 5.0).reshape(7, 8, 5)
    lengths, offsets = torch.tensor([1, 8, 3, 0, 5, 2, 8]), torch.tensor([0, 3, 8])
    lanes = (torch.arange(35) % 9).reshape(7, 1, 5)

    def sequence(x, lengths):
        return rt.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)

    sequences, subsequences = sequence(x, lengths), rt.reverse_subsequences(x, lanes, axis=1)
    for where, placement in SHARDS.items():
        part = put(x, placement)
        record(f"reverse: {where}", lambda: rt.reverse(part, 1), x.flip(1))
        record(f"flip: {where}", lambda: rt.flip(part, -2), x.flip(1))
        record(f"rot90: {where}", lambda: rt.rot90(part), x.rot90())
        record(f"operator: {where}", lambda: OPS.reverse(part, [1]), x.flip(1))
        # The same call with other axes must not use what is cached for these.
        record(f"other axes: {where}", lambda: OPS.reverse(part, [0, 1]), x.flip(0, 1))
        for kind, given in {"list": lengths.tolist(), "tensor": lengths, "whole": put(lengths, Replicate())}.items():
            record(f"sequence, {kind}: {where}", lambda: sequence(part, given), sequences)
        alike = put(lengths, placement if where == "batch" else Replicate())
        record(f"sequence, alike: {where}", lambda: sequence(part, alike), sequences)
        alike = put(lanes, Replicate() if where == "time" else placement)
        record(f"subsequences: {where}", lambda: rt.reverse_subsequences(part, alike, axis=1), subsequences)
        flat = put(lanes[:, 0], {"batch": Shard(0), "features": Shard(1)}.get(where, Replicate()))
        record(f"subsequences, flat: {where}", lambda: rt.reverse_subsequences(part, flat, axis=1), subsequences)
        want = rt.reverse_segments(x, offsets, axis=1)
        record(f"segments: {where}", lambda: rt.reverse_segments(part, offsets, axis=1), want)
        leaf, weights = put(x, placement).requires_grad_(), put(x, placement)

        def gradient():
            (sequence(leaf, lengths) * weights).sum().backward()
            return leaf.grad

        record(f"gradient: {where}", gradient, sequences)
        # A copy: a replicated tensor has the memory of the one that it was made from.
        changed = put(x.clone(), placement)
        record(f"in place: {where}", lambda: rt.reverse(changed, 1, out=changed), x.flip(1))
        given = put(torch.zeros_like(x), placement)
        record(f"out: {where}", lambda: rt.reverse(part, 1, out=given), x.flip(1))
        results[f"out is filled: {where}"] = torch.equal(given.full_tensor(), x.flip(1))

    partial = DTensor.from_local(x * (rank + 1), mesh, [Partial()], run_check=False)
    record("partial", lambda: rt.reverse(partial, 1), 3 * x.flip(1))
    record("partial, lengths", lambda: sequence(partial, lengths), 3 * sequences)
    largest = DTensor.from_local(x * (rank + 1), mesh, [Partial("max")], run_check=False)
    record("partial, maximum", lambda: rt.flip(largest, 1), 2 * x.flip(1))

    sharded = put(x, Shard(0))
    compiled = torch.compile(lambda x, n: sequence(rt.reverse(x, 1), n), backend="aot_eager", fullgraph=True)
    want = sequence(x.flip(1), lengths)
    # Modes, which count, do not get along with compiled programs.
    record("compiled", lambda: compiled(sharded, put(lengths, Shard(0))), want, counted=False)
    with torch.inference_mode():
        part = put(x, Shard(0))
        record("inference", lambda: OPS.reverse(part, [1]), x.flip(1))

    # Six and seven lengths in two shards: the first ones are of equal sizes.
    refused("shape", lambda: sequence(sharded, lengths[:6]))
    refused("shape, operator", lambda: OPS.reverse_sequence(sharded, put(lengths[:6], Shard(0)), 1, 0, "strict"))
    refused("mixed", lambda: sequence(x, put(lengths, Shard(0))))
    refused("operator in place", lambda: OPS.reverse_(sharded, [1]))
    refused("operator with out", lambda: OPS.reverse_out(sharded, [1], put(x, Shard(0))))
    every = [None, None]
    dist.all_gather_object(every, results)
    if rank == 0:
        print(json.dumps(every))
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (folder, "without" in sys.argv), nprocs=2)
