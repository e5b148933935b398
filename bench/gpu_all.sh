#!/bin/sh
# gpu_all.sh BUILD [OUTPUT] -- what only a GPU can decide, one part after the
# other, each with a time limit of its own. A part that fails or hangs does not
# stop the next; a table of all parts comes last. Each part keeps its output in
# OUTPUT (default: gpu_all). Without a GPU every part says "no device".
#
# To add a part: one line `part NAME LIMIT_SECONDS COMMAND...` below.
# Exit code: 0 every part is done, 1 one is not, 2 wrong usage, 4 no device.
set -u
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 BUILD [OUTPUT]" >&2
    exit 2
fi
build=$(cd -- "$1" && pwd) || exit 2
here=$(cd -- "$(dirname -- "$0")" && pwd)
lab=$build/bin/lapenna-lab
mkdir -p "${2:-gpu_all}" && out=$(cd -- "${2:-gpu_all}" && pwd) || exit 2
table=$out/table
: >"$table"
device=yes
nvidia-smi -L >"$out/devices" 2>&1 || device=
bad=0

part() { # NAME LIMIT_SECONDS COMMAND...
    name=$1
    limit=$2
    shift 2
    if [ -z "$device" ]; then
        printf '%-32s %s\n' "$name" 'no device' >>"$table"
        return
    fi
    echo "== $name: $*"
    begin=$(date +%s)
    status=0
    timeout -k 10 "$limit" "$@" >"$out/$name.log" 2>&1 </dev/null || status=$?
    case $status in
    0) word='done' ;;
    124 | 137) word="not done after $limit s" ;;
    *) word="failed ($status)" ;;
    esac
    [ "$status" -eq 0 ] || bad=1
    printf '%-32s %-24s %s s\n' "$name" "$word" "$(($(date +%s) - begin))" \
        >>"$table"
    tail -n 5 "$out/$name.log"
}

# The time to load the module, whose device code is compressed.
part start 60 "$lab" doctor
part gpu_tests 300 ctest --test-dir "$build" -L gpu -j4 --no-tests=error --output-on-failure

# Every golden walk; the second set has the rungs of the ladders.
part golden 200 python3 "$here/../tests/golden/check_step.py" "$lab" \
    --backend cuda --variants naive,cublas,cudnn --jobs 14
part golden_rungs 300 python3 "$here/../tests/golden/check_step.py" "$lab" \
    --backend cuda --jobs 14 \
    --variants fused,tiled,blocked,warp,block,tile,split,vector,cublas_lt,cublas_seq

# test_cuda_kernels has a launch that is refused on purpose: two errors.
for test in cudnn image reduce; do
    part "sanitizer_$test" 200 compute-sanitizer --error-exitcode 1 \
        "$build/bin/test_cuda_$test"
done

# The runs that ship.
part recorded 700 "$here/../profiles/recorded/make.sh" "$lab" "$out/recorded.db"

# The simulator's counts beside the card's, labs alone: lessons take longer.
part sim_card 300 python3 "$here/sim_card.py" "$lab" gemm saxpy reduction transpose \
    softmax layer_norm stencil gemv attention conv --out "$out/sim_card" --jobs 14

part training 400 python3 "$here/bench_training.py" "$lab" --repeats 3
part tracing 200 python3 "$here/tracing_training.py" "$lab" --no-torch

# Rows of labs under a step, on even and on odd sizes.
part step_rows 180 python3 "$here/step_rows.py" "$lab"

# Gradients of a convolution over a large batch, by every way of cuDNN.
for way in cublas cudnn cudnn_precomp_gemm cudnn_fft cudnn_winograd_nonfused; do
    part "conv_dw_$way" 120 python3 "$here/compare_pytorch.py" "$lab" \
        cnn-b1024 --iterations 1 --variants "--variant conv2d=$way"
done

# Attention with wide heads and no mask, each way alone.
for size in 1x1x256x128 1x1x4096x128 4x16x4096x128; do
    for way in mma wgmma cudnn; do
        part "attention_${way}_$size" 60 "$lab" lab attention --backend cuda \
            --variants "$way" --sizes "$size"
    done
done

echo
cat "$table"
[ -n "$device" ] || exit 4
exit "$bad"
