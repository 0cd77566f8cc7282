"""The other runtimes, a module each. A peer gives its contestants for a job, or says why it has none.

Its `threads` says how many it uses: "one", "any" number that it is told, or "all", whatever it is told.
"""

import importlib

LIGHT = ["numpy", "torch", "onnxruntime", "openvino"]
ALL = [*LIGHT, "tensorflow", "jax"]


def load(which):
    """The peers that can be imported, and why the others cannot."""
    peers, missing = [], []
    for name in {"none": [], "light": LIGHT, "all": ALL}[which]:
        try:
            peers.append(importlib.import_module(f".{name}_peer", __package__).Peer())
        except Exception as error:  # whatever a foreign package raises when it is imported
            missing.append({"peer": name, "reason": f"cannot be imported: {first_line(error)}"})
    return peers, missing


def first_line(error):
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
