"""Runs the measurements that the command line selects; `bench/run` starts it."""

import datetime
import shlex
import sys

from . import cases, machine, measure, native, options, peers, record, rust, sizes, table, words
from .contestants import Unsupported, from_python, retrograde, right
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
            results.append(run(job, threads, others, facts["cores"], asked, skipped))
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


def run(job, threads, others, cores, asked, skipped):
    """One case on one number of threads."""
    case = job.case
    contestants = [*retrograde(job, threads), *from_python(job, threads)]
    for contestant in contestants:
        if not right(job, contestant):
            raise SystemExit(f"WRONG: {case.name} on {threads} threads, {contestant.label}: not what NumPy gives")
    wrong = {}
    for peer in others:
        if peer.threads == "all" and threads != cores:
            continue
        if case.peers is not None and peer.name not in case.peers:
            continue
        try:
            found = list(peer.contestants(job, threads))
            wrong |= {contestant.label: not right(job, contestant) for contestant in found}
            contestants += found
        except Unsupported as reason:
            skipped.append({"peer": peer.name, "case": case.name, "reason": str(reason)})
        except Exception as error:  # anything a foreign runtime may raise
            reason = f"failed on {case.name}: {peers.first_line(error)}"
            skipped.append({"peer": peer.name, "case": case.name, "reason": reason})
    sampled = measure.alternate(contestants, asked.rounds, asked.seconds)
    rows = measure.summary(sampled)
    for row, one in zip(rows, sampled, strict=True):
        row["wrong"] = wrong.get(one.contestant.label, False)
    raw = {one.contestant.label: list(one.seconds.values()) for one in sampled}
    record.keep(asked.samples, f"{case.name}, {threads} threads", raw)
    return {"group": case.group, "name": case.name, "bytes": case.bytes, "threads": threads, "contestants": rows}


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
