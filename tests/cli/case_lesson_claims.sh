# shellcheck shell=sh
# What lessons say of their runs, with margins for another order of additions.
last() {
    name=$1
    shift
    run run "$name" --backend cpu --trace off --db claims.db --json "$@"
    expect_exit 0
    python3 - "$out" <<'P'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
s = [r for r in rows if r["type"] == "summary"][0]
print(s["loss_last"], s["accuracy"])
P
}
holds() { # NAME VALUE < or > BOUND
    awk -v a="$2" -v b="$4" "BEGIN { exit !(a $3 b) }" ||
        complain "$1: $2 is not $3 $4"
}
loss() {
    last "$@" | cut -d ' ' -f 1
}
holds 'the plain layer learns nothing' "$(loss vanishing-gradient)" '>' 0.6
for seed in 1 5; do
    holds 'the LSTM learns' "$(loss kept-gradient --seed $seed)" '<' 0.001
done

# The rule is more than the golden ratio, whose loss is 0.0067, and one number
# of memory is too few.
for seed in 2 3; do
    holds 'the rule is learned' "$(loss rnn-fibonacci --seed $seed)" '<' 0.00005
done
sed 's/hidden: 8/hidden: 1/' \
    "$LAB_SOURCE_DIR/lessons/110-rnn-fibonacci.md" >one.md
holds 'one number is too few' "$(loss ./one.md)" '>' 0.0005

# The hidden layer is worth nothing on this data: less than two points on the
# average of five seeds, either way.
for name in softmax-regression mlp-digits; do
    for seed in 1 2 3 4 5; do
        last $name --seed $seed | cut -d ' ' -f 2
    done | awk '{ s += $1 } END { print s / NR }' >"$name.mean"
    holds "$name" "$(cat $name.mean)" '>' 0.955
    holds "$name" "$(cat $name.mean)" '<' 0.98
done
holds 'the difference' "$(paste softmax-regression.mean mlp-digits.mean |
    awk '{ d = $1 - $2; print d < 0 ? -d : d }')" '<' 0.01

# Counts that the texts print.
run step cnn-codelab --backend cpu --json
python3 - "$out" <<'P' || complain 'cnn-codelab needs other FLOPs'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
flop = sum(r["flop"] for r in rows
           if r["type"] == "step" and r["phase"] == "forward")
assert flop / 16 == 398890, flop / 16
P
run step multi-head --backend cpu --json
python3 - "$out" <<'P' || complain 'multi-head has other updates'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
names = [r["name"] for r in rows
         if r["type"] == "step" and r["phase"] == "update"]
assert len(names) == 14 and sum("attn" in n for n in names) == 8, names
P
