"""Compares your network's tensors with this program's.

    python3 judge.py OURS YOURS [TOLERANCE]

OURS is the directory that `lapenna-lab step LESSON --npy OURS` wrote, YOURS one with
.npy files of the same names; those that you have not written are left out. Prints the
largest difference of each, relative to the largest finite number, in the order of the
steps: parameters after their update come last. An infinity or a NaN must be in both. Needs no NumPy. Exit status: 0 all agree, 1 some do not, 2 a wrong
command line, 3 a file that cannot be read.
"""
import ast
import math
import pathlib
import struct
import sys

KINDS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}


def read(path):
    """Shape and numbers of a .npy file, version 1 or 2, row by row."""
    data = path.read_bytes()
    if len(data) < 12 or data[:6] != b"\x93NUMPY" or data[6] not in (1, 2):
        raise ValueError("no .npy file of version 1 or 2")
    size = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + size], "little")
    start = 8 + size + length
    try:
        head = ast.literal_eval(data[8 + size:start].decode("latin-1").strip())
        descr, by_columns = head["descr"], head["fortran_order"]
        shape = head["shape"]
        plain = isinstance(shape, tuple) and all(type(v) is int and v >= 0 for v in shape)
    except (SyntaxError, ValueError, KeyError, TypeError, MemoryError, RecursionError):
        plain = False
    if not plain:
        raise ValueError("its header is no description of an array")
    if not isinstance(descr, str) or descr not in KINDS:
        raise ValueError(f"numbers of type {descr}: save float32 or "
                         "float64, as in a.astype('float32')")
    if by_columns and len(shape) > 1:
        raise ValueError("by columns: save numpy.ascontiguousarray(a)")
    count = 1
    for side in shape:
        count *= side
    kind = KINDS[descr]
    if len(data) - start != count * struct.calcsize(kind):
        raise ValueError("cut short")
    return shape, struct.unpack(f"<{count}{kind}", data[start:])


def difference(ours, yours):
    """Of two lists of numbers, over the largest finite one of the first."""
    most = max((abs(v) for v in ours if math.isfinite(v)), default=0.0)
    off = 0.0
    for a, b in zip(ours, yours):
        if math.isfinite(a) and math.isfinite(b):
            off = max(off, abs(a - b))
        elif a != b and not (a != a and b != b):  # NaN beside NaN agrees
            return math.inf
    return off / most if most > 0 else off


def place(path):
    """In the order in which the files were written; a parameter has a file of before."""
    updated = path.with_name(path.name[:-4] + ".before.npy").exists()
    return updated, path.stat().st_mtime_ns, path.name


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    ours, yours = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    try:
        tolerance = float(sys.argv[3]) if len(sys.argv) == 4 else 1e-5
    except ValueError:
        print(f"TOLERANCE {sys.argv[3]} is no number", file=sys.stderr)
        sys.exit(2)
    names = [p.name for p in sorted(ours.glob("*.npy"), key=place)
             if (yours / p.name).exists()]
    if not names:
        print(f"{yours}: no file has the name of one in {ours}", file=sys.stderr)
        sys.exit(3)
    wrong = 0
    for name in names:
        try:
            shape, a = read(ours / name)
            other, b = read(yours / name)
        except (OSError, ValueError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            sys.exit(3)
        if shape != other:
            print(f"{name[:-4]:20} shape {list(other)}, not {list(shape)}")
            wrong += 1
            continue
        off = difference(a, b)
        bad = not off <= tolerance
        wrong += bad
        print(f"{name[:-4]:20} {off:.2g}{'   WRONG' if bad else ''}")
    print(f"{len(names) - wrong} of {len(names)} agree within {tolerance:g}")
    sys.exit(1 if wrong else 0)


main()
