"""The results as tables: for the terminal while it runs, and in Markdown for the record."""

from . import words

HEADINGS = ["case", "bytes", "threads", "memcpy", "retrograde", "of memcpy", "fresh", "from Python", "best peer", "others"]


def rows_of(result, style=None, name=None):
    rows = result["contestants"]
    return [r for r in rows if (style is None or r["style"] == style) and (name is None or r["name"] == name)]


def first(rows):
    return rows[0] if rows else None


# The baselines that all contestants are compared with.
YARDSTICKS = ("memcpy", "device copy")
#: Another build of Retrograde.
BEFORE = "before"


def peers_of(result):
    """Every peer in its faster style, the fastest first."""
    best = {}
    for row in rows_of(result):
        if row["name"] in (*YARDSTICKS, BEFORE) or row["name"].startswith("retrograde"):
            continue
        if row["name"] not in best or row["ratio"] > best[row["name"]]["ratio"]:
            best[row["name"]] = row
    return sorted(best.values(), key=lambda row: -row["ratio"])


def own(result):
    """Retrograde's main figure: into memory used before, or in place."""
    return first(rows_of(result, "reused", "retrograde")) or first(rows_of(result, "in place", "retrograde"))


def ours_too(result):
    """Other variants of Retrograde with reused outputs: from Python, or natively on a GPU."""
    rows = [row for row in rows_of(result) if row["name"].startswith("retrograde ")]
    return [row for row in rows if row["style"] in ("reused", "in place") and row["ratio"] is not None]


def from_python(result):
    """Retrograde called from Python, in every style."""
    rows = rows_of(result, name="retrograde in Python")
    styled = (f"{words.ratio(row['ratio'])} {row['style']}" for row in rows)
    return ", ".join(styled)


def peer_text(row):
    star = "*" if row.get("wrong") else ""
    style = "" if row["style"] == "reused" else f" {row['style']}"
    return f"{row['name']}{star}{style} {words.ratio(row['ratio'])}"


def cells(result):
    copy = first(rows_of(result, "reused", "memcpy"))
    mine, fresh = own(result), first(rows_of(result, "fresh", "retrograde"))
    peers = [peer_text(row) for row in peers_of(result)]
    before = [f"before ({row['style']}) {words.ratio(row['ratio'])}" for row in rows_of(result, None, BEFORE)]
    return [
        result["name"],
        words.size(result["bytes"]),
        str(result["threads"]),
        f"{copy['gb_per_s']:.1f} GB/s",
        f"{mine['gb_per_s']:.1f} GB/s, {words.time(mine['seconds'])}",
        words.ratio_spread(mine),
        words.ratio_spread(fresh) if fresh else "",
        from_python(result),
        peers[0] if peers else "",
        ", ".join([*peers[1:], *before]),
    ]


WIDTHS = [52, 9, 7, 10, 20, 19, 19, 22, 22, 0]


def line(texts):
    return "  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True)).rstrip()


def markdown(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def groups(results):
    """Results by group, in the order in which they were measured."""
    found = {}
    for result in results:
        found.setdefault(result["group"], []).append(result)
    return found


def overhead_rows(overhead):
    return [[one["step"], words.time(one["seconds"])] for one in overhead]


def rust_rows(results):
    """The table of the Rust crates: one row per case, all contestants in it."""
    rows = []
    for result in results:
        texts = []
        for row in result["contestants"]:
            if not row["name"].startswith("memcpy"):
                texts.append(f"{row['name']} {words.ratio_spread(row)}")
        rows.append([result["name"], str(result["threads"]), ", ".join(texts)])
    return rows
