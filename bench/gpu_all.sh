#!/bin/sh
# gpu_all.sh [--rehearse] BUILD OUTPUT [STAGE...] -- what only a GPU can decide, in
# stages of 500 s at most each (all, one after the other, where none is named):
#
#     correct  tests, golden walks, compute-sanitizer, rows against each other and
#              against PyTorch side by side on the card, then the simulator's counts
#     labs     the labs that ship, with counters
#     speed    the lessons that ship, training beside PyTorch, tracing, ncu
#
# Each part has a time limit of its own and keeps its output in OUTPUT; one that fails
# or hangs does not stop the next. A table of all parts comes last, and is OUTPUT/table:
# it has the lines of other stages that ran before, too. BUILD has bin/ and lib/, as the build
# makes them or packed; neither cmake nor ctest is needed. Without a GPU every part says
# "no device". With two GPUs recording takes both.
#
#     GPU_SIM_CARD=FOLDER  the simulator's counts, made beforehand without a GPU by
#                          sim_card.py --no-card (OUTPUT/sim_card)
#     GPU_STAGE_SECONDS    of a stage (500)
#
# --rehearse, on a machine without a GPU: every command is run until it reports that no
# driver is found; the table has "ready", or what is wrong with the command.
#
# To add a part: one line `part NAME LIMIT_SECONDS COMMAND...` in a stage.
# Exit code: 0 every part is done, 1 one is not, 2 wrong usage, 4 no device.
set -u
rehearse=
[ "${1:-}" != --rehearse ] || {
    rehearse=yes
    shift
}
if [ $# -lt 2 ]; then
    echo "usage: $0 [--rehearse] BUILD OUTPUT [correct|labs|speed...]" >&2
    exit 2
fi
build=$(cd -- "$1" && pwd) || exit 2
here=$(cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$2" && out=$(cd -- "$2" && pwd) || exit 2
shift 2
[ $# -gt 0 ] || set -- correct labs speed
for stage in "$@"; do
    case $stage in correct | labs | speed) ;; *)
        echo "$0: no stage '$stage': correct, labs or speed" >&2
        exit 2
        ;;
    esac
done
lab=$build/bin/lapenna-lab
export LAB_EXE="$lab" LAB_BINARY_DIR="$build" LAB_SOURCE_DIR="${here%/bench}"
# A module that was packed lies elsewhere than where it was built.
[ ! -e "$build/lib/lapenna-lab-cuda.so" ] || export LAPENNA_LAB_MODULE_DIR="$build/lib"
table=$out/table
# Without a driver nvidia-smi prints an error to stdout, and fails.
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader \
    2>"$out/devices") || device=
gpus=$(printf '%s' "$device" | grep -c .)
device=$(printf '%s\n' "$device" | sed 's/, / /; q')
[ -n "$device" ] || device='no device'
[ "$gpus" -eq 0 ] || rehearse=

part() { # NAME LIMIT_SECONDS COMMAND...
    name=$1
    limit=$2
    shift 2
    begin=$(date +%s)
    left=$((ends - begin))
    [ "$left" -ge "$limit" ] || limit=$left
    status=0
    if [ -z "$rehearse" ] && [ "$gpus" -eq 0 ]; then
        word='no device'
    elif [ "$limit" -lt 2 ]; then
        word='left out, no time'
    else
        echo "== $name: $*"
        timeout -k 10 "$limit" "$@" >"$out/$name.log" 2>&1 </dev/null || status=$?
        case $status in
        0) word='done' ;;
        124 | 137) word="not done after $limit s" ;;
        *) word="failed ($status)" ;;
        esac
        if [ -n "$rehearse" ]; then
            word=$(rehearsed)
        fi
        tail -n 5 "$out/$name.log"
    fi
    printf '%-26s %-26s %-26s %4s s\n' "$device" "$name" "$word" \
        "$(($(date +%s) - begin))" >>"$table.$stage"
}

# What stopped a command without a GPU: the driver that is missing, or its own options.
rehearsed() {
    if grep -qE '[Uu]sage:|unrecognized|invalid choice|does not use' "$out/$name.log"; then
        echo 'wrong command'
    elif grep -qE "NVIDIA driver|SKIPPED|No module named '(torch|numpy)'" \
        "$out/$name.log"; then
        echo 'ready'
    else
        echo "wrong command ($status)"
    fi
}

sanitizer() { # NAME LIMIT TOOL COMMAND...
    name=$1
    limit=$2
    tool=$3
    shift 3
    if [ -n "$rehearse" ] && ! command -v compute-sanitizer >/dev/null; then
        # What it is to run alone.
        while [ "${1#-}" != "$1" ]; do shift 2; done
        part "$name" "$limit" "$@"
    else
        part "$name" "$limit" compute-sanitizer --tool "$tool" --error-exitcode 9 "$@"
    fi
}

golden() { # NAME LIMIT VARIANTS
    part "$1" "$2" python3 "$here/../tests/golden/check_step.py" "$lab" \
        --backend cuda --jobs 10 --variants "$3"
}

# ---- correct: lanes that share the card ----

lane_walks() {
    part gpu_tests 150 "$here/gpu_tests.sh" "$build"
    golden golden 120 naive,cublas,cudnn,tf32x3
    golden golden_rungs 180 \
        fused,tiled,blocked,warp,block,tile,split,vector,cublas_lt,cublas_seq
    # Rungs that round to TF32.
    golden golden_tensor 60 wmma_tf32,mma_tf32,wgmma_tf32,persistent_tf32
}

lane_sanitizer() {
    # test_cuda_kernels has a launch that is refused on purpose: two errors.
    for test in reduce image cudnn; do
        sanitizer "memcheck_$test" 150 memcheck "$build/bin/test_cuda_$test"
    done
    # cuDNN's ways by name.
    golden golden_cudnn 90 cudnn_implicit_gemm,cudnn_precomp_gemm,cudnn_gemm,cudnn_fft,cudnn_fft_tiling,cudnn_winograd,cudnn_winograd_nonfused
}

lane_sanitizer_ladders() {
    # The kernels of one product: a whole iteration takes minutes.
    for tool in racecheck synccheck; do
        sanitizer "${tool}_tf32x3" 60 "$tool" --kernel-name kernel_substring=tf32x3 \
            "$build/bin/test_cuda_ladders" precision
    done
    for lab_name in dot trsv lu gemm_full gemm_sparse gemm_int8; do
        sanitizer "memcheck_$lab_name" 60 memcheck \
            "$build/bin/test_cuda_ladders" "$lab_name"
    done
}

lane_rows() {
    # Without cuBLAS, as on a machine that lacks it, `blocked` of lu multiplies with a
    # kernel of its own: a library that cannot be loaded comes first.
    mkdir -p "$out/no_cublas"
    for n in 12 13; do
        : >"$out/no_cublas/libcublas.so.$n"
        : >"$out/no_cublas/libcublasLt.so.$n"
    done
    # shellcheck disable=SC2016 # the inner shell expands it
    part lu_update 60 env LD_LIBRARY_PATH="$out/no_cublas:${LD_LIBRARY_PATH:-}" \
        sh -c '"$0" lab lu --sizes 61,77,500,1000 --variants unblocked,blocked \
            --repeat 20 --backend cuda --json --db "$1" >"$1.json" || exit
            grep -c "\"name\":\"lu_update" "$1.json"' "$lab" "$out/lu_update.db"
    # Rows of labs under a step, on even and on odd sizes.
    part step_rows 240 python3 "$here/step_rows.py" "$lab" --jobs 4
    # Gradients of a convolution over a large batch, by every way of cuDNN.
    for way in cublas cudnn cudnn_precomp_gemm cudnn_fft cudnn_winograd_nonfused; do
        part "conv_dw_$way" 60 python3 "$here/compare_pytorch.py" "$lab" \
            cnn-b1024 --iterations 1 --variants "--variant conv2d=$way"
    done
}

lane_attention() {
    # Wide heads and no mask, each way alone.
    for size in 1x1x256x128 1x1x4096x128 4x16x4096x128; do
        for way in mma wgmma cudnn; do
            part "attention_${way}_$size" 30 "$lab" lab attention --backend cuda \
                --variants "$way" --sizes "$size" --db "$out/attention.db"
        done
    done
}

stage_correct() {
    # The time to load the module: its device code is compressed.
    part start 30 "$lab" doctor
    # Compares times: alone.
    part gpu_tests_advice 40 "$here/gpu_tests.sh" "$build" test_cuda_advice
    all=$ends
    ends=$((ends - 140))
    lane_walks &
    (
        # The last of the GPUs, where there are two.
        [ "$gpus" -lt 2 ] || export CUDA_VISIBLE_DEVICES=$((gpus - 1))
        lane_sanitizer &
        lane_sanitizer_ladders &
        lane_rows &
        lane_attention &
        wait
    ) &
    wait
    ends=$all
    # Counters are one process's at a time.
    part sim_card 160 python3 "$here/sim_card.py" "$lab" --carried --limit 110 \
        --out "${GPU_SIM_CARD:-$out/sim_card}" --jobs 8
}

record() { # KIND LIMIT
    # The files are merged in the last 30 s.
    seconds=$((ends - $(date +%s)))
    [ "$seconds" -lt "$2" ] || seconds=$2
    part "recorded_$1" "$2" env LAB_RECORD_KIND="$1" LAB_RECORD_LIMIT="$((seconds - 30))" \
        "$here/../profiles/recorded/make.sh" "$lab" "$out/recorded_$1.db" "$recorders"
}

stage_labs() {
    record labs 495
}

stage_speed() {
    if [ "$gpus" -gt 1 ]; then record lessons 200; else record lessons 320; fi
    part training 150 python3 "$here/bench_training.py" "$lab" --repeats 2 --no-compile
    part tracing 60 python3 "$here/tracing_training.py" "$lab" gpt --repeats 1 \
        --iterations 4000 --no-torch
    part compare_ncu 90 python3 "$here/compare_ncu.py" "$lab" --case large \
        --precision tf32
}

recorders=$gpus
[ "$recorders" -gt 0 ] || recorders=1
for stage in "$@"; do
    ends=$(($(date +%s) + ${GPU_STAGE_SECONDS:-500}))
    echo "---- $stage"
    : >"$table.$stage" # not those of the same stage before
    "stage_$stage"
    cat "$table".* >"$table"
done
echo
printf '%-26s %-26s %-26s %6s\n' 'device, driver' part result time
cat "$table"
[ "$gpus" -gt 0 ] || [ -n "$rehearse" ] || exit 4
if [ -n "$rehearse" ]; then
    ! grep -q 'wrong command' "$table" || exit 1
else
    [ "$(grep -c ' done  ' "$table")" -eq "$(grep -c . "$table")" ] || exit 1
fi
