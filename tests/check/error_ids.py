#!/usr/bin/env python3
"""error_ids.py ROOT [--list]: the ids of errors (src/base/include/base/error.h).

Every id has its form, belongs to a family that docs/errors.md lists, and is used
in one file only, or with one wording; an error that is raised again keeps its own
(lab_error_keep()); in the folders below, whatever a user's input
can cause has one.
--list prints them: id, file, wording."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
COMPLETE = ("base", "lesson", "debug", "cli", "report", "bench", "store", "engine",
            "ui", "sim", "simcuda", "cuda", "profiler")
CODES = "USAGE PARSE RANGE NOTFOUND IO DB SHAPE STATE".split()
# Texts of their own, with an error in them.
REASONS = {("src/engine/backend/cuda_load.c", "reason"),
           ("src/engine/backend/backend_sim.c", "reason")}
LITERAL = r'"(?:\\.|[^"\\\n])*"'
CALLS = r"lab_(?:fail|build_fail\w*|network_fail|config_fail|findings_\w+)|refuse"

places = collections.defaultdict(list)  # id: (file, wording)
wrong = []
sources = [path for folder in ("src", "kernels") for path in (root / folder).rglob("*.c*")]
for path in sorted(sources):
    name = str(path.relative_to(root))
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for found in re.finditer(r'"\[([a-z0-9.-]+)\] ', text):
        literals = re.match(rf"(?:{LITERAL}\s*)+", text[found.start():]).group()
        wording = "".join(s[1:-1] for s in re.findall(LITERAL, literals))
        places[found.group(1)].append((name, wording.split("] ", 1)[1]))
    # A copy of lab_error(): its id is lost where it is raised again as a text.
    kept = {"lab_error()"} | set(re.findall(
        r'\b(?:snprintf|lab_str_add)\(\s*&?([\w>.-]+),[^;]*?\blab_error\(\)', text))
    for call in re.finditer(r'\blab_fail\([^;{]*?,\s*"%s",\s*(?:lab_str_text\(&)?'
                            r"([\w>.-]+(?:\(\))?)\)", text):
        raised = call.group(1)
        if raised in kept and (name, raised) not in REASONS:
            wrong.append(f"{name}: its id is lost, take lab_error_keep(): {call.group()}")
    if name.startswith("src/") and name.split("/")[1] not in COMPLETE:
        continue
    # Its text would come without an id; options.c defines lab_usage_error().
    if name != "src/debug/options.c" and re.search(r"\bargp_error\(", text):
        wrong.append(f"{name}: argp_error(): take lab_usage_error()")
    # The format of a call: its first literal before the call's end.
    for call in re.finditer(rf"\b(?:{CALLS})\([^;{{]*?LAB_E_(\w+)[^;\"]*?({LITERAL})", text):
        if call.group(1) in CODES and not call.group(2).startswith(('"[', '"%s"')):
            wrong.append(f"{name}: no id: {call.group(2)}")

if "--list" in sys.argv:
    for name, uses in sorted(places.items()):
        for file, wording in uses:
            print(f"{name}  {file}  {wording}")
    sys.exit(0)

families = set(re.findall(r"^\| `([a-z-]+)`", (root / "docs/errors.md").read_text(), flags=re.M))
for name, uses in sorted(places.items()):
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", name) or len(name) > 47:
        wrong.append(f"{name}: not words with dots between, of 47 bytes at most")
    if len({file for file, _ in uses}) > 1 and len({wording for _, wording in uses}) > 1:
        wrong.append(f"{name} is in {' and '.join(sorted({f for f, _ in uses}))}")
    if name.split(".")[0] not in families:
        wrong.append(f"{name}: docs/errors.md has no family {name.split('.')[0]}")
for family in sorted(families - {name.split(".")[0] for name in places}):
    wrong.append(f"docs/errors.md: no error of the family {family}")
print("\n".join(wrong) or f"{len(places)} ids")
sys.exit(bool(wrong) or len(places) < 500)
