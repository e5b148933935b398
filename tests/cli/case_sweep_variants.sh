# shellcheck shell=sh
# A sweep runs what `run` would at each of its sizes: chosen by measuring, once and
# kept, or what an option chooses; and it states which, as a recorded sweep does.
unset LAPENNA_LAB_TUNE
db=$work/runs.db

measured() { # YES|NO
    case $1$(grep -c 'measuring [0-9]* variants, once and for 2 s at most' "$err") in
    yes1 | no0) ;;
    *) complain "measured: not $1" ;;
    esac
}

# Batch 1 is too small to be measured, 64 is not.
exits 0 lab batch-size mlp-digits --backend cpu --sizes 1,64 --repeat 20 --db "$db"
measured yes
expect_stderr 'at most, at each of 2 sizes'
expect_stdout 'variants at 1: the fixed table; forward: naive'
grep -q '^variants at 64: chosen by measuring; forward: .*fc1=' "$out" ||
    complain 'batch 64 is not by measuring'
expect_stdout 'variants of that run: chosen by measuring'
run profile show last --db "$db" --json
expect_json 'of("run")[0]["variants_from"] == "measured"' \
    'of("run")[0]["variants"].startswith("64: fc1=")' \
    '[r["variants_from"] for r in of("sweep_row")] == ["table", "measured"]' \
    'of("sweep_row")[0]["variants"] == ""' \
    'of("run")[0]["variants"] == "64: " + of("sweep_row")[1]["variants"]'
run profile show last --db "$db"
grep -Eq ' cpu  *64 .* fc1=' "$out" || complain 'the row of 64 has no variants'
grep -Eq ' cpu  *1 .* naive$' "$out" || complain 'the row of 1 has no variants'

# A sweep in which nothing is measured has the fixed table on its run as well.
exits 0 lab batch-size softmax-regression --backend cpu --sizes 1,2 --repeat 20 --db "$db"
measured no
expect_stdout 'variants at 1, 2: the fixed table; forward: naive'
run profile show last --db "$db" --json
expect_json 'of("run")[0]["variants_from"] == "table"' \
    'of("run")[0]["variants"] is None'

# What a network's setup reports is printed, each line once.
sed 's/^optimizer:/variants: {fc1: cublas}\n&/' \
    "$LAB_BINARY_DIR/share/lapenna-lab/lessons/20-mlp-digits.md" >chosen.md
exits 0 lab batch-size chosen.md --backend cpu --sizes 1,2 --repeat 20 --db "$db"
[ "$(grep -c "the lesson's choice is left out: .*cublas" "$err")" -eq 1 ] ||
    complain 'the choice that is left out is not reported once'
LD_LIBRARY_PATH=$LAB_BINARY_DIR/lib/wrong run lab batch-size mlp-digits --backend cpu \
    --sizes 1,2 --repeat 20 --db "$db"
[ "$(grep -c 'dense matmul forward, variant blas: .* off the reference; withdrawn' \
    "$err")" -eq 1 ] || complain 'the variant that is withdrawn is not reported once'

# The times are those of `run`, in both directions.
exits 0 run mlp-digits --batch 64 --iterations 2 --backend cpu --db "$db" --json
measured no
run profile show last --db "$db" --json
ran=$("${LAB_PYTHON:-python3}" -c 'import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["type"] == "run":
        print(row["variants_from"], row["variants"])' "$out")
exits 0 lab batch-size mlp-digits --backend cpu --sizes 64 --repeat 20 --json --db "$db"
measured no
expect_json "' '.join((of('sweep_row')[0]['variants_from'], of('sweep_row')[0]['variants'])) == '''$ran'''"
run run cnn-digits --iterations 2 --backend cpu --db "$db"
measured yes
exits 0 lab backward cnn-digits --backend cpu --repeat 20 --db "$db"
measured no
expect_stdout 'variants: chosen by measuring; forward: conv1='

# As an option has it.
for fixed in --no-tune --variant=*=default; do
    exits 0 lab network-size mlp-digits --backend cpu --sizes 1,64 --repeat 20 \
        --db "$db" "$fixed"
    grep -Eq '^variants at 1: (the fixed table|as chosen); forward: naive$' "$out" ||
        complain "$fixed is not the fixed table at width 1"
    grep -Eq '^variants at 64: (the fixed table|as chosen); forward: ' "$out" ||
        complain "$fixed is not the fixed table at width 64"
    # Below are those of the recorded run.
    sed '/^recorded on/,$d' "$out" |
        grep -q '^variants at .*chosen by measuring' &&
        complain "$fixed goes by measuring"
done
expect_stdout 'chosen: *=default'
exits 0 lab products mlp-digits --backend cpu --repeat 20 --json --db "$db" \
    --variant fc1=vector --no-tune
expect_json '{r["variants"] for r in of("sweep_row")} == {"fc1=vector"}' \
    '{r["variants_from"] for r in of("sweep_row")} == {"table"}'
run profile show last --db "$db" --json
expect_json 'of("run")[0]["variants_from"] == "table"' \
    'of("run")[0]["variants"] == "fc1=vector"'
exits 2 lab products mlp-digits --backend cpu --variant fc1=nosuch --db "$db"
expect_stderr "fc1 has no variant 'nosuch'"
exits 2 lab gemm --backend cpu --variant fc1=vector
expect_stderr 'does not use --variant'

# The point of it: what is measured is faster than what is read.
run lab network-size mlp-digits --backend cpu --sizes 64 --repeat 20 --json --db "$db"
fast=$out.fast
cp "$out" "$fast"
run lab network-size mlp-digits --backend cpu --sizes 64 --repeat 20 --json --db "$db" \
    --variant '*=naive'
"${LAB_PYTHON:-python3}" - "$fast" "$out" <<'P' || complain 'measuring chose no faster variants'
import json
import sys
fast, slow = (json.loads(open(path).readline())["median_ns"] for path in sys.argv[1:])
assert fast < slow / 2, (fast, slow)
P

# A recorded sweep has the word of its run, and the screen of a lab as well.
play lab-batch-size --backend cpu --ascii --db screen.db <<'END'
resize 80 24
await 60000 Lab: how large a batch
key t
await 60000 v has the picture of recorded results
key v
expect run 391 of
expect variants: chosen by measuring
END

# P shows it where it is hidden, and states that there is no other.
play lab-batch-size --backend cpu --ascii --db screen.db <<'END'
resize 80 24
await 60000 Lab: how large a batch
key t
await 60000 v has the picture of recorded results
key P
expect run 391 of
key P
expect this machine has none of its own yet
END
