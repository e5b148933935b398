#!/usr/bin/env python3
"""units.py ROOT -- a real number with a unit behind it is formatted by base/format.h.

In src, a format of a real number (%.3g) is followed by no unit that base/format.h writes:
bytes, seconds, FLOP, hertz, joules, watts, their rates. Integers are exact: limits.
"""
import pathlib
import re
import sys

UNIT = re.compile(r"%[-+ 0#]*[\d*]*(?:\.[\d*]+)?[fFeEgG] ?(?:[kKMGTP]i?|[mun])?"
                  r"(?:B|s|Hz|J|W|T?OP|FLOP)(?:/s)?(?![\w/])")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')

root = pathlib.Path(sys.argv[1])
wrong = 0
for path in sorted((root / "src").rglob("*.[ch]")):
    if path.match("src/base/format.c"):
        continue
    for at, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for found in (m for text in LITERAL.finditer(line) for m in UNIT.finditer(text[0])):
            print(f"{path.relative_to(root)}:{at}: {found[0]}: "
                  "use LAB_NS_TEXT, LAB_BYTES_TEXT, LAB_AMOUNT_TEXT ... (base/format.h)")
            wrong = 1
sys.exit(wrong)
