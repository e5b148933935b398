# shellcheck shell=sh
# Networks counted, fused, in 8 bits and pruned: lab layers, lab inference.
counts() { # NETWORK PARAMETERS LAYERS BATCH_NORMS IDLE LEFT
    exits 0 lab layers "$1" --json
    expect_json "one('layers')['parameters'] == $2" \
        "one('layers')['layers'] == $3" "one('layers')['batch_norms'] == $4" \
        "one('layers')['idle'] == $5" "one('layers')['left'] == $6" \
        "sum(r['parameters'] for r in of('layer')) == $2" \
        "one('layers')['layers'] - sum(one('layers')[k] for k in ('idle', 'joined', 'folded', 'vertical', 'horizontal')) == $6"
}
# Parameters as published; layers as a talk counts them (table fusion).
counts alexnet 60965224 24 0 3 14
counts vgg19 143667240 46 0 3 25
counts resnet50 25557032 176 53 1 57
counts resnet152 60192808 516 155 1 159
counts inception-v3 23834568 310 94 1 91
# x is a node of data, no layer; the flatten behind it is one.
counts transformer-block 600 8 0 0 6
exits 0 lab layers lenet
expect_stdout '61706 parameters'
exits 2 lab layers lab-gemm
exits 3 lab layers resnet-152
expect_stderr 'did you mean resnet152;'
exits 3 lab layers no-such-network
exits 2 lab layers
expect_stderr 'one network: a lesson'

# Within half a point of fp32 in 8 bits, within a point with half of the weights, and
# within three of a whole network that was trained as long, which gains as well.
near() {
    expect_exit 0
    expect_json "abs(of('inference_form')[0]['accuracy'] - one('inference')['accuracy_as_trained']) < 1e-9" \
        "abs(of('inference_form')[1]['accuracy'] - of('inference_form')[0]['accuracy']) <= 0.005" \
        "of('inference_form')[-1]['accuracy'] - of('inference_form')[0]['accuracy'] >= -0.01" \
        "of('inference_form')[-2]['accuracy'] < of('inference_form')[0]['accuracy']" \
        "of('inference_form')[-3]['form'] == 'fused, fp32, trained on'" \
        "of('inference_form')[-3]['weight_bytes'] == of('inference_form')[0]['weight_bytes']" \
        "of('inference_form')[-1]['accuracy'] - of('inference_form')[-3]['accuracy'] >= -0.03" \
        "of('inference_form')[1]['weight_bytes'] < 0.3 * of('inference_form')[0]['weight_bytes']" \
        "all(r['row_min_ns'] <= r['row_quarter_ns'] <= r['row_ns'] <= r['row_three_quarters_ns'] for r in of('inference_form'))" \
        "abs(2 * one('inference')['zeros'] / one('inference')['weights'] - 1) < 0.01"
}
run lab inference mlp-digits --epochs 10 --json
near
run lab inference inference --json
near
# So with other seeds, which draw the weights and what is held back: in 8 bits each is
# within half a point, one of 360 digits, and trained again with 2:4 none is more than a
# point short, three of 360 (30 and 36 were, by other ways: docs/measurements.md). Other
# instructions round otherwise, and one digit may be the fourth: one seed may fail.
of_seeds() { # SEEDS ARGUMENTS...
    seeds=$1
    shift
    : >seeds.json
    for seed in $seeds; do
        exits 0 lab inference "$@" --seed "$seed" --json
        cat "$out" >>seeds.json
    done
    cp seeds.json "$out"
}
# Sanitizers see in eleven seeds what they see in the networks above.
if [ "${LAB_SANITIZE:-OFF}" = OFF ]; then
of_seeds '1 2 3 4 5 6 7 8 9 30 36' mlp-digits
expect_json "[r['form'] for r in of('inference_form')].count('fused, int8') == 11" \
    "all(abs(b['accuracy'] - a['accuracy']) <= 0.005 for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == 'fused, int8']))" \
    "sum(b['accuracy'] - a['accuracy'] >= -0.01 for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == '2:4, trained again'])) >= 10" \
    "sum(b['accuracy'] - a['accuracy'] for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == '2:4, trained again'])) > 0" \
    "sum(b['accuracy'] - a['accuracy'] for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == '2:4, not trained again'])) / 11 > -0.06"
# The means of a batch norm are those of images without noise: both were over a point short.
of_seeds '9 10' inference
expect_json "all(b['accuracy'] - a['accuracy'] >= -0.01 for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == '2:4, trained again']))"
# By their own seed so are the other networks that are trained on digits.
for network in softmax-regression 'cnn-digits --epochs 3' 'cnn-codelab --epochs 3' \
    'residual --epochs 3'; do
    # shellcheck disable=SC2086
    run lab inference $network --json
    near
done
of_seeds 2 cnn-digits --epochs 1
expect_json "all(abs(b['accuracy'] - a['accuracy']) <= 0.005 for a, b in zip([r for r in of('inference_form') if r['form'] == 'fused, fp32'], [r for r in of('inference_form') if r['form'] == 'fused, int8']))"
fi
# Rows that are for validation are none of the test.
exits 0 lab inference early-stop --iterations 20 --json
expect_json "one('inference')['rows'] == 1438" \
    "abs(of('inference_form')[0]['accuracy'] - one('inference')['accuracy_as_trained']) < 1e-9"
run run mlp-digits --backend cpu --no-tune --db runs.db --iterations 40 \
    --save kept
exits 0 lab inference mlp-digits --load kept --iterations 1
expect_stdout 'fused, int8'
expect_stdout 'mlp-digits: loaded from kept, then inference on'
! grep -q 'iterations of training' "$out" || complain 'a loaded network was trained'
# What is trained on is not pruned, and has learned more than after the first 40. It and
# the network that is pruned have had as many iterations, four times the first 40.
run lab inference mlp-digits --iterations 40 --json
expect_json "[r['iterations'] for r in of('inference_form') if r['form'] in ('fused, fp32', 'fused, int8')] == [40, 40]" \
    "[r['iterations'] for r in of('inference_form')][-3:] == [160, 40, 160]" \
     "of('inference_form')[-3]['form'] == 'fused, fp32, trained on'" \
    "of('inference_form')[-3]['accuracy'] > of('inference_form')[0]['accuracy']" \
    "of('inference_form')[-3]['accuracy'] > of('inference_form')[-2]['accuracy']"
# A sum of three numbers has no four to leave two out of.
lesson narrow <<'END'
---
format: 1
title: Narrow layers
summary: A sum of two numbers.
order: 1
minutes: 1
seed: 1
data: {source: digits, batch: 16, split: 0.8, shuffle: true}
network:
  - {id: fc1, op: dense, units: 2}
  - {id: fc2, op: dense, units: 10}
loss: {op: softmax_cross_entropy}
optimizer: {op: sgd, lr: 0.1}
run: {epochs: 1}
---
Text.
END
exits 0 lab inference ./narrow.md --iterations 5
expect_stdout 'fc2.W stays whole: its sums have 2 numbers, 2:4 needs four'
exits 2 lab inference gpt
exits 2 lab inference optimizer-sgd
expect_stderr 'a lesson of classes'
exits 4 lab inference mlp-digits --device 3
expect_stderr '--device 3 is not there'
printf 'no network' >broken
exits 3 lab inference mlp-digits --load broken

# On a simulated GPU every kernel for products of 8 bits answers as the CPU does.
run lab inference mlp-digits --load kept --iterations 1 --backend sim --json
if [ "$status" -ne 4 ]; then
    expect_exit 0
    expect_json "one('inference')['simulated_rows'] == 100" \
        "[r['form'] for r in of('inference_form')][3:7] == ['int8, sim, ' + k for k in ('bytes', 'dp4a', 'dp4a_tile', 'imma')]" \
        "of('inference_form')[2]['form'] == 'int8, CPU, these 100 rows'" \
        "all(r['rows'] == 100 for r in of('inference_form')[2:7])" \
        "len({r['accuracy'] for r in of('inference_form')[2:7]}) == 1" \
        "all(r['accuracy'] > 0 and r['difference'] < 0.1 and r['row_ns'] is None for r in of('inference_form')[2:7])"
fi

exits 2 lab inference mlp-digits cnn-digits
expect_stderr 'give one lesson of classes, as mlp-digits (found: 2)'

# Only attention mixes positions: everywhere else a derivative across them is zero.
exits 0 lab mixing transformer-block --json
expect_json "[r['layer'] for r in of('mixing') if r['others'] > 0] == ['block1.attn']" \
    "of('mixing')[1]['earlier'] and not of('mixing')[1]['later']" \
    "all(r['norm'][i][i] > 0 for r in of('mixing') for i in range(4))"
exits 0 lab mixing transformer-block
expect_stdout 'block1.attn  attention   its own and earlier ones'
exits 0 lab mixing transformer-block --ascii
expect_stdout '- no derivative'
exits 0 lab mixing lstm-text
expect_stdout 'the first 32 of 64 positions'
# Nothing to prune: the other forms are shown, and the lesson is bad input.
printf '0,1,0\n1,0,1\n1,1,1\n0,0,0\n0,1,0\n1,0,1\n1,1,1\n0,0,0\n' >two.csv
sed -e 's/{source: digits, batch: 16, split: 0.8, shuffle: true}/{source: csv, path: two.csv, batch: 2, split: 0.5}/' \
    -e '/id: fc2/d' narrow.md >two.md
exits 3 lab inference ./two.md --iterations 2
expect_stdout 'fused, int8'
expect_stderr 'there is nothing to prune by 2:4'
# A last state, a context: one vector of all positions.
exits 0 lab mixing rnn-fibonacci --json
expect_json "[(r['layer'], len(r['norm']), r['positions']) for r in of('mixing')] == [('rnn1', 1, 3)]" \
    "all(v > 0 for v in of('mixing')[0]['norm'][0])" \
    "of('mixing')[0]['others'] is None and not of('mixing')[0]['later']"
exits 0 lab mixing bahdanau-attention
grep -q '^att1  *bahdanau_attention  one vector, of all  *n/a$' "$out" ||
    complain 'no context of all positions'
# The rows of an image are no positions, nor are its channels.
exits 2 lab mixing cnn-digits
expect_stderr 'no layer of cnn-digits reads'
exits 2 lab mixing mlp-digits
expect_stderr 'no layer of mlp-digits reads'
exits 2 lab mixing lab-gemm

# oneDNN's sums are the same whole numbers: the same answers, to the bit.
if "$LAB_EXE" doctor 2>/dev/null | grep -q '^oneDNN  *ok'; then
    exits 0 lab inference mlp-digits --load kept --iterations 1 --json
    expect_json 'of("inference_form")[2]["form"] == "int8, cpu, onednn"' \
        'of("inference_form")[2]["accuracy"] == of("inference_form")[1]["accuracy"]' \
        'of("inference_form")[2]["row_ns"] > 0'
    exits 0 lab gemm_int8 --backend cpu --sizes 33x17x65 --repeat 20 --json --db o.db
    expect_json '[r["variant"] for r in of("lab_row")] == ["floats", "integers", "onednn"]' \
        'all(r["status"] == "done" for r in of("lab_row"))'
fi

# With validation rows, and with more rows than are answered, accuracy as the engine has
# it is still of the rows that the table has: `run` has the same of the test rows.
exits 0 run early-stop --backend cpu --no-tune --db runs.db --iterations 20 --save es.st --json
tests=$("${LAB_PYTHON:-python3}" -c 'import json, sys
print([r for r in map(json.loads, open(sys.argv[1])) if r.get("test_accuracy") is not None][-1]["test_accuracy"])' "$out")
exits 0 lab inference early-stop --load es.st --iterations 1 --json
expect_json "one('inference')['rows'] == 1438" \
    "all(r['rows'] == 1438 for r in of('inference_form'))" \
    "[r['iterations'] for r in of('inference_form')][-3:] == [3, 0, 3]" \
    "abs(one('inference')['accuracy_as_trained'] - $tests) < 1e-9" \
    "abs(of('inference_form')[0]['accuracy'] - one('inference')['accuracy_as_trained']) < 1e-9"
run lab inference early-stop --load es.st --iterations 1
expect_stdout 'inference on 1438 test rows, apart from those of validation'
"${LAB_PYTHON:-python3}" -c 'for i in range(2600):
    print(i % 7 / 7, i % 5 / 5, i % 3 / 3, i % 11 / 11, i % 7 % 2, sep=",")' >many.csv
sed -e 's/{source: digits, batch: 16, split: 0.8, shuffle: true}/{source: csv, path: many.csv, batch: 4, split: 0.1}/' \
    -e '/id: fc2/s/10/2/' narrow.md >many.md
exits 0 lab inference ./many.md --iterations 5 --json
expect_json "one('inference')['rows'] == 2000" \
    "0 < one('inference')['accuracy_as_trained'] < 1" \
    "abs(of('inference_form')[0]['accuracy'] - one('inference')['accuracy_as_trained']) < 1e-9"
