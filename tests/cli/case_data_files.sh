# shellcheck shell=sh
# What is no regular file, or unpacks to too much, is refused: nothing waits for
# it, and it takes no memory.
# data_lesson SOURCE PATH
data_lesson() {
    printf '%s\n' '---' 'format: 1' 'title: "t"' \
        "data: {source: $1, path: $2}" \
        'network: [{id: fc1, op: dense, units: 2}]' \
        'loss: {op: softmax_cross_entropy}' '---' '' '# t' '' 'text' >data.md
}
mkfifo fifo
mkfifo train-images-idx3-ubyte
for source in csv digits text words; do
    data_lesson "$source" fifo
    run lesson lint data.md
    expect_stderr 'fifo: cannot be read: it is a pipe'
    exits 3 run data.md
    expect_stderr 'fifo: cannot be read: it is a pipe'
    exits 3 step data.md
    exits 3 --plain data.md
done
data_lesson mnist .
exits 3 run data.md
expect_stderr 'it is a pipe'
data_lesson csv /dev/zero
exits 3 run data.md
expect_stderr 'it is a device'

# 300 MiB of numbers and spaces in 300 KiB.
"${LAB_PYTHON:-python3}" -c '
import gzip
row = b"0," * 9 + b"1" + b" " * (30 << 20) + b"\n"
with gzip.open("bomb.csv.gz", "wb", 6) as f:
    for _ in range(10):
        f.write(row)'
for source in csv text words; do
    data_lesson "$source" bomb.csv.gz
    exits 3 run data.md
    expect_stderr 'bomb.csv.gz: is longer than 256 MiB, unpacked'
done
data_lesson csv bomb.csv.gz
run run data.md
expect_stderr 'after line 8'

# A path that leads out of the lesson's directory is read, with a note.
mkdir -p own/deep
printf '0,1,0\n1,0,1\n0,0,1\n1,1,0\n' >other.csv
cp other.csv own/other.csv
for path in "$work/other.csv" ../other.csv deep/../../other.csv; do
    data_lesson csv "$path"
    sed 's/path: /batch: 1, path: /' data.md >own/data.md
    for words in 'run --iterations 2' 'step'; do
        # shellcheck disable=SC2086 # words
        exits 0 $words own/data.md
        expect_stderr 'other.csv, outside its own directory'
    done
    run --plain own/data.md
    expect_stdout 'other.csv, outside its own directory'
done
for path in other.csv ./other.csv deep/../other.csv; do
    data_lesson csv "$path"
    sed 's/path: /batch: 1, path: /' data.md >own/data.md
    exits 0 run --iterations 2 own/data.md
    expect_no_stderr
done
run run --iterations 2 own/data.md --data other.csv
expect_no_stderr

# A lesson whose data is missing states what to do; its text can be read, and no
# key is offered that cannot act.
mkdir empty
data_lesson mnist empty
play data.md <<'END'
resize 80 24
await 60000 has no file train-images-idx3-ubyte
expect --data DIR
absent s step
key s
expect s does nothing here
key L
expect > the lesson
key q q
END
