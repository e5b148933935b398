# shellcheck shell=sh
# Sequence to sequence: the share of held-back strings that come out exactly.
db=$work/store.db
lesson small <<'END'
---
format: 1
title: Two digits backwards
seed: 3
data: {source: reverse, length: 2, alphabet: 6, rows: 36, batch: 14, split: 0.8}
network:
  - {id: emb1, op: embedding, vocab: 6, dim: 6}
  - {id: enc, op: lstm, hidden: 12}
  - {id: emb2, op: embedding, vocab: 7, dim: 6, from: decoder}
  - {id: dec, op: lstm, hidden: 12, from: [emb2, enc]}
  - {id: att, op: scaled_dot_attention, from: [dec, enc, enc]}
  - {id: mix, op: add, from: [dec, att]}
  - {id: fc, op: dense, units: 6}
loss: {op: softmax_cross_entropy}
optimizer: {op: adam, lr: 0.03}
run: {epochs: 3}
---
The introduction.
END
exits 0 run small.md --json --backend cpu --db "$db"
expect_json 'len(of("evaluation")) == 3' 'len(of("iteration")) == 6' \
    'all(0 <= r["exact"] <= r["accuracy"] <= 1 for r in of("evaluation"))' \
    'of("summary")[0]["exact"] == of("evaluation")[2]["exact"]'
exits 0 run small.md --backend cpu --db "$db" --epochs 60
expect_stdout 'of the strings exact'
grep -q ', validation accuracy .* % of symbols' "$out" || complain 'no accuracy of symbols'
expect_stdout ' -> '

# The encoder's last state is what the decoder begins with.
exits 0 step small.md --json --backend cpu --db "$db"
expect_json '[o["shape"] for r in of("step") for o in r["outputs"]
    if o["name"] == "att.probs"] == [[14, 2, 2]]' \
    'sum(o["name"] == "enc.h.1.grad.dec" for r in of("step")
    for o in r["outputs"]) == 1' \
    'not any(o["name"].startswith("dec.h0") for r in of("step")
    for o in r["outputs"])'

# The text that was read is beside the map, in lines of text too.
command=' --plain small.md'
status=0
printf 'run att.context\nprint att.probs[0]\nquit\n' |
    timeout 300 "$LAB_EXE" --plain small.md --backend cpu --db "$db" \
        >"$out" 2>"$err" || status=$?
expect_exit 0
expect_stdout 'columns: '
expect_stdout '[0,0,0] ^ '

# A run without strings has no such share.
inline_lesson plain
exits 0 run plain.md --json --backend cpu --db "$db"
expect_json '"exact" not in of("summary")[0]'

sed 's/hidden: 12, from/hidden: 11, from/' small.md >wrong.md
exits 3 run wrong.md --backend cpu --db "$db"
expect_stderr "starts from 'enc', with the last state [14,12]"
