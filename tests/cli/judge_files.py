"""judge_files.py JUDGE: judge.py on numbers that are not finite and on broken files."""
import pathlib
import struct
import subprocess
import sys
import tempfile

NAN, INF = float("nan"), float("inf")
judge = sys.argv[1]
top = pathlib.Path(tempfile.mkdtemp(dir="."))
wrong = []


def npy(numbers, descr="'<f8'", head=None):
    head = head or f"{{'descr': {descr}, 'fortran_order': False, 'shape': ({len(numbers)},)}}"
    text = head.encode() + b"\n"
    return (b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text
            + struct.pack(f"<{len(numbers)}d", *numbers))


def expect(what, status, ours, yours, *more):
    for name, data in (("ours", ours), ("yours", yours)):
        (top / name).mkdir(exist_ok=True)
        (top / name / "t.npy").write_bytes(data)
    done = subprocess.run([sys.executable, judge, top / "ours", top / "yours", *more],
                          capture_output=True, text=True, check=False)
    if done.returncode != status or "Traceback" in done.stderr:
        wrong.append(f"{what}: exit {done.returncode}, not {status}: "
                     f"{done.stdout}{done.stderr}")


good = npy([1.0])
expect("behind an infinity", 1, npy([INF, 1.0]), npy([INF, 5.0]))
expect("the same infinity", 0, npy([INF, 1.0]), npy([INF, 1.0]))
expect("the other infinity", 1, npy([INF, 1.0]), npy([-INF, 1.0]))
expect("an infinity of one", 1, npy([1.0]), npy([INF]))
expect("a NaN first, large numbers", 0, npy([NAN, 1e9]), npy([NAN, 1e9 + 1]))
expect("a NaN first, small numbers", 1, npy([NAN, 1e-9]), npy([NAN, 2e-9]))
expect("a NaN of one", 1, npy([NAN]), npy([1.0]))
expect("6 bytes", 3, good, b"\x93NUMPY")
expect("a structured dtype", 3, good, npy([1.0], descr="[('a', '<f8')]"))
for head in ("[1]", "{}", "5", "{", "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
             "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "{[]: 1}",
             "(" * 3000, "a\0b"):
    expect(f"the header {head[:20]}", 3, good, npy([1.0], head=head))
expect("a tolerance", 2, good, good, "abc")
print("\n".join(wrong))
sys.exit(bool(wrong))
