# shellcheck shell=sh
# --save, --load and --continue: a training with a pause is one without, and a
# file that does not fit is refused before anything is overwritten.
db=$work/runs.db
few="--backend cpu --no-tune --db $db"

# shellcheck disable=SC2086 # options
{
    exits 2 run mlp-digits $few --iterations 37 --save ''
    expect_no_stdout
    exits 0 run mlp-digits $few --iterations 37 --save first
    expect_stdout 'first has the network after 37 iterations'
    exits 0 run mlp-digits $few --iterations 63 --continue first --save second \
        --json
    expect_json 'one("summary")["iterations"] == 63' \
        'one("summary")["iterations_before"] == 37' \
        'one("summary")["saved"] == "second"' \
        'of("iteration")[0]["iteration"] == 37'
    run run mlp-digits $few --iterations 100 --save whole --json
    expect_json 'one("summary")["saved"] == "whole"'
    cmp -s second whole || complain "37 and 63 iterations are not 100"

    # Another rate goes on; it is what the file has next.
    exits 0 run mlp-digits $few --iterations 1 --continue first --lr 0.5 --save third
    grep -q '"learning_rate":"0.5"' third || complain "the rate is not kept"

    # One iteration of the trained network: its loss is lower.
    exits 0 step mlp-digits --no-tune --backend cpu --db "$db" --load whole --json
    expect_json 'one("end")["loss"] < 1'

    # What does not fit.
    exits 2 run mlp-digits $few --continue first --seed 3
    exits 2 run mlp-digits $few --continue first --load whole
    exits 3 run mlp-digits $few --continue first --batch 7
    expect_stderr 'its batch is 10 and this one 7'
    exits 3 run cnn-digits $few --continue first
    expect_stderr 'a network of the lesson mlp-digits, and this is cnn-digits'
    exits 3 run cnn-digits $few --load first
    expect_stderr 'fc1.b is [16] in it and [10] here'
    head -c 700 whole >short.st
    exits 3 run mlp-digits $few --load short.st --save whole --force
    expect_stderr 'the file is cut short'
    cmp -s second whole || complain "the old file is not kept"
    # A file that is there is written over only when that is asked for, or where
    # it is what the training goes on with.
    exits 3 run mlp-digits $few --iterations 1 --save whole
    expect_stderr 'there is such a file already'
    cmp -s second whole || complain "the old file is not kept"
    exits 0 run mlp-digits $few --iterations 1 --save third --force
    exits 0 run mlp-digits $few --iterations 1 --continue third --save third
    exits 3 run mlp-digits $few --iterations 1 --save "$db"
    exits 3 run mlp-digits $few --iterations 1 --save nowhere/file
    expect_no_stdout
}

# A weight that is NaN: one warning, and the run goes on. An iteration that no
# training reaches: refused.
python3 - first nan.st far.st <<'EOF'
import struct, sys
b = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(b[:-4] + struct.pack("<f", float("nan")))
n = struct.unpack("<Q", b[:8])[0]
head = b[8:8 + n].replace(b'"iteration":"37"', b'"iteration":"99999999999"')
open(sys.argv[3], "wb").write(struct.pack("<Q", len(head)) + head + b[8 + n:])
EOF
for option in --load --continue; do
    exits 0 run mlp-digits --backend cpu --no-tune --db "$db" --iterations 1 \
        $option nan.st
    expect_stderr 'nan.st has NaN or infinite values: 1 of 10 in fc2.b, the first at [9]'
    [ "$(grep -c 'NaN or infinite' "$err")" = 1 ] || complain 'not one warning'
done
exits 3 run mlp-digits --backend cpu --no-tune --db "$db" --continue far.st
expect_stderr 'iteration 99999999999 is after the last'

# What the course prints is the seed's: a trained network is not set beside it.
exits 0 run lstm-example --no-tune --backend cpu --db "$db" --iterations 3 \
    --save trained
run step lstm-example --backend cpu --db "$db"
expect_stdout 'printed beside computed'
exits 0 step lstm-example --backend cpu --db "$db" --load trained
grep -q 'printed beside computed' "$out" && complain 'compared with the course'

# Nothing is kept where nothing is trained.
exits 2 step mlp-digits --backend cpu --db "$db" --save nothing.st
[ ! -e nothing.st ] || complain 'step kept a network'
for option in --near=king --sample=5 --early-stop=3; do
    exits 2 step mlp-digits --backend cpu --db "$db" "$option"
    expect_stderr "nothing is trained here: ${option%=*} belongs to"
    exits 2 doctor "$option"
done
inline_lesson early
sed -i 's/iterations: 5/&, early_stop: 2/' early.md
exits 0 run early.md --backend cpu --db "$db" --iterations 2
expect_stderr 'early_stop of early: no rows are held back'

# The stepper's words.
printf 'step 3\nsave here\nsave here\nsave here force\nsave here now\ntrain 2\nload here\nload short.st\nload nan.st\nsave\nlist\n' >words
timeout 120 "$LAB_EXE" --plain mlp-digits --backend cpu --no-tune --db "$db" \
    --continue first <words >"$out" 2>"$err" || complain "the words: exit $?"
expect_stdout 'here has the network after 37 iterations'
expect_stdout 'At the start again, with the parameters of here.'
expect_stdout 'nan.st has NaN or infinite values: 1 of '
expect_stderr 'the file is cut short'
expect_stderr 'usage: save FILE'
expect_stderr 'save here force'
expect_stderr 'after the file only force may be written'
python3 -c '
import sys
a, b = (open(f, "rb").read() for f in sys.argv[1:])
sys.exit(a != b)' here first || complain "what is kept within an iteration"
