"""Records as tab-separated text that stays small in a repository: facts first, then one line per case."""


def number(value, digits=5):
    """At most this many significant digits, without an exponent."""
    if isinstance(value, int):
        return str(value)
    return f"{float(f'{value:.{digits}g}'):.9f}".rstrip("0").rstrip(".")


def dumps(facts, rows):
    """Facts as `# key: value`, then a table of the rows; a column for every key that some row has."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[str(row.get(column, "")) for column in columns] for row in rows]
    lines = [f"# {key}: {value}" for key, value in facts.items()]
    lines += ["\t".join(line).rstrip("\t") for line in [columns, *cells]]
    return "\n".join(lines) + "\n"


def loads(text):
    """The facts, and the rows without their empty cells; everything is text."""
    found = text.splitlines()
    facts = dict(line[2:].split(": ", 1) for line in found if line.startswith("# "))
    columns, *rows = (line.split("\t") for line in found if not line.startswith("# "))
    return facts, [{key: cell for key, cell in zip(columns, row, strict=False) if cell} for row in rows]
