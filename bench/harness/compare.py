"""One case: every result is checked, then all contestants are measured in turns."""

from . import measure, peers, record
from .contestants import Unsupported, right


def compared(job, threads, own, others, cores, asked, skipped):
    """One case on one number of threads: copies and our own contestants, and those of the others."""
    others = [peer for peer in others if peer.threads != "all" or threads == cores]
    case = job.case
    contestants, wrong = checked(job, threads, own, others, skipped)
    sampled = measure.alternate(contestants, asked.rounds, asked.seconds)
    rows = measure.summary(sampled, wrong)
    raw = {one.contestant.label: list(one.seconds.values()) for one in sampled}
    record.keep(asked.samples, f"{case.name}, {threads} threads", raw)
    return {"group": case.group, "name": case.name, "bytes": case.bytes, "threads": threads, "contestants": rows}


def checked(job, threads, own, others, skipped):
    """All contestants of a job, and the labels of those with wrong results. Wrong ones of ours end the program."""
    case, contestants = job.case, list(own)
    for contestant in contestants:
        if not right(job, contestant):
            raise SystemExit(f"WRONG: {case.name} on {threads} threads, {contestant.label}: not what NumPy gives")
    wrong = set()
    for peer in others:
        if case.peers is not None and peer.name not in case.peers:
            continue
        try:
            found = list(peer.contestants(job, threads))
            wrong |= {contestant.label for contestant in found if not right(job, contestant)}
            contestants += found
        except Unsupported as reason:
            skipped.append({"peer": peer.name, "case": case.name, "reason": str(reason)})
        except Exception as error:  # anything a foreign runtime may raise
            reason = f"failed on {case.name}: {peers.first_line(error)}"
            skipped.append({"peer": peer.name, "case": case.name, "reason": reason})
    return contestants, wrong
