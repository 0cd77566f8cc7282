"""Runs the measurements that the command line selects; `bench/run` starts it."""

import datetime
import shlex
import sys

from . import cases, machine, measure, native, options, peers, record, rust, sizes, table, words
from .compare import compared
from .contestants import from_python, retrograde
from .job import Job


def main():
    asked = options.parse()
    if asked.sweep:
        return sizes.main(asked)
    chosen = cases.chosen(asked)
    if not chosen:
        return f"bench/run: no case contains {asked.filter!r}"
    facts = machine.describe()
    others, skipped = peers.load(asked.peers)
    print(f"{facts['cpu']}, {facts['cores']} cores, {facts['caches']}, {facts['memory']}, {facts['system']}\n")
    results = []
    for case in chosen:
        job = Job(case)
        for threads in asked.threads:
            own = [*retrograde(job, threads), *from_python(job, threads)]
            results.append(compared(job, threads, own, others, facts["cores"], asked, skipped))
            print(table.line(results[-1]), flush=True)
        del job  # before the next one is created: the largest take gigabytes
    overhead = {} if asked.filter else measured_overhead()
    for step, time in overhead.items():
        print(f"{step:<44}  {time}")
    crates, left_out = rust.measure(asked)
    for result in crates:
        print(table.line(result))
    for one in skipped + left_out:
        if "case" not in one:
            print(f"skipped: {one['peer']}: {one['reason']}")

    date = datetime.date.today().isoformat()
    about = {"date": date, "command": shlex.join(["bench/run", *sys.argv[1:]]), "spread": "10th and 90th percentile"}
    about |= facts | machine.versions(others) | rust.versions(crates) | overhead | record.without(skipped + left_out)
    where = record.folder(asked, facts, date)
    print("\nwritten:", record.write(where, {"facts": about, "cases": results + crates}, "Benchmark"))
    return 0


def measured_overhead():
    """The time of each step before the first byte moves."""
    found = {}
    for step, name in enumerate(native.STEPS):
        samples = [measure.timed(lambda n, step=step: native.overhead(step, n), 20_000) for _ in range(15)]
        found[name] = measure.quantile(samples, 0.5)
    run_it, copy_it = list(found.values())[-2:]
    found["what running a plan adds to 1 KiB"] = max(run_it - copy_it, 0.0)
    return {name: words.time(seconds) for name, seconds in found.items()}


if __name__ == "__main__":
    sys.exit(main())
