# shellcheck shell=sh
# The runs that ship with the program: there, whole, from the GPU they name, and
# only read, from a directory without the right to write too.
command -v python3 >/dev/null || exit 77
[ -f "$LAB_SOURCE_DIR/profiles/recorded/h200.db" ] || exit 77 # not made yet

run profile list --recorded --json
expect_exit 0
python3 - "$out" <<'P' || complain "the recorded runs are not what they should be"
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
lessons = {r["lesson"] for r in runs}
assert len(runs) >= 40, len(runs)
assert {"mlp-digits", "cnn-digits", "lstm-example", "lstm-text",
        "multi-head"} <= lessons, lessons
assert {"lab-gemm", "lab-saxpy", "lab-transpose"} <= lessons, lessons
assert all(r["backend"] == "cuda" for r in runs)
assert all(r["device"] == "NVIDIA H200" for r in runs)
P
run profile show --recorded last
expect_exit 0
grep -q 'NVIDIA H200' "$out" || complain "show does not name the device"
run profile kernels --recorded last --json
expect_exit 0
grep -q '"type":"kernel"' "$out" || complain "a recorded run has no kernels"
run profile roofline --recorded last
expect_exit 0

# A lab without a GPU shows them beside the CPU's own.
run lab lab-gemm --backend cpu --sizes 33 --repeat 20
expect_exit 0
expect_stdout 'recorded on NVIDIA H200, run '

run profile delete --recorded 1
expect_exit 2
run profile list --recorded --db other.db
expect_exit 2

run profile import "$LAB_SOURCE_DIR/profiles/recorded/h200.db" --db mine.db
expect_exit 0
run profile list --db mine.db --json
expect_exit 0
grep -q 'NVIDIA H200' "$out" || complain "import brought no recorded run"
