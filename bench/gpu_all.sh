#!/bin/sh
# gpu_all.sh [--rehearse|--plan [GPUS]] BUILD OUTPUT [STAGE...] -- what only a GPU can
# decide, in stages of 500 s at most each (all, one after the other, where none is named):
#
#     correct  tests, golden walks, compute-sanitizer, rows against each other and
#              against PyTorch side by side on the card, then the simulator's counts
#     labs     the labs that ship, with counters
#     speed    the lessons that ship, training beside PyTorch, tracing, ncu
#
# Each part has a time limit of its own and keeps its output in OUTPUT; one that fails
# or hangs does not stop the next. A table of all parts comes last, and is OUTPUT/table:
# it has the lines of other stages that ran before, too. BUILD has bin/ and lib/, as the build
# makes them or packed; neither cmake nor ctest is needed. Without a GPU every part prints
# "no device". With two GPUs recording and the simulator's counts take both.
#
#     GPU_SIM_CARD=FOLDER  the simulator's counts, made beforehand without a GPU by
#                          sim_card.py --no-card (OUTPUT/sim_card)
#     GPU_STAGE_SECONDS    of a stage (500)
#     GPU_SECONDS=FILE     seconds that parts took (gpu_seconds.txt beside this script)
#
# --rehearse, on a machine without a GPU: every command is run until it reports that no
# driver is found; the table has "ready", or what is wrong with the command.
#
# --plan runs nothing: it prints the seconds of each part on GPUS (as many as are there,
# at least 1), of each stage and of all. They are what the part took when it last was done,
# by gpu_seconds.txt; its limit, with a *, where it never was. A stage takes what its
# longest lane and the parts before and after the lanes take, and no longer than its own
# seconds: what does not fit then is not done. A run puts
# the seconds of what was done into gpu_seconds.txt, those of what was recorded into
# profiles/recorded/seconds.txt, and copies of both into OUTPUT.
#
# To add a part: one line `part NAME LIMIT_SECONDS COMMAND...` in a stage.
# Exit code: 0 every part is done, 1 one is not, 2 wrong usage, 4 no device.
set -u
rehearse=
planned= # GPUs; empty: it runs
case ${1:-} in
--rehearse)
    rehearse=yes
    shift
    ;;
--plan)
    planned=0
    shift
    case ${1:-} in [1-9])
        planned=$1
        shift
        ;;
    esac
    ;;
esac
if [ $# -lt 2 ]; then
    echo "usage: $0 [--rehearse|--plan [GPUS]] BUILD OUTPUT [correct|labs|speed...]" >&2
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
[ "$planned" != 0 ] || planned=$((gpus > 0 ? gpus : 1))
cards=${planned:-$gpus} # that the parts are for
[ "$cards" -gt 0 ] || cards=1
known=${GPU_SECONDS:-$here/gpu_seconds.txt}
recorded=$here/../profiles/recorded
lane=. # of the stage; .: none
wrapper=part # what runs a sanitizer's command

# Seconds that a part took on as many GPUs, or nothing.
known_seconds() {
    awk -v part="$1" -v gpus="$cards" '$1 == part && $2 == gpus { print $3 }' "$known"
}

part() { # NAME LIMIT_SECONDS COMMAND...
    name=$1
    limit=$2
    shift 2
    if [ -n "$planned" ]; then
        seconds=$(known_seconds "$name")
        star=
        [ -n "$seconds" ] || star='*'
        [ -n "$seconds" ] && [ "$seconds" -le "$limit" ] || seconds=$limit
        echo "$stage $lane $name $seconds $star" >>"$out/plan"
        return
    fi
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
    took=$(($(date +%s) - begin))
    [ "$word" != 'done' ] || echo "$name $gpus $took $device, $(date +%F)" >>"$out/took"
    printf '%-26s %-26s %-26s %4s s\n' "$device" "$name" "$word" "$took" \
        >>"$table.$stage"
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
        "$wrapper" "$name" "$limit" "$@"
    else
        "$wrapper" "$name" "$limit" compute-sanitizer --tool "$tool" \
            --error-exitcode 9 "$@"
    fi
}

golden() { # NAME LIMIT VARIANTS...
    name=$1
    limit=$2
    shift 2
    part "$name" "$limit" python3 "$here/../tests/golden/check_step.py" "$lab" \
        --backend cuda --jobs 10 --variants "$@"
}

# Variants of the golden walks; every other name that the program lists is in the last.
walks='naive,cublas,cudnn,tf32x3'
walks_variants='fused,tiled,blocked,warp,block,tile,split,vector,cublas_lt,cublas_seq'
# Variants that round to TF32.
walks_tensor='wmma_tf32,mma_tf32,wgmma_tf32,persistent_tf32'
# cuDNN's ways by name.
walks_cudnn='cudnn_implicit_gemm,cudnn_precomp_gemm,cudnn_gemm,cudnn_fft,cudnn_fft_tiling,cudnn_winograd,cudnn_winograd_nonfused'

# Runs a command where cuBLAS cannot be loaded, as on a machine that lacks it: `blocked`
# of lu then multiplies with a kernel of its own.
mkdir -p "$out/no_cublas"
for n in 12 13; do
    : >"$out/no_cublas/libcublas.so.$n"
    : >"$out/no_cublas/libcublasLt.so.$n"
done
without_cublas() { # NAME LIMIT COMMAND...
    name=$1
    limit=$2
    shift 2
    part "$name" "$limit" env LD_LIBRARY_PATH="$out/no_cublas:${LD_LIBRARY_PATH:-}" "$@"
}

# ---- correct: lanes that share the card ----

lane_walks() {
    [ "$gpus" -lt 2 ] || export CUDA_VISIBLE_DEVICES=0 # a process starts faster
    part gpu_tests 150 "$here/gpu_tests.sh" "$build"
    golden golden 200 "$walks"
    golden golden_variants 180 "$walks_variants"
    golden golden_tensor 60 "$walks_tensor"
    golden golden_cudnn 90 "$walks_cudnn"
}

lane_sanitizer() {
    # test_cuda_kernels has a launch that is refused on purpose: two errors.
    for test in reduce cudnn; do
        sanitizer "memcheck_$test" 150 memcheck "$build/bin/test_cuda_$test"
    done
    # Its eleven tests took 170 s beside other work.
    sanitizer memcheck_image 300 memcheck "$build/bin/test_cuda_image"
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
    # lu_update, which cuBLAS hides.
    wrapper=without_cublas
    for tool in memcheck racecheck; do
        sanitizer "${tool}_lu_update" 60 "$tool" \
            "$build/bin/test_cuda_ladders" lu
    done
}

lane_rows() {
    # shellcheck disable=SC2016 # the inner shell expands it
    without_cublas lu_update 60 \
        sh -c '"$0" lab lu --sizes 61,77,500,1000 --variants unblocked,blocked \
            --repeat 20 --backend cuda --json --db "$1" >"$1.json" || exit
            grep -c "\"name\":\"lu_update" "$1.json"' "$lab" "$out/lu_update.db"
    # Rows of labs under a step, on even and on odd sizes.
    part step_rows 240 python3 "$here/step_rows.py" "$lab" --jobs 8
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
    golden golden_rest 240 all \
        --but "$walks,$walks_variants,$walks_tensor,$walks_cudnn"
}

stage_correct() {
    # The time to load the module: its device code is compressed.
    part start 30 "$lab" doctor
    # Compares times: alone.
    part gpu_tests_advice 40 "$here/gpu_tests.sh" "$build" test_cuda_advice
    all=$ends
    ends=$((ends - 140))
    lane=walks
    lane_walks &
    (
        # The last of the GPUs, where there are two.
        [ "$gpus" -lt 2 ] || export CUDA_VISIBLE_DEVICES=$((gpus - 1))
        lane=sanitizer
        lane_sanitizer &
        lane=sanitizer_ladders
        lane_sanitizer_ladders &
        lane=rows
        lane_rows &
        lane=attention
        lane_attention &
        wait
    ) &
    wait
    ends=$all
    lane=.
    # First what has no counts beside a card yet.
    part sim_card 160 python3 "$here/sim_card.py" "$lab" --carried --limit 110 \
        --first gemm_int8,gemm_sparse,dot,trsv,gemm_full,conv_filter,conv_data,lu,odd \
        --out "${GPU_SIM_CARD:-$out/sim_card}" --jobs 8 --gpus "$cards"
}

# What is left of the stage when it is done is 30 s for the files' merge.
record() { # KIND LIMIT
    if [ -n "$planned" ]; then
        seconds=$(LAB_RECORD_KIND=$1 LAB_RECORD_PLAN=1 "$recorded/make.sh" "$lab" \
            "$out/recorded_$1.db" "$cards")
        star=
        [ "$seconds" -le $(($2 - 30)) ] || star="of $seconds"
        [ -z "$star" ] || seconds=$(($2 - 30))
        echo "$stage $lane recorded_$1 $((seconds + 30)) $star" >>"$out/plan"
        return
    fi
    seconds=$((ends - $(date +%s)))
    [ "$seconds" -lt "$2" ] || seconds=$2
    part "recorded_$1" "$2" env LAB_RECORD_KIND="$1" LAB_RECORD_LIMIT="$((seconds - 30))" \
        LAB_RECORD_TIMES="$recorded/seconds.txt" \
        "$recorded/make.sh" "$lab" "$out/recorded_$1.db" "$cards"
}

stage_labs() {
    record labs $((stage_seconds - 5))
}

stage_speed() {
    if [ "$cards" -gt 1 ]; then record lessons 200; else record lessons 320; fi
    part training 150 python3 "$here/bench_training.py" "$lab" --repeats 2 --no-compile
    part tracing 60 python3 "$here/tracing_training.py" "$lab" gpt --repeats 1 \
        --iterations 4000 --no-torch
    part compare_ncu 90 python3 "$here/compare_ncu.py" "$lab" --case large \
        --precision tf32
}

stage_seconds=${GPU_STAGE_SECONDS:-500}
: >"$out/plan"
: >"$out/took"
for stage in "$@"; do
    ends=$(($(date +%s) + stage_seconds))
    [ -n "$planned" ] || {
        echo "---- $stage"
        : >"$table.$stage" # not those of the same stage before
    }
    "stage_$stage"
    [ -n "$planned" ] || cat "$table".* >"$table"
done
if [ -n "$planned" ]; then
    # Lanes stand side by side: of a stage the longest one counts.
    awk -v gpus="$cards" -v most="$stage_seconds" '{ printf "%-8s %-18s %-26s %5d s %s\n", $1, $2, $3, $4,
                $5 == "of" ? "of " $6 " s" : $5
            if (!($1 in stages)) { order[++n] = $1; stages[$1] = 0 }
            if ($2 == ".") alone[$1] += $4; else of[$1 " " $2] += $4 }
        END { for (i in of) { split(i, w, " ")
                if (of[i] > longest[w[1]]) longest[w[1]] = of[i] }
            for (i = 1; i <= n; i++) {
                s = alone[order[i]] + longest[order[i]]
                all += s < most ? s : most
                printf "%-8s %-45s %5d s%s\n", order[i], "on " gpus " GPU" (gpus > 1 ? "s" : ""),
                    s, (s > most ? ", and it ends after " most " s" : "") }
            printf "%-54s %5d s\n", "all", all }' "$out/plan"
    exit 0
fi
if [ -s "$out/took" ]; then
    awk '{ key = $1 " " $2; $1 = $2 = ""; sub(/^ +/, ""); of[key] = $0 }
        END { for (k in of) print k, of[k] }' "$known" "$out/took" | sort >"$out/gpu_seconds.txt"
    cp "$out/gpu_seconds.txt" "$known"
fi
# Of the jobs that are done, where others were left out too.
cp "$recorded/seconds.txt" "$out/recorded_seconds.txt"
echo
printf '%-26s %-26s %-26s %6s\n' 'device, driver' part result time
cat "$table"
[ "$gpus" -gt 0 ] || [ -n "$rehearse" ] || exit 4
if [ -n "$rehearse" ]; then
    ! grep -q 'wrong command' "$table" || exit 1
else
    [ "$(grep -c ' done  ' "$table")" -eq "$(grep -c . "$table")" ] || exit 1
fi
