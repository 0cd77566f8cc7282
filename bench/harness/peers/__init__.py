"""The other runtimes, one module each. A peer yields its contestants for a job, or raises why not.

Its `threads` is how many it uses: "one", "any" number that is configured, or "all", regardless. """

import importlib

LIGHT = ["numpy", "torch", "onnxruntime", "openvino"]
ALL = [*LIGHT, "tensorflow", "jax"]


def load(which):
    """The peers that can be imported, and why the others cannot."""
    peers, missing = [], []
    for name in {"none": [], "light": LIGHT, "all": ALL}[which]:
        try:
            peers.append(importlib.import_module(f".{name}_peer", __package__).Peer())
        except Exception as error:  # anything a foreign package may raise on import
            missing.append({"peer": name, "reason": f"cannot be imported: {first_line(error)}"})
    return peers, missing


def first_line(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
