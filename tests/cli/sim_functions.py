"""What functions.cu computes, by Python: sim_functions.py JSON compares. Prints each column
that differs; exit code 1. `--args FOLDER` writes the inputs."""
import fractions
import json
import math
import struct
import sys

# Two with a length beyond the largest; NaN beside an infinity, beside numbers and zero.
FLOATS = [0.0, -0.0, 1.0, -2.5, 3e38, 3e38, 1e-40, 0.1, 6.5, math.inf, math.nan, -7.25, 1e10,
          -math.inf, 1e-38, math.nan]
DOUBLES = [0.0, -0.0, 1.0, -2.5, 1.7e308, 1.7e308, 1e-310, 0.1, 6.5, math.inf, math.nan,
           -7.25, 1e10, -math.inf, 2.3e-308, math.nan]
WHOLE = [0, -1, 1, 2147483647, -2147483648, 0x01FF7F80, 0x12345678, -7, 150, -149, 1074,
         -2000, 1023, -1022, 0x7F80FF01, 127]
N = len(WHOLE)


def single(v):
    try:
        return struct.unpack("<f", struct.pack("<f", v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def next_single(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b
    if a == 0:
        return math.copysign(2.0 ** -149, b)
    bits = struct.unpack("<i", struct.pack("<f", a))[0]
    bits += 1 if (a < b) == (a > 0) else -1
    return struct.unpack("<f", struct.pack("<i", bits))[0]


def scaled(a, n):
    try:
        return math.ldexp(a, n)
    except OverflowError:
        return math.copysign(math.inf, a)


def exponent(a):
    if a == 0 or math.isnan(a):
        return -2147483648
    return 2147483647 if math.isinf(a) else math.frexp(a)[1] - 1


def fraction(a):
    return math.frexp(a) if math.isfinite(a) else (a, None if math.isnan(a) else 0)


def parts(a):
    whole = math.copysign(float(math.trunc(a)), a) if math.isfinite(a) else a
    return (math.copysign(0.0, a) if whole == a else a - whole), whole


def remquo(a, b):
    if b == 0 or math.isinf(a) or math.isnan(a) or math.isnan(b):
        return math.nan, None
    r = math.remainder(a, b)
    if math.isinf(b):
        return r, 0
    q = int((fractions.Fraction(a) - fractions.Fraction(r)) / fractions.Fraction(b))
    return r, (-(-q & 7) if q < 0 else q & 7) & 7


def rounded(exact, up, nearest, step):
    """The neighbour of `exact`, a Fraction, in one direction, from the nearest one."""
    if math.isinf(nearest):
        most = sys.float_info.max
        return nearest if (nearest > 0) == up else math.copysign(most, nearest)
    if up and fractions.Fraction(nearest) < exact:
        return step(nearest, math.inf)
    if not up and fractions.Fraction(nearest) > exact:
        return step(nearest, -math.inf)
    return nearest


def nearest_of(exact):
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def add(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    exact = fractions.Fraction(a) + fractions.Fraction(b)
    return a + b if exact == 0 else rounded(exact, True, nearest_of(exact), math.nextafter)


def multiply(a, b):
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b
    exact = fractions.Fraction(a) * fractions.Fraction(b)
    return rounded(exact, False, nearest_of(exact), math.nextafter)


def root_down(a):
    if a == 0 or not math.isfinite(a):
        return a
    near = single(math.sqrt(a))
    return next_single(near, -math.inf) if fractions.Fraction(near) ** 2 > a else near


def add_to_zero(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    exact = fractions.Fraction(a) + fractions.Fraction(b)
    near = single(nearest_of(exact))
    if abs(fractions.Fraction(near) if math.isfinite(near) else 2 ** 200) > abs(exact):
        near = next_single(near, 0.0)
    return near


def lanes(a, b, bits, signed, of):
    out = 0
    for k in range(0, 32, bits):
        x, y = ((v >> k) & ((1 << bits) - 1) for v in (a & 0xFFFFFFFF, b & 0xFFFFFFFF))
        if signed:
            x, y = (v - (1 << bits) if v >> (bits - 1) else v for v in (x, y))
        out |= (of(x, y) & ((1 << bits) - 1)) << k
    return out


def clamp(v):
    return max(-128, min(127, v))


def within(a, most):
    return -most if math.isnan(a) else max(min(a, most), -most)


def inverse_length(*of):
    """1 / hypot, where hypot is beyond the largest number too."""
    k = 2.0 ** -10 if any(abs(a) > 1e300 for a in of) else 1.0
    length = math.hypot(*(a * k for a in of))
    return k / length if length else math.inf


def lengths(x, z, z2, v, w, w2):
    f = lambda a: ("float", single(a))
    d = lambda a: ("double", a)
    return [
        f(math.hypot(x)), f(math.hypot(x, z, z2)), f(math.hypot(x, z)),
        f(math.hypot(x, z, z2, 0.5)), f(inverse_length(x, z)), f(inverse_length(x, z, z2)),
        f(inverse_length(x, z, z2)), f(inverse_length(x, z, z2, 0.5)),
        f(inverse_length(x, z)),
        d(math.hypot(v)), d(math.hypot(v, w, w2)), d(math.hypot(v, w)),
        d(math.hypot(v, w, w2)), d(inverse_length(v, w)), d(inverse_length(v, w, w2)),
        d(inverse_length(v, w, w2)), d(inverse_length(v, w, w2, 0.5)),
        d(inverse_length(v, w))]


def third_bit(mask):
    found = [k for k in range(32) if mask >> k & 1]
    return found[2] if len(found) > 2 else -1


def away(v):
    return int(math.copysign(math.floor(abs(v) + 0.5), v))


def row(t):
    f, d = [single(v) for v in FLOATS], DOUBLES
    x, z, v, w = f[t], f[(t + 1) % N], d[t], d[(t + 1) % N]
    i, j = WHOLE[t], WHOLE[(t + 1) % N]
    rest = lambda a, n: int(math.fmod(a, n))
    r, q = remquo(x, z)
    rd, qd = remquo(v, w)
    return [
        *fraction(x), *fraction(v),
        *parts(x), *parts(v), exponent(x), exponent(v), next_single(x, z),
        math.nextafter(v, w), single(scaled(x, rest(i, 200))), scaled(v, rest(i, 2200)),
        r, q, rd, qd, away(within(x, 1e9)), round(within(v, 1e9)),
        ("float", single(math.hypot(x, z, 0.5))), ("double", math.hypot(v, w, 0.5, 2.0)),
        add(v, w), multiply(v, w),
        root_down(abs(x)), add_to_zero(x, z), v,
        lanes(i, j, 8, False, lambda a, b: a + b), lanes(i, j, 16, True, max),
        lanes(i, j, 8, False, lambda a, b: -1 if a > b else 0),
        lanes(i, j, 8, False, lambda a, b: abs(a - b)),
        lanes(i, j, 16, True, lambda a, b: (a + b + (a + b >= 0)) >> 1),
        lanes(i, j, 8, True, lambda a, b: clamp(a + b)),
        sum(abs((i >> k & 255) - (j >> k & 255)) for k in (0, 8, 16, 24)),
        third_bit(i & 0xFFFFFFFF), (i + j) >> 1, (i + j + 1) >> 1,
        (abs(i - j) + 7) & 0xFFFFFFFF, ((i << 40) + (1 << 63)) % (1 << 64) - (1 << 63),
        1, 1, N // 2, 0.0, x, *lengths(x, z, f[(t + 2) % N], v, w, d[(t + 2) % N])]


def expected():
    rows = [row(t) for t in range(N)]
    for t, one in enumerate(rows):
        k = 38
        high = lambda a: (a + (1 << 63)) % (1 << 64) - (1 << 63)
        one[k] = (one[k] * high(WHOLE[(t + 1) % N] << 30)) >> 64
    return rows


# What a value may differ by: of itself, and where it is subnormal.
NEAR = {"float": (4e-7, 2.0 ** -148), "double": (1e-15, 2.0 ** -1073)}


def same(got, want):
    part, least = NEAR[want[0]] if isinstance(want, tuple) else (0, 0)
    want = float(want[1] if part else want)
    got = float(got)
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if part and math.isfinite(want):
        return abs(got - want) <= part * abs(want) + least
    return got == want and (got != 0 or math.copysign(1, got) == math.copysign(1, want))


def write(path, letter, values):
    kind = {"f": "<f4", "d": "<f8", "i": "<i4"}[letter]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        out.write(struct.pack(f"<{len(values)}{letter}", *values))


def main():
    if sys.argv[1] == "--args":
        write(sys.argv[2] + "/f.npy", "f", [single(v) for v in FLOATS])
        write(sys.argv[2] + "/d.npy", "d", DOUBLES)
        write(sys.argv[2] + "/a.npy", "i", WHOLE)
        print(N)
        return 0
    with open(sys.argv[1], encoding="utf-8") as text:
        lines = [json.loads(line) for line in text]
    data = [r["data"] for r in lines if r["type"] == "output"][0]
    wrong = 0
    for t, want in enumerate(expected()):
        for k, one in enumerate(want):
            got = data[t * len(want) + k]
            if one is not None and not same(got, one):
                print(f"thread {t}, column {k}: {got}, expected {one}")
                wrong += 1
    return 1 if wrong or len(data) != N * len(expected()[0]) else 0


if __name__ == "__main__":
    sys.exit(main())
