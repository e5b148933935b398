#!/usr/bin/env python3
"""endless_kernel.py MODULE OUT KERNEL -- copies lapenna-lab-sim.so with one of its
kernels changed to one that never ends: the module holds PTX as text, and the second
line with a place in the source becomes a jump to itself. KERNEL is a regular expression:
clang writes _ZL where nvcc has _Z."""
import re
import sys

module, out, kernel = sys.argv[1:]
data = bytearray(open(module, "rb").read())
found = re.search(rb"\.entry " + kernel.encode() + rb"\(", data)
if not found:
    sys.exit(f"no kernel is called {kernel}")
start = found.start()
end = data.index(b"\n}\n", start)
places = [m for m in re.finditer(rb"\n\s*\.loc\s[^\n]*", data[start:end])]
at = places[1]
jump = b"\n$E:bra $E;"
room = at.end() - at.start()
if len(jump) > room:
    sys.exit("the line of the place is too short for a jump")
data[start + at.start():start + at.end()] = jump + b" " * (room - len(jump))
with open(out, "wb") as f:
    f.write(data)
