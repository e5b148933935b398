# shellcheck shell=sh
# What a run takes of energy, where a counter of it can be read: kept with the run, and
# per iteration where the counter was read over iterations alone, for a second at least.
# The counters are files that the case writes.
inline_lesson small
db=$work/runs.db
mkdir -p caps/intel-rapl:0
echo package-0 >caps/intel-rapl:0/name
echo 262143328850 >caps/intel-rapl:0/max_energy_range_uj
echo 5000000 >caps/intel-rapl:0/energy_uj

# The counter goes on when the fourth iteration is printed, and the run waits for so many
# seconds.
energy() {
    echo 5000000 >caps/intel-rapl:0/energy_uj
    LAPENNA_LAB_POWERCAP=$work/caps "$LAB_EXE" run small.md --backend cpu \
        --iterations 20000 --db "$db" --json 2>"$err" | {
        head -4 >/dev/null
        sleep "$1"
        echo 13000000 >caps/next && mv caps/next caps/intel-rapl:0/energy_uj
        cat >"$out"
    }
}
energy 1.2
exits 0 profile show 1 --json --db "$db"
expect_json 'one("run")["energy_j"] == 8' 'one("run")["iteration_flop"] > 0' \
    'one("run")["warm_iterations"] == 19998' 'one("run")["warm_ns"] > 1e9' \
    '0 < one("run")["warm_energy_j"] <= 8'
python3 - "$out" >figures <<'P'
import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
r = [x for x in r if x["type"] == "run"][0]
j = r["warm_energy_j"]
def text(v, unit, prefixes):
    """As base/format.h writes it."""
    for at, prefix in enumerate(prefixes):
        if v < 999.5 or at == len(prefixes) - 1:
            digits = 0 if v >= 99.95 or at == 0 and v == int(v) else 1 if v >= 9.995 else 2
            return f"{v:.{digits}f} {prefix}{unit}"
        v /= 1000
up = ["", "k", "M", "G", "T"]
print(text(j / r["warm_iterations"] * 1e9, "J", ["n", "u", "m", *up]))
print(text(j / r["warm_ns"] * 1e9, "W", up))
print(text(r["iteration_flop"] * r["warm_iterations"] / j, "FLOP/s", up))
P
{
    read -r each
    read -r watts
    read -r rate
} <figures
run profile show 1 --db "$db"
grep -q '^energy  *8.00 J, of the whole run$' "$out" || complain "not the run's energy"
grep -Eq "^joules an iteration  *$each, the mean of 19998 in [1-9].* s, at $watts\$" "$out" ||
    complain "not the joules of an iteration"
grep -q "^work for energy  *$rate per W\$" "$out" ||
    complain "not the work for a joule"

# Without such a counter it is unknown, and nothing is printed of it.
LAPENNA_LAB_POWERCAP=$work/none exits 0 run small.md --backend cpu --iterations 3 \
    --db "$db"
run profile show 2 --json --db "$db"
expect_json 'one("run")["energy_j"] is None' 'one("run")["iteration_flop"] > 0' \
    'one("run")["warm_ns"] is None'
run profile show 2 --db "$db"
grep -q '^energy' "$out" && complain "an energy that nothing measured"
grep -q '^joules' "$out" && complain "joules that nothing measured"

# Over less than a second a counter tells nothing of an iteration.
for n in 1 2 3; do
    LAPENNA_LAB_POWERCAP=$work/caps exits 0 run small.md --backend cpu --iterations $n \
        --db "$db"
    run profile show last --json --db "$db"
    warm=$((n > 2 ? n - 2 : 0))
    expect_json 'one("run")["warm_energy_j"] is None' \
        "one('run')['warm_iterations'] == $warm" 'one("run")["warm_ns"] < 1e9' \
        'one("run")["energy_j"] is None'
    run profile show last --db "$db"
    grep -q '^energy  *n/a: the counter did not move, or failed$' "$out" ||
        complain "an energy of a counter that did not move"
    grep -q "^joules an iteration  *n/a: $warm iteration.* after the second, .*; a counter needs 1.00 s\$" \
        "$out" || complain "joules of less than a second, or not why"
    grep -q '^work for energy' "$out" && complain "work for no energy"
done

# A copy has it. Of a run of an earlier program only the whole is known.
run profile import "$db" --db copy.db
run profile show 1 --json --db copy.db
expect_json 'one("run")["energy_j"] == 8' 'one("run")["warm_iterations"] == 19998' \
    '0 < one("run")["warm_energy_j"] <= 8'
sql copy.db 'UPDATE run SET warm_ns = NULL, warmIterations = NULL, warmEnergy_j = NULL'
run profile show 1 --db copy.db
grep -q '^joules an iteration  *n/a: not counted over iterations alone$' "$out" ||
    complain "joules of a whole run"
