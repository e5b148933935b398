"""npy_files.py DIR STEPS: the .npy files of DIR against `step --json`'s lines."""
import ast
import json
import pathlib
import struct
import sys


def load(path):
    """Shape and flat numbers of a file of format 1.0."""
    raw = path.read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00", path
    (length,) = struct.unpack("<H", raw[8:10])
    assert (10 + length) % 64 == 0 and raw[9 + length] == 10, path
    head = ast.literal_eval(raw[10:10 + length].decode())
    assert head["fortran_order"] is False
    code = {"<f4": "f", "<f8": "d", "<i4": "i"}[head["descr"]]
    body = raw[10 + length:]
    count = 1
    for n in head["shape"]:
        count *= n
    return list(head["shape"]), list(struct.unpack(f"<{count}{code}", body))


folder = pathlib.Path(sys.argv[1])
files = {p.name[:-4]: load(p) for p in folder.iterdir()}
assert all(p.suffix == ".npy" for p in folder.iterdir())
written = {}
for line in open(sys.argv[2]):
    row = json.loads(line)
    for t in row.get("outputs", []):
        written[t["name"]] = (t["shape"], t["data"])
assert written, "no tensor in the lines"
for name, (shape, data) in written.items():
    got_shape, got = files[name]
    assert got_shape == shape, name
    assert got == [float(v) for v in data], name
assert {"x", "y"} <= set(files)
assert {"fc1.W.before", "fc2.b.before"} <= set(files)
assert files["fc1.W.before"] != files["fc1.W"]
print(len(files), "files")
