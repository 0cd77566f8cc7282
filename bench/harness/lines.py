"""Records as JSON that stays small in a repository: one line per case."""

import json


def dumps(record):
    """The record with a line for each of its keys, and for each entry of a list of objects."""
    lines = []
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            entries = ",\n".join("  " + json.dumps(one) for one in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
