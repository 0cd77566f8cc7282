"""The command line of `bench/run`; standard library only, because it is read before packages are installed."""

import argparse
import os
from pathlib import Path


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def thread_counts(text):
    return sorted({positive(part) for part in text.split(",")})


def parse(arguments=None):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures Retrograde against plain copies and other runtimes, alternating in one process.",
    )
    parser.add_argument("--quick", action="store_true", help="a sixteenth of the bytes, and fewer rounds")
    parser.add_argument(
        "--peers",
        choices=["none", "light", "all"],
        default="light",
        help="the other runtimes: none (only NumPy is installed, to check results); "
        "NumPy, PyTorch, ONNX Runtime, OpenVINO and the light Rust crates; or also TensorFlow, JAX, candle and burn",
    )
    parser.add_argument(
        "--sweep",
        action="store_true",
        help="time against size instead: single calls from Python, 4 KiB to 64 MiB, together and in separate processes",
    )
    parser.add_argument("--together", action="store_true", help="of a sweep only the process with all libraries")
    parser.add_argument(
        "--alone",
        metavar="TEXT,TEXT",
        default="",
        help="of a sweep in separate processes only kinds that contain one of these",
    )
    parser.add_argument("--filter", metavar="TEXT", default="", help="only cases whose name or group contains this")
    parser.add_argument("--max-bytes", metavar="N", type=positive, help="shrink larger cases to at most this size")
    parser.add_argument(
        "--threads",
        metavar="N,N",
        type=thread_counts,
        default=sorted({1, cores}),
        help="thread counts to measure (default: 1 and all cores)",
    )
    parser.add_argument("--rounds", type=positive, help="number of rounds (default: 15, quick: 9)")
    parser.add_argument("--seconds", type=float, help="approximate time per case (default: 6, quick: 1.5)")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write to bench/record/ even after a partial run (a full run always does)",
    )
    parser.add_argument(
        "--before",
        metavar="LIBRARY",
        help="another build of the library of retrograde-bench, measured in the same rounds",
    )
    parser.add_argument(
        "--samples",
        metavar="FOLDER",
        type=Path,
        help="append the raw samples of every case to samples.jsonl in this folder",
    )
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (9 if options.quick else 15)
    options.seconds = options.seconds or (1.5 if options.quick else 6.0)
    options.full = not (options.quick or options.filter or options.max_bytes or options.sweep)
    return options
