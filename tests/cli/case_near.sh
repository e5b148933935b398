# shellcheck shell=sh
# word2vec learns, in both forms, and tells which words are near.

# rank QUESTION WORD: a Python expression, the place of the word in the answer.
rank() {
    echo "next((r['rank'] for r in of('neighbour')
           if r['question'] == '$1' and r['word'] == '$2'), 99)"
}

for lesson in word2vec-cbow word2vec-skipgram; do
    exits 0 run $lesson --json --backend cpu --near "king - man + woman" \
        --near bread --near FATHER-man+woman
    expect_no_stderr
    expect_json 'len(of("neighbour")) == 30' \
        'all(len(r["vector"]) == r["numbers"] == 16 for r in of("vector"))' \
        'all(abs(sum(x * x for x in r["vector"]) ** .5 - r["norm"]) < 1e-9
             for r in of("vector"))' \
        'rows[-1]["type"] == "summary"' \
        'all(-1.0001 <= r["similarity"] <= 1.0001 for r in of("neighbour"))' \
        'all(r["distance"] > 0 and r["norm"] > 0 for r in of("neighbour"))' \
        'one("summary")["loss_last"] < 0.7 * one("summary")["loss_first"]' \
        "$(rank 'king - man + woman' queen) == 1" \
        "$(rank FATHER-man+woman mother) == 1" \
        "$(rank bread cheese) <= 4" "$(rank bread soup) <= 4" \
        "$(rank bread soldiers) == 99"
done

# A word that is not there leaves no run behind.
exits 3 run word2vec-cbow --backend cpu --near kingg --db refused.db
run profile list --json --db refused.db
expect_no_stdout
# A single iteration trains nothing to ask.
exits 2 step mlp-digits --backend cpu --near king
expect_stderr 'nothing is trained here: --near belongs to'
