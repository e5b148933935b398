# shellcheck shell=sh
# `step --json`: one iteration, every step and tensor.
inline_lesson small
exits 0 step small.md --json --backend cpu
expect_no_stderr
expect_json 'rows[0]["type"] == "run" and rows[-1]["type"] == "end"' \
    'len(rows) == len(of("step")) + 2' \
    '[s["index"] for s in of("step")] == list(range(len(of("step"))))' \
    '[p for i, p in enumerate([s["phase"] for s in of("step")])
      if i == 0 or of("step")[i - 1]["phase"] != p]
      == ["forward", "loss", "backward", "update"]' \
    '[s["name"] for s in of("step")][:5] ==
     ["fc1.matmul", "fc1.bias", "relu1.relu", "fc2.matmul", "fc2.bias"]' \
    'all(s["node"] and s["op"] and s["variant"] and s["backend"] == "cpu"
         and s["formula"] for s in of("step"))' \
    'all(s["time_ns"] is None or s["time_ns"] >= 0 for s in of("step"))' \
    'all(o["dtype"] == "f32" and len(numbers(o["data"])) ==
         math.prod(o["shape"]) for s in of("step") for o in s["outputs"])' \
    'of("step")[0]["flop"] == 2 * 3 * 2 * 3' \
    'math.isfinite(one("end")["loss"])' \
    '{o["name"] for s in of("step") for o in s["outputs"]} >=
     {"fc1.xW", "fc1.out", "relu1.out", "fc2.out", "loss", "fc1.W.grad",
      "fc1.b.grad", "fc2.W.grad", "fc2.out.grad", "fc1.W", "fc2.b"}'

# The same seed gives the same numbers, another seed others.
cp "$out" first
run step small.md --json --backend cpu
expect_json "FILE2=$work/first" 'same(rows, other)'
exits 0 step small.md --json --backend cpu --seed 8
expect_json "FILE2=$work/first" \
    'one("end")["loss"] != other[-1]["loss"]'
# Another variant, the same numbers within the tolerance.
for variant in dense=naive dense=blas; do
    exits 0 step small.md --json --backend cpu --variant "$variant"
    expect_json "FILE2=$work/first" \
        'abs(one("end")["loss"] - other[-1]["loss"]) <=
         1e-5 * (1 + abs(other[-1]["loss"]))'
done
exits 2 step small.md --json --variant dense=no-such-variant
expect_stderr no-such-variant
exits 2 step small.md --json --variant no-such-node=naive
expect_stderr no-such-node

# As text: every step by name, no escape sequence in a pipe.
exits 0 step small.md --backend cpu
expect_no_escape
expect_stdout fc1.matmul
LC_ALL=C
export LC_ALL
exits 0 step small.md --backend cpu
expect_ascii

# A reader that leaves early does not keep the program.
status=0
timeout 300 "$LAB_EXE" step small.md --json 2>"$err" | head -n 1 >"$out" ||
    status=$?
[ "$status" -eq 0 ] || complain "did not end when its reader left"
expect_json 'rows[0]["type"] == "run"'
# Its run was left: no fault.
for what in step run; do
    "${LAB_PYTHON:-python3}" - "$LAB_EXE" "$what" >"$out" <<'P' || complain "python"
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
subprocess.run([sys.argv[1], sys.argv[2], "small.md", "--backend", "cpu", "--db",
                "left.db", "--iterations", "2"], stdout=write, stderr=subprocess.DEVNULL)
P
done
run profile list --db left.db --json
expect_json '[r["status"] for r in rows] == ["cancelled", "cancelled"]'

# --help lists what means something here.
exits 0 step --help
for word in backend iterations npy tensors trace; do
    expect_stdout "--$word"
done
for word in epochs sample prompt near no-graph graph-nodes no-mouse; do
    if grep -q -e "--$word" "$out"; then
        complain "step --help lists --$word"
    fi
done

# On a terminal, or with COLUMNS, lines break between words: the same words in
# the same order, and no line is wider.
wraps() { # COLUMNS ARG...
    columns=$1
    shift
    exits 0 "$@"
    tr -s ' ' '\n' <"$out" | grep -v '^[0-9.]*$' >whole
    COLUMNS=$columns
    export COLUMNS
    run "$@"
    unset COLUMNS
    expect_exit 0
    awk -v most="$columns" 'length($0) > most { print "wide: " $0; bad = 1 }
        END { exit bad }' "$out" || complain "a line is wider than $columns"
    tr -s ' ' '\n' <"$out" | grep -v '^[0-9.]*$' >broken
}
wraps 60 step mlp-digits --backend cpu --ascii
grep -q '^        ' "$out" || complain "no line was broken"
grep -v -e '^[num]s,*$' whole >a
grep -v -e '^[num]s,*$' broken >b
cmp -s a b || complain "the words differ: $(diff a b | head -n 5)"
wraps 100 lab saxpy --sizes 1000 --repeat 20 --backend cpu --ascii \
    --db lab.db
expect_stdout 'evict the'
grep -q '^  .*first$' "$out" || complain "the sentence was not broken"

# A command is one word, in lines of its own where it is wider than one.
COLUMNS=60 exits 0 course B23 E01
awk 'length($0) > 60 { print "wide: " $0; bad = 1 } END { exit bad }' "$out" ||
    complain 'a line of course is wider than 60'
sed -e ':more' -e '/ \\$/{' -e 'N' -e 's/ \\\n/ /' -e 'b more' -e '}' "$out" >joined
# shellcheck disable=SC2016 # the backquotes are the text's
grep -q '^`lapenna-lab lab precision .*--variants fp32,split_1,split_3`' joined ||
    complain "the command is broken: $(cat "$out")"
# It is not cut within quotes, where the backslash would be one of the text.
COLUMNS=62 exits 0 course A16
grep -qFx "'king - man + woman'\`" "$out" || complain "the command is broken: $(cat "$out")"

# A NaN has no sign.
exits 0 step sigmoid-gradient --backend cpu --variant sigmoid1=direct
expect_stdout '= sum_n fc1.out.grad[n,0] = nan + '
! grep -q -e '-nan' "$out" || complain 'a NaN with a sign'
exits 0 run sigmoid-gradient --backend cpu --variant sigmoid1=direct
expect_stdout 'iteration 200  loss nan'
expect_stdout '-> nan'
! grep -q -e '-nan' "$out" || complain 'a loss with the sign of a NaN'
