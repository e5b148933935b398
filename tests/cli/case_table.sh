# shellcheck shell=sh
# The course's tables: what they show, in every form, and in the database.
# Every table that ships is read by the list; each fits 80 columns, and in a pipe a
# row is one line.
exits 0 table
for row in $(seq 1 24); do
    grep -q " C$(printf %02d "$row") " "$out" || complain "no table of C$row"
done
run table --json
expect_json 'len(rows) >= 24' 'rows[0]["type"] == "table"'
for name in gpus formats tf32_accuracy magma_lu strengths sheets; do
    COLUMNS=80 exits 0 table "$name"
    expect_stdout "source: "
    grep -v 'https\?://' "$out" | LC_ALL=C awk '{ gsub(/[\200-\277]/, "") } length > 80' |
        grep -q . && complain "$name: a line of more than 80 columns"
done
run table sheets
[ "$(grep -c '^V100 PCIe  .*5120.*900' "$out")" = 1 ] || complain 'a row is split'

# Printed peaks follow from their parts, and what does not is named.
run table C01 --json
expect_json 'len(rows) == 4' 'rows[0]["fp32_tflop_s"] == 10.60864' \
    'abs(rows[2]["fp16_tensor_tflop_s"] - 311.86944) < 1e-9' \
    'rows[2]["threads_count"] == 221184' \
    'rows[3]["gpu"] == "this machine"' \
    '(rows[3]["sms_count"] is None) == (rows[3]["threads_per_sm_count"] is None)'
for name in C1 c01 c1; do
    run table $name --json
    expect_json 'len(rows) == 4' 'rows[0]["fp32_tflop_s"] == 10.60864'
done
for name in c 1 c001x C; do
    exits 3 table $name
    expect_stderr 'there is no table'
done
run table gpus
expect_stdout '309.66'
[ "$(grep -c -e --measure "$out")" = 0 ] || complain 'there is no --measure'
run table gpus --json
expect_json 'rows[0]["printed_fp16_tflop_s"] == 21.2 and rows[0]["texture_units_count"] == 224' \
    '[round(r["fp16_over_fp32_x"], 9) for r in rows[:3]] == [2, 2, 4]' \
    'all(r["tpcs_count"] * 2 == r["sms_count"] for r in rows[:3])' \
    '[r["int32_top_s"] and round(r["int32_top_s"], 1) for r in rows[:3]] == [None, 15.7, 19.5]'
run table workshop_gpus --json
expect_json 'rows[-1]["cores_count"] is None or rows[-1]["cores_count"] >= 128'
run table cpu_and_gpu --json
expect_json 'rows[-1]["cores_count"] > 0'
run table --json
expect_json 'all(r["rows"] == 4 for r in rows if r["name"] == "gpus")'
run table formats --json
expect_json 'rows[0]["epsilon"] == rows[0]["measured_epsilon"] == 2 ** -7' \
    'rows[1]["most"] == rows[1]["measured_most"] == 65504' \
    'rows[3]["least"] == rows[3]["measured_least"] == 2 ** -126' \
    'rows[4]["measured_most"] == 1.7976931348623157e308' \
    'rows[4]["measured_least"] == 2.2250738585072014e-308' \
    'rows[5]["measured_epsilon"] == rows[5]["epsilon"] == 2 ** -106' \
    'rows[6]["measured_epsilon"] in (None, 2 ** -112)'
run table magma_dgemm --json
expect_json 'all(abs(r["cublas_gflop_s"] / r["printed_cublas_gflop_s"] - 1) < 2e-4 for r in rows)' \
    'abs(max(r["cublas_of_peak_pct"] for r in rows) - 95.3) < .05'
run table dgx --json
expect_json 'rows[2]["dense_tflop_s"] == 2496'

# Calculators: laws, and points that recorded runs have measured.
run table power --json
expect_json 'abs(rows[2]["dynamic_w"] * 8 / rows[0]["dynamic_w"] - 1) < 1e-12' \
    'rows[5]["measured_power_w"] > 300' 'rows[0]["measured_power_w"] is None'
run table amdahl --json --set 'a tenth serial:processors=10'
expect_json 'abs(rows[0]["speedup_x"] - 1 / .19) < 1e-12' \
    'rows[3]["limit_x"] is None' '0 < rows[5]["implied_serial_share"] < .1'
# The printed blocks are for the printed n: with another threads are idle, or elements are
# left out, and no count is negative.
run table launches --json
expect_json "all(r['idle_count'] == r['printed_blocks_count'] * r['threads_count'] - r['n_count'] and r['left_out_count'] == 0 for r in rows)"
run table launches --json --set n=1000000
expect_json "rows[1]['left_out_count'] == 1000000 - 391 * 256 and rows[1]['idle_count'] == 0" \
    "rows[0]['idle_count'] == 40960 * 512 - 1000000 and rows[0]['left_out_count'] == 0" \
    "all(r[k] >= 0 for r in rows for k in ('idle_count', 'left_out_count', 'too_many_count'))"
run table tile_model --json
expect_json 'rows[0]["q"] == 512' 'rows[1]["best_q"] == rows[1]["q"]' \
    'rows[1]["largest_block"] == 64'
run table slackness --json
ships=${LAB_EXE%/bin/*}/share/lapenna-lab/profiles/recorded/h200.db
rate=$(sqlite3 "file:$ships?immutable=1" "SELECT rate FROM lab_row WHERE
    lab = 'warps_fma' AND rung = 'one' AND size = '1081344x4'
    ORDER BY runId DESC LIMIT 1")
expect_json "abs(rows[4]['measured_rate_tflop_s'] * 1e12 / $rate - 1) < 1e-12" \
    'rows[1]["busy_share"] == .25'
run table slackness
expect_stdout 'H200 with 1, measured_rate: recorded run '
for cell in @lab-warps-fma/one/x '@lab-warps-fma/one/1081344x4/colour' \
    '@lab-warps-fma/one/1081344x4/clock' '@mlp-digits/iteration/10/rate'; do
    printf '#:title T\ncase,time [ms],source\nA,%s,s\n' "$cell" >own.csv
    run table ./own.csv
    expect_stderr './own.csv:3: column time'
    expect_exit 3
done
# No run has a batch of "10abc".
printf '#:title T\ncase,time [ms],source\nA,@mlp-digits/iteration/10abc/time,s\nB,@mlp-digits/iteration/10/time,s\n' >own.csv
run table ./own.csv --json
expect_json 'rows[0]["time_ms"] is None' 'rows[1]["time_ms"] > 0'

# One number changed: what follows is marked; what cannot be is refused.
run table gpus --set A100:boost=1500
expect_stdout '* A100: fp32 19.492 -> 20.736 TFLOP/s'
for change in boost=-1 A100:boost=1e9 sms=1.5 nothing=1 boost H100:boost=1; do
    exits 2 table gpus --set "$change"
    expect_no_stdout
done
exits 0 table gpus --csv --sort boost --reverse --filter 'sms>56' --filter 'boost>0'
[ "$(cut -d, -f1 "$out" | tr '\n' ' ')" = 'gpu V100 A100 ' ] ||
    complain 'another order'
# A row is a line, however narrow the terminal is.
exits 0 table gpus --csv
cp "$out" whole.csv
COLUMNS=40 exits 0 table gpus --csv
cmp "$out" whole.csv || complain 'CSV breaks where the terminal ends'
exits 2 table gpus --sort nothing
exits 3 table nothing
expect_stderr 'there is no table "nothing": '
exits 3 table amdal
expect_stderr 'there is no table "amdal"; did you mean amdahl?'
exits 2 table gpus dgx
exits 2 table --set boost=1

# A lesson's text ends with its tables, as each table names its lessons.
run lesson show lab-launch
expect_exit 0
# shellcheck disable=SC2016 # the backquotes are the text's
tr '\n' ' ' <"$out" | grep -q 'Tables of the course: little, slackness, gpus, .*`lapenna-lab table little`' ||
    complain 'a lesson without its tables'
run lesson show lab-launch --json
expect_json 'rows[0]["tables"][:3] == ["little", "slackness", "gpus"]'
run lesson show one-hot --json
expect_json 'rows[0]["tables"] == []'
run lesson show one-hot
[ "$(grep -c 'Tables of the course' "$out")" = 0 ] || complain 'tables of a lesson that has none'
play lab-fusion --backend cpu --db own.db <<'END'
resize 80 24
await 60000 Predict first
key End
await 60000 Tables of the course: bsp
quit
END
play transformer-block --backend cpu --db own.db <<'END'
resize 80 24
key L
await 60000 the lesson (1-
key End
await 60000 Tables of the course: transformers
quit
END
printf '#:title T\n#:formula minus [1] = -a ^ 2\ncase,a [1],source\nA,2,s\n' >own.csv
run table ./own.csv --json
expect_json 'rows[0]["minus"] == -4'

# A file of one's own, and what is wrong with one.
printf '#:title T\ngpu,boost [MHz],source\nA,1,s\n' >own.csv
exits 0 table ./own.csv --csv
expect_stdout 'A,1,s'
printf '#:title T\ngpu,boost [MHz],source\nA,1,s\nA,2,s\n' >own.csv
exits 3 table ./own.csv
expect_stderr './own.csv:4: "A" is there twice'
exits 3 table ./none.csv
# A row that the course does not have; and what a spreadsheet writes.
printf '#:course Q99\n#:title T\ngpu,boost [MHz],source\nA,1,s\n' >own.csv
exits 3 table ./own.csv
expect_stderr 'own.csv: the course has no row Q99'
printf '#:course D-MAGMA\r\n#:title T\r\ngpu,boost [MHz],source\r\nA,1,s\r\n' >own.csv
exits 0 table ./own.csv --csv
expect_stdout 'A,1,s'

# A file that is wrong takes no other away, and is named.
mkdir -p wrong/profiles/tables
cp "$LAB_SOURCE_DIR"/profiles/tables/*.csv wrong/profiles/tables
sed 's/boost \[MHz\]/boost [miles]/' "$LAB_SOURCE_DIR/profiles/tables/gpus.csv" \
    >wrong/profiles/tables/gpus.csv
LAPENNA_LAB_DATA_DIR=$PWD/wrong
export LAPENNA_LAB_DATA_DIR
exits 0 table nvlink --db wrong.db
expect_stdout 'P100'
exits 3 table gpus --db wrong.db
expect_stderr 'gpus.csv:'
expect_stderr 'miles'
exits 3 table --db wrong.db
expect_stdout 'nvlink'
expect_stderr 'gpus.csv:'
ln -s "$LAB_SOURCE_DIR/lessons" wrong/lessons
# A text that the rows cut is whole on the screen, a line further down.
play --db wrong.db <<'END'
resize 80 24
key t
enter /model_zoos
key Enter
expect https://github.com/tensorflow/models
key Down
expect models/blob/master/research/object_detection/g3do
expect  c/detection_model_zoo.md
absent computed
key q q q
END
# On the screen, too.
play --db wrong.db <<'END'
key t
expect launches
expect Not in the list:
expect "miles" is no unit
key q q
END
unset LAPENNA_LAB_DATA_DIR

# In the database, as tables that SQL joins.
db=$XDG_STATE_HOME/lapenna-lab/profiles.db
peak=$(sqlite3 "$db" "SELECT round(fp32_tflop_s, 3) FROM course_gpus
    WHERE device = 'NVIDIA A100-SXM4-40GB'") || complain 'sqlite3 failed'
[ "$peak" = 19.492 ] || complain "course_gpus has $peak"
# ... with runs, by the driver's name of a GPU: each run recorded on one has a sheet.
recorded=$LAB_SOURCE_DIR/profiles/recorded/h200.db
run profile import --db joined.db "$recorded"
run table sheets --db joined.db
[ "$(sqlite3 joined.db "SELECT count(*) FROM run r JOIN course_sheets g
    ON r.device = g.device WHERE g.bandwidth_gb_s = 4800")" = \
    "$(sqlite3 "$recorded" "SELECT count(*) FROM run WHERE backend = 'cuda'")" ] ||
    complain 'runs do not join with the data sheets'
for device in 'NVIDIA H100 80GB HBM3' 'Tesla P100-PCIE-16GB' 'Tesla T4'; do
    [ "$(sqlite3 joined.db "SELECT count(*) FROM course_sheets
        WHERE device = '$device'")" = 1 ] || complain "no sheet of $device"
done
[ "$(sqlite3 "$db" "SELECT count(*) FROM sqlite_master
    WHERE type = 'table' AND name LIKE 'course\\_%' ESCAPE '\\'")" -ge 24 ] ||
    complain 'tables are missing'
# They are written once: a second look does not change the file.
before=$(sqlite3 "$db" 'PRAGMA data_version; SELECT max(rowid) FROM sqlite_master')
run table gpus
[ "$before" = "$(sqlite3 "$db" 'PRAGMA data_version; SELECT max(rowid) FROM sqlite_master')" ] ||
    complain 'the tables were written again'
# Without a place for a database they are shown all the same.
HOME=$work/own.csv
XDG_STATE_HOME=
exits 0 table gpus
expect_stderr 'not kept in the database'
exits 3 table gpus --db "$work/own.csv"

# A line for each place that numbers come from, not for each number.
run table energy
expect_stdout 'naive, work, time, power: recorded run'
[ "$(grep -c 'recorded run [0-9]' "$out")" -eq 11 ] ||
    complain "a line for each number of a row"
# Of an iteration: by the energy counter, over those that it was read around.
each=$(sqlite3 "file:$ships?immutable=1" "SELECT warmEnergy_j / warmIterations FROM run
    WHERE lesson = 'mlp-digits' AND warmEnergy_j > 0 ORDER BY id DESC LIMIT 1")
expect_stdout 'mlp-digits, work, time, power: recorded run '
expect_stdout ', mlp-digits, the mean iteration at a batch of 10.'
run table energy --json
expect_json "[abs(r['energy_j'] / $each - 1) < 1e-9 for r in rows if r['case'] == 'mlp-digits'] == [True]"
# A large screen draws what is computed; a number that it is of while it is chosen.
play --db bars.db <<'KEYS'
resize 200 60
key t
enter /magma_dgemm
key Enter
expect ── magma [GFLOP/s] ──
key Tab
expect ── n ──
KEYS
