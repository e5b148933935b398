# shellcheck shell=sh
# word2vec learns, in both forms, and tells which words are near.

# rank QUESTION WORD: a Python expression, the place of the word in the answer.
rank() {
    echo "next((r['rank'] for r in of('neighbour')
           if r['question'] == '$1' and r['word'] == '$2'), 99)"
}

for lesson in word2vec-cbow word2vec-skipgram; do
    run run $lesson --json --backend cpu --near "king - man + woman" \
        --near bread --near FATHER-man+woman
    expect_exit 0
    expect_no_stderr
    expect_json 'len(of("neighbour")) == 30' \
        'rows[-1]["type"] == "summary"' \
        'all(-1.0001 <= r["similarity"] <= 1.0001 for r in of("neighbour"))' \
        'one("summary")["loss_last"] < 0.7 * one("summary")["loss_first"]' \
        "$(rank 'king - man + woman' queen) == 1" \
        "$(rank FATHER-man+woman mother) == 1" \
        "$(rank bread cheese) <= 4" "$(rank bread soup) <= 4" \
        "$(rank bread soldiers) == 99"
done

run run word2vec-cbow --backend cpu --iterations 2 --near king
expect_exit 0
expect_stdout 'near king:'

# What cannot be answered is said before the training.
run run word2vec-cbow --backend cpu --near kingg
expect_exit 3
expect_stderr "did you mean 'king'"
expect_no_stdout
# and leaves no run behind
run run word2vec-cbow --backend cpu --near kingg --db refused.db
expect_exit 3
run profile list --json --db refused.db
expect_no_stdout
run run mlp-digits --backend cpu --near king
expect_exit 3
expect_stderr 'no words'
# Nobody asks after a single iteration.
run step mlp-digits --backend cpu --near king
expect_exit 0
expect_no_stderr
run run embedding-gather --backend cpu --near king
expect_exit 3
expect_stderr 'no words'

# The text is larger than the network: what to change.
i=0
while [ $i -lt 150 ]; do
    printf 'a%d b%d ' $i $i
    i=$((i + 1))
done >many.txt
run run word2vec-cbow --backend cpu --data many.txt
expect_exit 3
expect_stderr '302 words'
expect_stderr 'vocabulary of 119'
expect_stderr 'vocab: 117'
run run word2vec-cbow --backend cpu --data nowhere.txt
expect_exit 3
expect_stderr nowhere.txt

# The same words in the stepper.
printf 'train 2\nnear king - man + woman\nnear kingg\nlist words\nquit\n' >script
status=0
timeout 300 "$LAB_EXE" --plain word2vec-cbow --backend cpu <script \
    >"$out" 2>"$err" || status=$?
expect_exit 0
expect_stderr "did you mean 'king'"
[ "$(grep -cE '^ +-?[01]\.[0-9]{4}  [a-z]+$' "$out")" -eq 10 ] ||
    complain 'the stepper names no ten neighbours'
expect_stdout 'throne'
