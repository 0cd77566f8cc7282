#!/usr/bin/env python3
"""Measures mirrored and turned images against the libraries that people use for them.

    bench/images.py [--quick] [--filter REGEX] [--threads N,N] [--peers NAME,NAME] [--record]
    bench/images.py --device cuda --out FOLDER

Needs bench/requirements-images.txt and the package `retrograde`; missing libraries are printed as skipped. Every
result is compared with NumPy's before it is timed. All contestants of a case alternate in one process, called from
Python, with outputs of the same style: new arrays, or arrays that are given.
"""

import argparse
import datetime
import os
import shlex
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
# Threads of one contestant that spin while idle would slow down the next one.
os.environ |= {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "NO_ALBUMENTATIONS_UPDATE": "1"}

from harness import image_cases, image_peers, image_record, machine, options, record, table  # noqa: E402
from harness.compare import compared  # noqa: E402
from harness.image_job import Job  # noqa: E402
from harness.peers import first_line  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--device", choices=["cpu", "cuda", "dry"], default="cpu", help="dry: cuda's way, on the CPU")
    parser.add_argument("--quick", action="store_true", help="some movements, kinds and sizes, and fewer rounds")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases in whose names this is found")
    parser.add_argument("--peers", type=lambda text: text.split(","), help="only these libraries")
    parser.add_argument("--threads", type=options.thread_counts, default=sorted({1, cores}), help="1 and all cores")
    parser.add_argument("--rounds", type=options.positive, help="number of rounds (9, quick: 5)")
    parser.add_argument("--seconds", type=float, default=1.2, help="approximate time of a case")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="append the raw samples to samples.jsonl there")
    parser.add_argument("--record", action="store_true", help="write to bench/record/ instead of bench/out/")
    parser.add_argument("--out", type=Path, help="write to this folder instead")
    asked = parser.parse_args()
    asked.full = False
    asked.rounds = asked.rounds or (5 if asked.quick else 9)
    return asked


def load(kinds, wanted):
    """The libraries that can be imported, and why the others cannot."""
    found, skipped = [], []
    for kind in kinds:
        if wanted is None or kind.name in wanted:
            try:
                found.append(kind())
            except Exception as error:  # anything a foreign package may raise on import
                skipped.append({"peer": kind.name, "reason": f"cannot be imported: {first_line(error)}"})
    for one in skipped:
        print(f"skipped: {one['peer']}: {one['reason']}", flush=True)
    return found, skipped


def measured(asked, chosen, facts, skipped):
    """The results of all cases; a case that is written is not lost if a later one fails."""
    if asked.device != "cpu":
        from gpu import device, images

        on = device.Cuda() if asked.device == "cuda" else device.Host()
        others, missing = load(images.PEERS, asked.peers)
        facts |= on.facts() | machine.host()
    else:
        others, missing = load(image_peers.PEERS, asked.peers)
    skipped += missing
    facts |= {peer.name: peer.version for peer in others}
    for case in chosen:
        if asked.device != "cpu":
            yield images.compared(case, others, on, asked, skipped)
            on.tidy()
            continue
        job = Job(case)
        for threads in asked.threads:
            own = [*image_peers.copied(job), *image_peers.own(job, threads)]
            yield compared(job, threads, own, others, machine.describe()["cores"], asked, skipped)
        del job


def main():
    asked = arguments()
    chosen = list(image_cases.chosen(asked.quick, asked.filter))
    if not chosen:
        return f"bench/images.py: no case has {asked.filter!r}"
    about, date = machine.describe(), datetime.date.today().isoformat()
    facts = {"date": date, "command": shlex.join(["bench/images.py", *sys.argv[1:]]), **about}
    facts |= {"retrograde": machine.retrograde_version(), "python": sys.version.split()[0]}
    where = asked.out or record.folder(asked, about, f"{date}-images")
    results, skipped, began = [], [], time.monotonic()
    for result in measured(asked, chosen, facts, skipped):
        print(table.line(result), flush=True)
        results.append(result)
    for one in skipped:
        if "failed" in one["reason"]:
            print(f"{one['peer']}: {one['reason']}")
    facts |= record.without(skipped)
    written = record.write(where, {"facts": facts, "cases": results}, image_record.TITLE, image_record.figures)
    print("", *image_record.figures(results), sep="\n\n")
    print(f"\nwritten in {time.monotonic() - began:.0f} s: {written}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
