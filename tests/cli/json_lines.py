#!/usr/bin/env python3
"""json_lines.py FILE [EXPRESSION...] -- checks JSON Lines as the program prints
them: every line one object with a "type" and the "format" that the program has now,
strict JSON, nothing after the last newline. Each EXPRESSION must then be true; it sees

    rows             all objects, in order
    of(TYPE)         those of a type
    one(TYPE)        the only one of a type
    numbers(data)    "data" of a tensor as floats ("nan", "inf", "-inf" too)
    same(a, b)       equal but for times, ids and dates

and math. FILE2=PATH as an expression reads a second file as `other`.
"""
import json
import math
import sys

# What may differ between two runs of the same seed.
VOLATILE = ("run", "started", "samples_per_s", "step_ms_median",
            "host_pct")

FORMAT = 1  # LAB_JSON_FORMAT


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text and not text.endswith("\n"):
        raise ValueError(f"{path}: the last line is not ended")
    rows = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            row = json.loads(line, parse_constant=refuse)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}: {line[:200]}")
        if not isinstance(row, dict) or not isinstance(row.get("type"), str):
            raise ValueError(f'{path}:{number}: no "type": {line[:200]}')
        if row.pop("format", None) != FORMAT:
            raise ValueError(f'{path}:{number}: no "format": {line[-200:]}')
        rows.append(row)
    return rows


def stable(row):
    if isinstance(row, list):
        return [stable(item) for item in row]
    if not isinstance(row, dict):
        return row
    return {key: stable(value) for key, value in row.items()
            if key not in VOLATILE and not key.endswith(("_ns", "_ms"))}


def numbers(data):
    for item in data:
        if isinstance(item, str) and item not in ("nan", "inf", "-inf"):
            raise ValueError(f"not a number: {item!r}")
    return [float(item) for item in data]


def main(path, *expressions):
    rows = load(path)

    def of(kind):
        return [row for row in rows if row["type"] == kind]

    def one(kind):
        found = of(kind)
        if len(found) != 1:
            raise ValueError(f"{len(found)} rows of type {kind}, not 1")
        return found[0]

    def same(a, b):
        return stable(a) == stable(b)

    names = {"rows": rows, "of": of, "one": one, "numbers": numbers,
             "same": same, "math": math}
    for text in expressions:
        if text.startswith("FILE2="):
            names["other"] = load(text[6:])
        elif not eval(f"({text}\n)", names):  # may run over several lines
            raise ValueError(f"not true: {text}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
