"""Results as tables: for the terminal while it runs, and in Markdown for pages."""

from . import words

# The copies that all contestants are compared with.
YARDSTICKS = ("memcpy", "device copy", "buffer copy")
#: Another build of Retrograde.
BEFORE = "before"
#: Where an output goes. Other styles are idioms, which allocate their output.
STYLES = ("reused", "fresh", "in place")


def label(row):
    return f"{row['name']}, {row['style']}"


def is_peer(row):
    return row["name"] not in YARDSTICKS and not row["name"].startswith(("retrograde", BEFORE))


def rows_of(result, style=None, name=None):
    rows = result["contestants"]
    return [r for r in rows if (style is None or r["style"] == style) and (name is None or r["name"] == name)]


def peers_of(result):
    """Every peer in its faster style, the fastest first."""
    best = {}
    for row in filter(is_peer, rows_of(result)):
        if row["name"] not in best or row["ratio"] > best[row["name"]]["ratio"]:
            best[row["name"]] = row
    return sorted(best.values(), key=lambda row: -row["ratio"])


def own(result):
    """Retrograde's main figure: into memory used before, or in place."""
    return next((row for row in rows_of(result, name="retrograde") if row["style"] in ("reused", "in place")), None)


def ours_too(result):
    """Other variants of Retrograde with reused outputs: from Python, or natively on a GPU."""
    rows = [row for row in rows_of(result) if row["name"].startswith("retrograde ")]
    return [row for row in rows if row["style"] in ("reused", "in place") and row["ratio"] is not None]


def figures(row):
    """The time, and the ratio with its spread."""
    ratio = "" if row["ratio"] is None or row["name"] in YARDSTICKS else f", {words.ratio_spread(row)}"
    return words.time(row["seconds"]) + ratio + " WRONG" * row.get("wrong", False)


def threads(result):
    count = result.get("threads", 0)
    return f"{count} thread{'s' * (count > 1)}" * bool(count)


def about(result):
    """What identifies a case, for the first columns."""
    return [result["name"], words.size(result["bytes"]), result.get("kernel") or threads(result)]


def line(result):
    """A case for the terminal: copies and ours first, then the others, the fastest first."""
    rows = [row for row in rows_of(result) if not is_peer(row)]
    rows += sorted(filter(is_peer, rows_of(result)), key=lambda row: row["seconds"])
    name, size, how = about(result)
    return f"{name:<46} {size:>8} {how:<15} " + " | ".join(f"{label(row)} {figures(row)}" for row in rows)


def markdown(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def groups(results):
    """Results by group, in the order in which they were measured."""
    found = {}
    for result in results:
        found.setdefault(result["group"], []).append(result)
    return found


def full(results):
    """All figures, a table for each group."""
    parts = []
    for group, cases in groups(results).items():
        labels = list(dict.fromkeys(label(row) for case in cases for row in rows_of(case)))
        rows = []
        for case in cases:
            cells = {label(row): figures(row) for row in rows_of(case)}
            rows.append([*about(case), *(cells.get(one, "") for one in labels)])
        parts += [f"## {group.capitalize()}", markdown(["case", "bytes", "", *labels], rows)]
    return "\n\n".join(parts) + "\n"


def column(row):
    """The column of a contestant in a table of ranges; peers of the same style share one."""
    if not is_peer(row):
        return label(row)
    return f"fastest other, {row['style']}" if row["style"] in STYLES else row["name"]


def ranges(results):
    """Headings and rows: the least and greatest ratio by group and number of threads."""
    kinds = {}
    for case in results:
        columns = "a length per column" * ("columns" in case.get("kernel", "") and case["group"] != "in place")
        kind = ", ".join(filter(None, [case["group"], columns, threads(case)]))
        best = {}
        for row in rows_of(case):
            if row["ratio"] is not None and row["name"] not in YARDSTICKS:
                best[column(row)] = max(best.get(column(row), 0), row["ratio"])
        kinds.setdefault(kind, []).append(best)
    names = list(dict.fromkeys(name for found in kinds.values() for best in found for name in best))
    rows = []
    for kind, found in kinds.items():
        ends = [[best[name] for best in found if name in best] for name in names]
        cells = [" to ".join(dict.fromkeys(words.ratio(end(one)) for end in (min, max))) if one else "" for one in ends]
        rows.append([f"{kind} ({len(found)})", *cells])
    return ["group (cases)", *names], rows


def behind(results):
    """For each style of ours: how often another library is faster in the same style, and where."""
    found = {}
    for case in results:
        for mine in rows_of(case, name="retrograde"):
            others = [row for row in filter(is_peer, rows_of(case)) if row["style"] in (mine["style"], *idioms(case))]
            if others and not case["name"].startswith("small"):
                first = max(others, key=lambda row: row["ratio"])
                name = ", ".join(filter(None, [case["name"], threads(case)]))
                text = f"{name} ({mine['ratio']:.3f}, {first['name']} {first['ratio']:.3f})"
                found.setdefault(mine["style"], []).append(text * (first["ratio"] > mine["ratio"]))
    for style, texts in found.items():
        faster = [text for text in texts if text]
        yield f"- {style}: {len(faster)} of {len(texts)}" + ": " * bool(faster) + "; ".join(faster)


def idioms(case):
    return {row["style"] for row in rows_of(case)} - set(STYLES)
