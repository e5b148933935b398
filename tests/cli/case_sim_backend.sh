# shellcheck shell=sh
# The CUDA kernels on a GPU inside the program: the CPU's values, launches with grid
# and block and without times, a device model, and what is refused.
db=$work/runs.db
inline_lesson small

# A word that is wrong is wrong with and without the module.
exits 2 step small.md --backend sim --device-model 'NVIDIA H2000' --json
expect_stderr "no device model 'NVIDIA H2000': there are \"NVIDIA H200\","

# Without machine code for it the kernels' table reports it.
run lab gemm_int8 --backend sim --device-model a100 --sizes 32
if grep -q 'int8_imma .* n/a ' "$out"; then
    expect_stdout 'registers and occupancy n/a: '
fi

# A lab that is not simulated has no model.
exits 2 lab saxpy --backend cpu --sizes 1000 --device-model 'NVIDIA A100'
expect_stderr 'needs --backend sim'

for command in step run; do
    exits 2 $command small.md --device-model 'NVIDIA T4' --db "$db"
    expect_stderr 'needs --backend sim'
done

run doctor --db "$db"
if ! grep -q '^simulator  *ok' "$out"; then
    exits 4 step small.md --backend sim
    expect_stderr 'Remedy: put nvcc of CUDA 12 or later on PATH or install clang'
    finish
fi
grep -q 'the CUDA kernels on NVIDIA H200 (simulated)' "$out" ||
    complain "doctor does not name the device"
cp "$out" doctor

# A variant of an op that is here, for steps that are not.
exits 4 step "$LAB_SOURCE_DIR/tests/golden/lessons/vii_sgd.md" --backend sim \
    --variant '*=split'
expect_stderr "variant 'split' is for steps that this network does not have"

# Every value of an iteration, within the tolerance.
exits 0 step small.md --json --backend cpu --variant '*=naive'
cp "$out" cpu
exits 0 step small.md --json --backend sim
expect_no_stderr
expect_json "FILE2=$work/cpu" \
    'len(rows) == len(other)' \
    'all(s["backend"] == "sim" and s["time_ns"] is None for s in of("step"))' \
    '[s["name"] for s in of("step")] ==
     [s["name"] for s in other if s["type"] == "step"]' \
    'all(abs(a - b) <= 1e-5 * (1 + abs(b))
         for s, t in zip(of("step"), [r for r in other if r["type"] == "step"])
         for o, p in zip(s["outputs"], t["outputs"])
         for a, b in zip(numbers(o["data"]), numbers(p["data"])))' \
    'abs(one("end")["loss"] - other[-1]["loss"]) <= 1e-5'
# The same bits again, and with one thread.
cp "$out" first
run step small.md --json --backend sim --threads 1
expect_json "FILE2=$work/first" 'same(rows, other)'

# Recorded like any run, marked as simulated, with each launch and no time.
exits 0 run small.md --backend sim --iterations 3 --db "$db" --json
exits 0 profile show 1 --db "$db"
expect_stdout 'NVIDIA H200 (simulated)'
expect_stdout 'iteration        n/a: a simulation has no times'
expect_stdout 'counted by simulation, which has no times'
exits 0 profile kernels 1 --db "$db" --json
expect_json 'any("dense" in r["name"] for r in of("kernel"))' \
    'all(r["counted_by"] == "simulation" and r["start_ns"] is None and
         r["ptx_warp_instructions"] > 0 and 0 < r["lanes_active"] <= 32
         for r in of("kernel"))' \
    'len({r["iteration"] for r in of("kernel")}) == 3'

# What was counted is in place of times: the FLOP of a product are its formula's.
run profile show 1 --db "$db" --json
expect_json 'one("run")["counters"] == "simulated"' \
    'one("run")["iteration_median_ns"] is None' \
    'all(s["median_ns"] is None and s["load_sectors"] >= s["load_requests"]
         for s in of("step"))' \
    'all(s["counted_flop"] == s["flop"] and s["counted_by"] == "simulation"
         for s in of("step") if "matmul" in s["name"])'
run run small.md --backend cpu --iterations 3 --db "$db" --variant '*=naive'
exits 0 profile compare 2 1 --db "$db"
expect_stdout 'What was counted'
expect_stdout 'run 1 counted by simulation'
expect_stdout 'no part is known in run 1 (it was simulated, and has no times)'
run profile compare 2 1 --db "$db" --json
expect_json 'all(r["verdict"] in ("unknown", "only b") for r in of("comparison"))' \
    'all(r["run_b"]["counted"]["counted_by"] == "simulation"
         for r in of("comparison") if r["level"] == "step")'
# Of two simulated runs what was counted is all there is.
run run small.md --backend sim --iterations 1 --db "$db"
exits 0 profile compare 1 3 --db "$db"
expect_stdout 'What was counted'
expect_stdout 'run 1 counted by simulation, run 3 counted by simulation'
expect_stdout 'no part is known in either run (it was simulated, and has no times)'
grep -Eq 'unknown|^Times|^sum of|Mann-Whitney' "$out" && complain 'rows without a number'
# Beside a card's run that ships: FLOP are those of the types that both counted, and equal.
exits 0 run mlp-digits --backend sim --variant '*=naive' --iterations 1 --db card.db
exits 0 profile import "$LAB_SOURCE_DIR/profiles/recorded/h200.db" --db card.db
run profile list --db card.db
naive=$(awk '$4 == "mlp-digits" && $5 == "naive" && $7 == "cuda" { print $1 }' "$out")
exits 0 profile compare 1 "$naive" --db card.db
awk -F '  +' '/^What was counted/ { on = 2 } /^$/ { on = 0 } on && on++ > 3 {
    if ($(NF - 5) != $(NF - 4)) print
    known += $(NF - 5) ~ /FLOP/
} END { if (known < 10) print known, "are known" }' "$out" >differ
[ ! -s differ ] || complain "FLOP beside a card's: $(cat differ)"
# A step behind a naive one has its own name: the node's is that of its first step.
exits 0 run mlp-digits --backend sim --iterations 1 --db digits.db
run profile show 1 --db digits.db --json
expect_json '[s["variant"] for s in of("step") if s["name"] == "fc1.matmul"
              and s["phase"] == "forward"] == ["naive"]' \
    '"fc1.bias=vector" in one("run")["variants"].split()' \
    '"fc1=" not in one("run")["variants"]'
for format in csv html; do
    exits 0 profile export 1 --db "$db" --format "$format" --output - --force
    expect_stdout 'simulation'
done
exits 0 profile export 1 --db "$db" --format trace --output -
grep -q '"ph":"X"' "$out" && complain 'a trace has times of a simulation'

# What has a time is not measured here.
exits 4 lab tune gemm --backend sim
expect_stderr 'a simulated GPU has none'
exits 0 lab scalar_add --backend sim --json
expect_json 'all(s["ns"] is None for s in of("lab_step"))' 'one("lab_sum")["c"] == 9'
exits 0 lab hello --backend sim
expect_stdout '100 threads, 100 lines'

# Registers as ptxas has counted them, and the occupancy that the device's limits give
# with them; without ptxas, or without code for the device, the reason.
grep -q 'registers and occupancy n/a: ' doctor || {
    run profile kernels 1 --db "$db" --json
    # Per SM: 64 warps, 32 blocks, 65536 registers in four parts that give them to
    # warps by 256, 228 KiB of shared memory of which a block takes 1 KiB more.
    expect_json 'all(0 < k["registers_per_thread"] <= 255 for k in of("kernel"))' \
        'all(abs(k["occupancy_pct"] - (lambda warps, a_warp, shared:
             100 / 64 * warps * min(64 // warps, 32, 16384 // a_warp * 4 // warps,
                                    233472 // shared))(
                 -(-k["block"][0] * k["block"][1] * k["block"][2] // 32),
                 -(-k["registers_per_thread"] * 32 // 256) * 256,
                 -(-(k["static_shared_bytes"] + k["dynamic_shared_bytes"] + 1024)
                   // 128) * 128)) < 0.01 for k in of("kernel"))'
}
run step small.md --backend sim --device-model 'NVIDIA A100'
if grep -q '^registers and occupancy n/a: ' "$out"; then
    expect_stdout 'n/a registers  occupancy n/a'
    exits 0 lab saxpy --backend sim --device-model 'NVIDIA A100' --sizes 1000
    expect_stdout 'registers and occupancy n/a: '
    run run small.md --backend sim --device-model 'NVIDIA A100' --iterations 1 --db a.db
    exits 0 profile kernels last --db a.db
    expect_stdout 'registers and occupancy: n/a where no ptxas has counted'
fi

# What was found is reported of a variant, too, that gives something back at its end.
exits 1 lab attention --backend sim --variants unfused --budget 1000 --json
expect_stdout '"type":"finding","check":"budget","kernel":"attention_product","launch":1,'

# A ladder: values, counts, and no time; a finding is exit code 1.
exits 0 lab saxpy --backend sim --db "$db" --sizes 1000 --json
expect_json 'all(r["status"] == "done" and r["median_ns"] is None and
                 r["check_error"] <= 1 for r in of("lab_row"))' \
    'all(r["counted"]["ptx_warp_instructions"] ==
         sum(k["counted"]["ptx_warp_instructions"] for k in of("lab_kernel")
             if k["place"] == r["place"]) for r in of("lab_row"))' \
    'len(of("lab_kernel")) >= len(of("lab_row"))' \
    'all(k["counted"]["counted_by"] == "simulation" and
         k["counted"]["load_requests"] > 0 for k in of("lab_kernel"))'
exits 0 lab saxpy --backend sim --db "$db"
expect_stdout 'a simulation has no times'
expect_stdout 'instructions  sectors/load  conflicts'
expect_stdout 'odd shapes, here: the largest error, in parts'
expect_stdout 'small sizes'
run profile show last --db "$db" --json
expect_json 'one("run")["counters"] == "simulated"' \
    'all(s["median_ns"] is None and s["ptx_warp_instructions"] > 0
         for s in of("step"))'
exits 0 profile roofline last --db "$db"
[ "$(grep -c 'no bound is known' "$out")" = 1 ] ||
    complain 'a sentence for each step that has no time'
# What is wrong on purpose is found, and no failure.
exits 0 lab stencil --backend sim --db "$db" --sizes 300 --json
expect_json 'any(f["check"] == "race" and f["kernel"] == "stencil_shared" and
                 f["file"] == "kernels/stencil/sums.cu" and f["wrong_on_purpose"]
                 for f in of("finding"))' \
    '[r["variant"] for r in of("lab_row") if r["status"] != "done"] == ["no_barrier"]'
exits 4 profile ceilings --backend sim
