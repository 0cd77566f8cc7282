"""The benchmark cases for GPUs. `bench-gpu` reads the same list."""

from harness.cases import Case, listed, shrunk


def texts(words):
    """The items of a comma-separated list. Commas inside brackets belong to a shape."""
    parts, depth = [""], 0
    for letter in words:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def chosen(only, max_bytes):
    """The cases whose names contain any of these texts, shrunk to at most ``max_bytes``."""
    wanted = texts(only)
    for name, fields in listed("cuda"):
        if any(text in name for text in wanted):
            case = Case(title=name, **fields)
            yield shrunk(case, max_bytes) if max_bytes and case.in_python else case
