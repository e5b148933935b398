# shellcheck shell=sh
# A run on the screen: what if one of its kernels were launched otherwise, on a
# machine without a GPU, and why there is none to ask about.
command -v python3 >/dev/null || exit 77
inline_lesson small
run run small.md --backend cpu --iterations 2
expect_exit 0

# A run without kernels says why, and its timeline has steps.
play <<'END'
resize 80 24
key r
expect Runs (1)
key Enter
expect Run 1
text /fc1.matmul
key Enter
expect Kernels of fc1.matmul
key O
expect run 1 has no kernels: it ran on the CPU
key Tab
key Tab
key Enter
expect Facts (
expect seed 7
key Esc
key T
expect Timeline of run 1
key O
expect what if is asked of a kernel
END
expect_exit 0

[ -f "$LAB_SOURCE_DIR/profiles/recorded/h200.db" ] || exit 77 # not made yet

# The newest recorded run of a lesson with its own variants, and the kernel of a step that has one, has a
# name that no other step has a part of, and has room for more threads.
run profile list --recorded --json
expect_exit 0
newest=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["kind"] == "lesson" and r["trace"] == "on"][0])' "$out")
run profile kernels --recorded "$newest" --json
expect_exit 0
python3 - "$out" >facts <<'P' || complain "no kernel to ask about"
import json, sys
rows = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "kernel"]
last = [r for r in rows if r["iteration"] == rows[-1]["iteration"]]
k = [r for r in last if sum(r["step"] in o["step"] for o in last) == 1
     and r["block"][0] * r["block"][1] * r["block"][2] < 1024][0]
threads = k["block"][0] * k["block"][1] * k["block"][2]
print(k["run"], threads, k["registers_per_thread"],
      "%.1f" % k["occupancy_pct"], k["step"])
P
read -r id threads registers occupancy step <facts
play <<END
resize 80 24
key P
expect Recorded runs
text /$id
key Enter
key Enter
expect Run $id
text /$step
key Enter
key O
expect on NVIDIA H200
expect > threads a block$(printf '%18s' "$threads")   as it ran
expect registers a thread$(printf '%15s' "$registers")   as it ran
expect occupancy $occupancy %
expect counted:
key Right
expect it ran with $threads
key r
absent it ran with
key Esc
expect Run $id
key a
expect Kernels of all steps
key Tab
key Enter
expect on NVIDIA H200
key Esc
key T
expect Timeline of run $id
key O
expect what if is asked of a kernel
key Enter
expect ══ What
key O
expect > threads a block$(printf '%18s' "$threads")   as it ran
key Esc
expect ══ What
END
expect_exit 0

# Launches that differ: the newest one, and it is said. A reduction's second
# launch adds up what the first one's blocks have left.
play <<'END'
resize 80 24
key P
text /lab-reduction
key Enter
key Enter
key a
key Tab
text /sum_shuffle
key Enter
key n
key O
expect on NVIDIA H200; the newest of 2 launches, which differ
END
expect_exit 0

# A sweep has neither steps nor kernels, and its timeline says so.
run profile list --recorded --json
expect_exit 0
sweep=$(python3 - "$out" <<'P'
import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["lesson"] == "products"][0])
P
)
play <<END
resize 80 24
key P
text /products (lab)
key Enter
key T
expect run $sweep has no steps and no kernels: a sweep times whole iterations
expect Recorded runs
key Enter
key O
expect run $sweep has no steps and no kernels: a sweep times whole iterations
END
expect_exit 0

# What another tool recorded has kernels of no step, and the limits of its GPU.
run profile export --recorded "$id" --format nsys --output nsys.sqlite
expect_exit 0
run profile import nsys.sqlite --db imported.db
expect_exit 0
play --db imported.db <<END
resize 80 24
key r
expect Runs (1)
key Enter
expect This run has no steps.
absent none: this run has no steps
expect ── Kernels ──
key O
expect on NVIDIA H200
expect warps on an SM
key Esc
key Enter
expect ══ Kernels ══
END
expect_exit 0

# A walk with pauses: its timeline shows the steps, not how long the reader
# thought, and says so. A run without them is as it was.
printf '0,1,0\n1,0,1\n0,0,1\n1,1,0\n' >walk.csv
lesson walk <<'END'
---
format: 1
title: A walk
data: {source: csv, path: walk.csv, batch: 2}
network: [{id: fc1, op: dense, units: 2}]
loss: {op: softmax_cross_entropy}
---
Text.
END
play walk.md --backend cpu --db walk.db <<'END'
resize 100 30
await 60000 fc1.matmul
key s
wait 300
key s
wait 300
key c
wait 300
END
expect_exit 0
run run walk.md --backend cpu --iterations 3 --db walk.db
expect_exit 0
play --db walk.db <<'END'
resize 100 30
key r
expect Runs (2)
key T
expect Timeline of run 2
absent pauses
key q
key Down
key T
expect Timeline of run 1
expect of pauses not drawn)
expect ≈
expect [fc1
END
expect_exit 0
