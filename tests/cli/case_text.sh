# shellcheck shell=sh
# Lessons that learn from text: bits per character, the line to beat, and what
# the network writes.
python3 - >"$work/own.txt" <<'END'
import random
r = random.Random(4)
words = "one step forward and one step back on the way to the end".split()
print(" ".join(r.choice(words) for _ in range(600)) + ".")
END
text_lesson() {
    lesson "$1" <<END
---
format: 1
title: A few words
seed: 3
data: {source: text, path: own.txt, context: 8, batch: 6}
network:
  - {id: embed1, op: embedding, vocab: ${2:-24}, dim: 6}
  - {id: lstm1, op: lstm, hidden: 16, return: sequence}
  - {id: fc1, op: dense, units: ${3:-24}}
loss: {op: softmax_cross_entropy}
optimizer: {op: adam, lr: 0.02}
run: {epochs: 2}
---
Words.
END
}
text_lesson words
exits 0 lesson lint words.md
exits 0 run words.md --backend cpu --json --sample 40 --prompt "one s"
expect_no_stderr
expect_json 'len(of("evaluation")) == 2' \
    'all(abs(r["bits_per_char"] - r["loss"] / 0.6931471805599453) < 1e-9
         for r in of("evaluation"))' \
    'of("evaluation")[1]["bits_per_char"] < of("evaluation")[0]["bits_per_char"]' \
    'one("summary")["bits_per_char"] == of("evaluation")[-1]["bits_per_char"]' \
    '0.3 < one("summary")["bits_per_char_order3"] < 2' \
    'one("sample")["text"].startswith("one s")' \
    'len(one("sample")["text"]) == 45' 'one("sample")["temperature"] == 0.8' \
    'one("sample")["top_k"] is None'
cp "$out" first
run run words.md --backend cpu --json --sample 40 --prompt "one s"
expect_json "FILE2=$work/first" \
    'one("sample") == [r for r in other if r["type"] == "sample"][0]'
# What cannot be is reported before the training, and leaves no run behind.
inline_lesson small
for lesson in words.md small.md; do
    run run $lesson --backend cpu --sample 5 --prompt "ZZ" --db refused.db
    [ "$status" -ne 0 ] || complain "the prompt is taken"
done
exits 3 profile list --json --db refused.db
expect_stderr 'refused.db'
# Both are of `run`: a single iteration writes nothing, and reports it.
for lesson in words.md small.md; do
    exits 2 step $lesson --json --backend cpu --sample 5 --prompt "ZZ"
    expect_no_stdout
    expect_stderr 'nothing is trained here: --sample belongs to'
done
# Another text, with more characters.
printf 'The quick brown fox jumps over the lazy dog, 0123456789. %.0s' \
    1 2 3 4 5 6 7 8 9 >big.txt
text_lesson wide 64 64
exits 0 run wide.md --backend cpu --data big.txt --iterations 2
