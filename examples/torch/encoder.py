#!/usr/bin/env python3
"""Writes `encoder.pt2`, a bidirectional encoder with `reverse_sequence` that AOTInductor compiled, and an example input
and output for `run.cpp`.

    examples/torch/encoder.py FOLDER [cpu|cuda]
"""

import sys
from pathlib import Path

import torch

import retrograde.torch


class Encoder(torch.nn.Module):
    """Two networks that sum up what they have read: one from the start of each sequence, one from its end."""

    def __init__(self, features, size):
        super().__init__()
        self.there, self.back = torch.nn.Linear(features, size), torch.nn.Linear(features, size)

    def forward(self, x, lengths):
        there = self.there(x).tanh().cumsum(1)
        turned = retrograde.torch.reverse_sequence(x, lengths, batch_first=True, tail="zero")
        back = self.back(turned).tanh().cumsum(1)
        return torch.cat([there, retrograde.torch.reverse_sequence(back, lengths, batch_first=True)], 2)


def main(folder, device="cpu"):
    folder = Path(folder)
    torch.manual_seed(0)
    model = Encoder(8, 16).eval().to(device)
    x, lengths = torch.randn(4, 10, 8, device=device), torch.tensor([10, 3, 0, 7], device=device)
    batch, time = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("time", min=2, max=512)
    with torch.no_grad():
        program = torch.export.export(
            model, (x, lengths), dynamic_shapes={"x": {0: batch, 1: time}, "lengths": {0: batch}}
        )
        torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "encoder.pt2"))
        # Other sizes than those of the export.
        x, lengths = torch.randn(3, 17, 8, device=device), torch.tensor([17, 5, 1], device=device)
        expected = model(x, lengths)
    for name, tensor in {"x": x, "lengths": lengths, "expected": expected}.items():
        (folder / f"{name}.bin").write_bytes(tensor.cpu().contiguous().numpy().tobytes())
    print(f"wrote {folder}/encoder.pt2 and an example for {device}")


if __name__ == "__main__":
    main(*sys.argv[1:])
