# shellcheck shell=sh
# What a run takes of energy, where a counter of it can be read: kept with the run, per
# iteration and beside its work. The counters are files that the case writes.
inline_lesson small
db=$work/runs.db
mkdir -p caps/intel-rapl:0
echo package-0 >caps/intel-rapl:0/name
echo 262143328850 >caps/intel-rapl:0/max_energy_range_uj
echo 5000000 >caps/intel-rapl:0/energy_uj

# The counter goes on when the fourth iteration is printed, and the run waits.
energy() {
    LAPENNA_LAB_POWERCAP=$work/caps "$LAB_EXE" run small.md --backend cpu \
        --iterations 20000 --db "$db" --json 2>"$err" | {
        head -4 >/dev/null
        echo 13000000 >caps/next && mv caps/next caps/intel-rapl:0/energy_uj
        cat >"$out"
    }
}
energy
run profile show 1 --json --db "$db"
expect_exit 0
expect_json 'one("run")["energy_j"] == 8' 'one("run")["iteration_flop"] > 0'
work_for=$(python3 - "$out" <<'P'
import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
r = [x for x in r if x["type"] == "run"][0]
print("%.4g %.4g" % (8 / r["iterations"],
                     r["iteration_flop"] * r["iterations"] / 8 / 1e9))
P
)
run profile show 1 --db "$db"
grep -q "^energy  *8 J, ${work_for% *} J an iteration\$" "$out" ||
    complain "not the joules of an iteration"
grep -q "^work for energy  *${work_for#* } GFLOP/s per W\$" "$out" ||
    complain "not the work for a joule"

# Without such a counter it is unknown, and nothing is printed of it.
LAPENNA_LAB_POWERCAP=$work/none run run small.md --backend cpu --iterations 3 \
    --db "$db"
expect_exit 0
run profile show 2 --json --db "$db"
expect_json 'one("run")["energy_j"] is None' 'one("run")["iteration_flop"] > 0'
run profile show 2 --db "$db"
grep -q '^energy' "$out" && complain "an energy that nothing measured"

# A copy has it.
run profile import "$db" --db copy.db
run profile show 1 --json --db copy.db
expect_json 'one("run")["energy_j"] == 8'
