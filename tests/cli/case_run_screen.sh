# shellcheck shell=sh
# A run on the screen: what if one of its kernels were launched otherwise, on a
# machine without a GPU, and why there is none to ask about.
command -v python3 >/dev/null || exit 77
inline_lesson small

# Without runs there is none to show small.
play <<'END'
resize 200 60
key r
expect No runs yet
absent Facts
END

exits 0 run small.md --backend cpu --iterations 2

# A run without kernels reports why, and its timeline has steps.
play <<'END'
resize 80 24
key r
expect Runs (1)
key Enter
expect Run 1
enter /fc1.matmul
expect Kernels of fc1.matmul
key O
expect run 1 has no kernels: it ran on the CPU
key Tab Tab Enter
expect Facts (
expect seed 7
key Esc T
expect Timeline of run 1
key O
expect what if is asked of a kernel
END

# On a large screen the column of the kernels, which there are none of, has what bounds the
# step, and the picture's rows are those of its three levels, to the last: these have edges.
exits 0 run mlp-digits --backend cpu --iterations 2
play <<'END'
resize 200 60
key r
expect Runs (2)
expect Run 2 mlp-digits
expect machine       cpu on
await 5000 Steps that take longest
expect Time by phase
expect Nodes as they run
screen list.txt
key Down
await 5000 Run 1 small
key Enter
expect Run 1
key Esc Up Enter
expect Run 2
expect  n/a ── What bounds
expect Where the time goes: nodes, steps, kernels
screen run.txt
END
tail -n 3 run.txt | head -n 1 | grep -q '▕▏' || complain 'empty rows below the picture'

[ -f "$LAB_SOURCE_DIR/profiles/recorded/h200.db" ] || exit 77 # not made yet

# The newest recorded run of a lesson with its own variants, and the kernel of a step that has one, has a
# name that no other step has a part of, and has room for more threads.
exits 0 profile list --recorded --json
newest=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["kind"] == "lesson" and r["trace"] == "on"][0])' "$out")
exits 0 profile kernels --recorded "$newest" --json
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
enter /$id
key Enter
expect Run $id
enter /$step
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
key Tab Enter
expect on NVIDIA H200
key Esc T
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

# Launches that differ: the newest one, and it is reported. A reduction's second
# launch adds up what the first one's blocks have left.
play <<'END'
resize 80 24
key P
enter /lab-reduction
key Enter a Tab
enter /sum_shuffle
key n O
expect on NVIDIA H200; the newest of 2 launches, which differ
END

# By lesson, so that those to compare stand together.
exits 0 profile list --recorded --json
first=$(python3 - "$out" <<'P'
import json, sys
print(min((json.loads(r)["lesson"] for r in open(sys.argv[1])), key=str.lower))
P
)
play <<END
resize 80 24
key P
expect lesson▲
key Enter
expect $first
END

# A sweep has neither steps nor kernels, and its timeline reports it.
exits 0 profile list --recorded --json
sweep=$(python3 - "$out" <<'P'
import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["lesson"] == "products"][0])
P
)
play <<END
resize 80 24
key P
enter /products (lab)
key T
expect run $sweep has no steps and no kernels: a sweep times whole iterations
expect Recorded runs
key Enter O
expect run $sweep has no steps and no kernels: a sweep times whole iterations
END

# What another tool recorded has kernels of no step, and the limits of its GPU.
exits 0 profile export --recorded "$id" --format nsys --output nsys.sqlite
exits 0 profile import nsys.sqlite --db imported.db
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
key Esc Enter
expect ══ Kernels ══
END

# A walk with pauses: its timeline shows the steps, not how long the reader
# thought, and reports it. A run without them is as it was.
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
exits 0 run walk.md --backend cpu --iterations 3 --db walk.db
play --db walk.db <<'END'
resize 100 30
key r
expect Runs (2)
key T
expect Timeline of run 2
absent pauses
key q Down T
expect Timeline of run 1
expect of pauses not drawn)
expect ≈
expect ▏fc1
END
