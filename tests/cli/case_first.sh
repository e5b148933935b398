# shellcheck shell=sh
# The first kernels: hello, scalar_add, vectors, index; edited launches, and
# launches that no device takes.
lines() {
    grep -c '^Hello World from block' "$out"
}
for launch in '1 10 10' '10 1 10' '10 10 100'; do
    # shellcheck disable=SC2086 # three words
    set -- $launch
    run lab hello --backend cpu --grid "$1" --block "$2"
    expect_exit 0
    [ "$(lines)" = "$3" ] || complain "$(lines) lines, not $3"
    expect_stdout "$3 threads, $3 lines"
done
expect_stdout 'no GPU is used'
run lab hello --backend cpu --grid 2x2 --block 3 --json
expect_exit 0
expect_json 'of("lab_launch")[0]["emulated"] is True' \
    'of("lab_launch")[0]["grid"] == [2, 2, 1]' \
    'len(of("lab_line")) == 12' \
    'of("lab_line")[11]["text"] == "Hello World from block 3, thread 2"' \
    'of("lab_lines")[0]["lines"] == 12'

run lab scalar_add --backend cpu
expect_exit 0
expect_stdout '2 + 7 = 9'
expect_stdout '2. copy a = 2 and b = 7 to the device'
run lab scalar_add --backend cpu --json
expect_json 'of("lab_sum")[0]["c"] == 9' 'len(of("lab_step")) == 4'

# The six rows that the course prints.
run lab vectors --backend cpu
expect_exit 0
for row in '0.84019 + 0.39438 = 1.23457' '0.78310 + 0.79844 = 1.58154' \
    '0.91165 + 0.19755 = 1.10920' '0.33522 + 0.76823 = 1.10345' \
    '0.78900 + 0.84517 = 1.63417' '0.66494 + 0.30764 = 0.97258' \
    'vector_add<<<196, 256>>>' '176 idle'; do
    expect_stdout "$row"
done
run lab vectors --backend cpu --json
expect_json 'of("lab_vectors")[0]["idle_threads"] == 176' \
    'of("lab_vectors")[0]["right"] == 50000' \
    '[p["element"] for p in of("lab_pair")] == [0, 1, 2, 3, 49998, 49999]'
# A grid that is too small leaves elements without a thread; that is no fault.
run lab vectors --backend cpu --grid 100 --json
expect_exit 0
expect_json 'of("lab_vectors")[0]["without_a_thread"] == 50000 - 25600' \
    'of("lab_vectors")[0]["idle_threads"] == 0'
run lab vectors --backend cpu --block 100 --elements 5
expect_exit 0
expect_stdout '100 threads for 5 elements: 95 idle'

run lab index --backend cpu --grid 3x2 --block 4x3
expect_exit 0
expect_stdout '6 blocks x 12 threads = 72 threads'
expect_stdout 'run: 72 of 72 indices'
run lab index --backend cpu --grid 4 --block 8 --at 2,5
expect_exit 0
expect_stdout '5 + 2 * 8 = 21'
expect_stdout '[21]'
run lab index --backend cpu --grid 3x2 --block 4x3 --at 2,1,3,2 --elements 70 \
    --json
expect_exit 0
expect_json 'of("lab_index")[0]["index"] == 71' \
    'of("lab_index")[0]["idle_threads"] == 2' \
    'of("lab_index_run")[0]["of_one_thread"] == 72'
run lab index --backend cpu --grid 4 --block 8 --elements 50 --ascii
expect_exit 0
expect_ascii
expect_stdout '18 of them have no thread'

for wrong in '--grid 0x10' '--grid 0' '--block 3x' '--block -1' '--grid 1e3' \
    '--grid 2x2x2x2' '--grid 99999999999' '--at 1' '--at 1,2,3' '--at 4,0' \
    '--at 0,0x1' '--at x' '--elements 0' '--elements 5x5' '--sizes 5' \
    '--repeat 20'; do
    # shellcheck disable=SC2086 # an option and its value
    run lab index --backend cpu --grid 4 --block 8 $wrong
    expect_exit 2
done
run lab index --backend cpu --grid 0x10
expect_stderr 'hexadecimal'
# Beyond what a device takes: its limits are said.
run lab index --backend cpu --block 1025
expect_exit 4
expect_stderr '1024 x 1024 x 64'
run lab index --backend cpu --block 64x32
expect_exit 4
expect_stderr '2048 threads'
run lab index --backend cpu --block 1x1x65
expect_exit 4
run lab index --backend cpu --grid 1x65536
expect_exit 4
expect_stderr '65535'
run lab hello --backend cpu --grid 10000 --block 1000
expect_exit 2
expect_stderr '10000 lines'

# An option that a lab does not use is not taken, with those that it takes.
refuses() { # OPTION WORD...: what is refused is OPTION
    refused=$1
    shift
    run lab "$@"
    expect_exit 2
    expect_no_stdout
    expect_stderr " does not use --$refused: it takes "
}
refuses at hello --backend cpu --at 1,1
refuses elements scalar_add --elements 5
expect_stderr 'it takes --backend, --device, --grid, --block, --json, --ascii'
refuses at vectors --at 1
refuses repeat lab-hello --repeat 20
refuses db index --db x.db
refuses seed hello --seed 1
refuses grid gemm --backend cpu --grid 3
expect_stderr 'gemm does not use'
refuses retune gemm --retune
for option in repeat=20 variants=naive precision=fp32 predict=naive=1 seed=1 \
    counters=basic backend=cuda db=x.db; do
    refuses "${option%%=*}" lab-cudnn-calls "--$option"
    expect_stderr 'it takes --device, --sizes, --json, --ascii'
done
refuses chart lab-cudnn-calls --chart
for option in variants=naive predict=tuned=1 counters=basic grid=3; do
    refuses "${option%%=*}" tune gemm "--$option"
    refuses "${option%%=*}" lab-autotune "--$option"
    refuses "${option%%=*}" batch-size mlp-digits "--$option"
    refuses "${option%%=*}" lab-batch-size "--$option"
done
refuses sizes products mlp-digits --sizes 4
refuses sizes lab-backward --sizes 4
refuses precision backward all --precision fp32
refuses sizes --list --sizes 4
[ ! -e x.db ] || complain 'something was recorded'

run lab gemm --list
expect_exit 2
expect_stderr 'gemm is one too many'
run lab --list
expect_exit 0
expect_stdout 'scalar_add'
run lab --list --json
expect_json 'any(r["lab"] == "index" for r in of("operation"))'

# Lessons about them open by name, and have no sizes.
run lab lab-scalar-add --backend cpu
expect_exit 0
expect_stdout '2 + 7 = 9'
lesson bad <<'END'
---
format: 1
kind: lab
title: A first kernel
lab: hello
sizes: [5]
---
END
run lesson lint bad.md
expect_exit 3
expect_stderr 'bad.md:6'
expect_stderr 'one kernel'

# A rung that is wrong on purpose is shown, not timed, and is no failure.
run lab stencil --backend cpu --sizes 1024 --repeat 20 --json
expect_exit 0
expect_json '[r["wrong_elements"] for r in of("lab_row") if "wrong_elements" in r] == [168]' \
    '[r["median_ns"] for r in of("lab_row") if "wrong_elements" in r] == [None]' \
    'sum(r["status"] == "done" for r in of("lab_row")) == 2'
run lab stencil --backend cpu --sizes 1024 --repeat 20
expect_exit 0
expect_stdout '168 of 1024 elements are wrong'
