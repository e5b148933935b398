# shellcheck shell=sh
# `sim`: any kernel on a simulated GPU. PTX that nvcc made, then what compilers here make.
files=$LAB_SOURCE_DIR/tests/cli/golden/files
cp "$files"/scale.* "$files"/turn.* .

exits 0 sim scale.ptx --kernel _Z5scaleIfEvPT_S0_i --grid 4 --block 32 --json \
    --arg 'inout:float[10,10]=iota' --arg float:0.5 --arg int:100
expect_no_stderr
expect_json 'one("launch")["kernel"] == "scale"' \
    'one("launch")["symbol"] == "_Z5scaleIfEvPT_S0_i"' \
    'one("launch")["grid"] == [4, 1, 1]' 'one("launch")["block"] == [32, 1, 1]' \
    'one("launch")["counts"]["flops"] == 100' \
    'one("output")["argument"] == 0' 'one("output")["shape"] == [10, 10]' \
    'one("output")["data"] == [i / 2 for i in range(100)]' \
    'rows[-1] == {"type": "end", "findings": 0}'
exits 0 sim scale.ptx --kernel 'scale<double>' --grid 2 --block 64 --json \
    --arg 'inout:double[100]=-3' --arg double:0.5 --arg int:100
expect_json 'one("launch")["kernel"] == "scale<double>"' \
    'one("output")["data"] == [-1.5] * 100' \
    'one("launch")["counts"]["flops_f64"] == 100'

# Of a long output the text has both ends, and --show any part, of an input too.
scaled() {
    run sim scale.ptx --kernel 'scale<float>' --grid 4 --block 32 \
        --arg 'inout:float[10,10]=iota' --arg float:0.5 --arg int:100 "$@"
}
scaled
expect_exit 0
expect_stdout "90 more: --show 'x[0]' prints a part, --show x all"
scaled --show '0[3,2:-4]' --show '0[-1,:3]'
expect_exit 0
expect_stdout '  [3,2]: 16 16.5 17 17.5'
expect_stdout '  [9,0]: 45 45.5 46'
grep -q '17.5 .*\|46 ' "$out" && complain 'more than the part'
! grep -q 'more: --show' "$out" || complain 'a part, and the hint'
scaled --show 0
expect_exit 0
[ "$(grep -c '^  \[[0-9],[08]\]: ' "$out")" = 20 ] ||
    complain 'all ten rows, two lines each'
expect_stdout '  [9,8]: 49 49.5'
exits 0 sim turn.ptx --grid 2 --block 64 --checks none --show 'in[126:]' \
    --arg 'in:int[128]=iota' --arg 'out:int[128]'
expect_stdout 'argument 0, in, int[128]:'
expect_stdout '  [126]: 126 127'
expect_stdout "118 more: --show 'out[8:24]' prints a part, --show out all"
exits 3 sim turn.ptx --grid 2 --block 64 --show 'in[1,2]' --arg 'in:int[128]=iota' \
    --arg 'out:int[128]'
expect_stderr 'in[1,2]: 2 indices, and in:int[128]=iota has 1 axis'
for bad in '0[10]' '0[1:1]' '0[0,0,0]' '1' '3' 'none[1]' '0[:-10]'; do
    scaled --show "$bad"
    expect_exit 3
done
for bad in '0[10]' '0[-11]' '0[10:]' '0[8:11]'; do
    scaled --show "$bad"
    expect_exit 3
    expect_stderr 'axis 0 of inout:float[10,10]=iota goes from 0 to 9'
done
scaled --show '0[:,5:-8]'
expect_exit 3
expect_stderr '0[:,5:-8]: the range of axis 1 is empty, from 5 to before 2'
for bad in '0[' '0[1' '0[]' '[1]' '' '0[1]x' '0[1,,2]' '0[a]' '0[ 1]' '0[1:2:3]' '0[+3]' \
    '0[9223372036854775807]' '0[0:9223372036854775807]' '0[9223372036854775807:]'; do
    scaled --show "$bad"
    expect_exit 2
    expect_stderr 'is no part of an argument'
done
scaled --show 0 --json
expect_exit 2

# Addresses are the same in each run, whatever the system gave the program: what a kernel
# stores of a pointer, and how far a wild access is from memory.
cat >address.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry address(.param .u64 address_0, .param .u64 address_1)
{
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [address_0];
ld.param.u64 %rd2, [address_1];
st.global.u64 [%rd1], %rd2;
mov.u64 %rd3, 4096000;
ld.global.u64 %rd4, [%rd3];
st.global.u64 [%rd1+8], %rd4;
ret;
}
PTX
for i in 1 2; do
    run sim address.ptx --grid 1 --block 1 --arg 'out:long[2]' --arg 'in:float[1000]'
    expect_exit 1
    expect_stdout 'bytes before the start of'
    cp "$out" "address.$i"
done
cmp address.1 address.2 || complain "addresses differ between runs"

# A guard that does not hold: the place, the argument, the element.
exits 1 sim scale.ptx --kernel 'scale<float>' --grid 2 --block 64 --json \
    --arg 'inout:float[100]=iota' --arg float:2 --arg int:101
expect_json 'rows[-1] == {"type": "end", "findings": 1}' \
    'one("finding")["check"] == "memory"' 'one("finding")["line"] == 6' \
    'one("finding")["file"].endswith("scale.cu")' \
    'one("finding")["block"] == [1, 0, 0]' \
    'one("finding")["thread"] == [36, 0, 0]' 'one("finding")["argument"] == 0'

# What a thread that was ended did not write is read at line 13 by one before it: its
# cause, at line 8, comes first.
cp "$files"/rowmax.* .
exits 1 sim rowmax.ptx --grid 5 --block 64 --arg 'in:float[5,77]=random' --arg 'out:float[5]' \
    --arg int:5 --arg int:77 --json
expect_json '[(f["check"], f["line"]) for f in of("finding")] ==
    [("memory", 8), ("uninitialised", 13)]'

# The missing barrier, for every seed; memory that nothing wrote; inputs.
for seed in 1 2 3; do
    exits 1 sim turn.ptx --grid 2 --block 64 --seed $seed --json \
        --arg 'in:int[128]=iota' --arg 'out:int[128]'
    expect_json 'any(r["check"] == "race" and r["block"] == [0, 0, 0] and
            {r["line"], r["other"]["line"]} == {6, 7} and
            r["thread"] != r["other"]["thread"]
            for r in rows if r["type"] == "finding")'
done
exits 1 sim turn.ptx --grid 1 --block 64 --json --arg 'out:int[64]' --arg 'out:int[64]'
expect_json 'any(r["check"] == "uninitialised" and r["line"] == 6 and
    r["argument"] == 0 for r in rows if r["type"] == "finding")'
exits 1 sim turn.ptx --grid 1 --block 64 --json --arg 'in:int[64]' --arg 'in:int[64]'
expect_json 'any(r["check"] == "memory" and r["line"] == 7 and
    r["argument"] == 1 for r in rows if r["type"] == "finding")'

# The same bits for any number of threads, random inputs from the seed.
for threads in 1 3; do
    exits 0 sim scale.ptx --kernel pairs --grid 8 --block 32 --threads $threads \
        --seed 5 --json --arg 'in:float[250]' --arg 'out:float[250]' --arg int:250
    expect_json 'one("output")["unwritten"] == 1' \
        'all(-2 <= v < 2 for v in one("output")["data"][:249])' \
        'len(set(one("output")["data"])) > 240'
    mv "$out" "with-$threads"
    out=$work/out
done
cmp -s with-1 with-3 || complain 'another number of threads, other bits'

# Numbers of a file.
"${LAB_PYTHON:-python3}" - <<'END'
import struct
head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }"
with open("x.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    f.write(struct.pack("<4d", 0.5, -1, 3e38, float("inf")))
END
exits 0 sim scale.ptx --kernel 'scale<float>' --grid 1 --block 32 --json \
    --arg 'inout:float[4]=@x.npy' --arg float:2 --arg int:4
expect_json 'one("output")["data"] == [1, -2, "inf", "inf"]'
exits 3 sim scale.ptx --kernel 'scale<float>' --grid 1 --block 32 \
    --arg 'inout:float[5]=@x.npy' --arg float:2 --arg int:4
expect_stderr 'has 4 elements, and 5 are wanted'
exits 3 sim scale.ptx --kernel 'scale<float>' --grid 1 --block 32 \
    --arg 'inout:float[5]=@none.npy' --arg float:2 --arg int:4

# Lines with what they did.
exits 0 sim turn.ptx --grid 2 --block 64 --counts --json --checks none \
    --arg 'in:int[128]=iota' --arg 'out:int[128]'
expect_json '[r["type"] for r in rows].count("finding") == 0' \
    '[(r["requests"], r["sectors"]) for r in rows
      if r["type"] == "line" and r["line"] == 6] == [(4, 16)]' \
    '[r["wavefronts"] for r in rows
      if r["type"] == "line" and r["line"] == 7] == [4]'

# A line of an inlined function, with those of the calls; a name without a blank.
cat >inlined.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z1kILi1ELi2EEvPi(.param .u64 y)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    .loc 1 30 1
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 7;
    .loc 1 12 5, function_name $L__info_string0, inlined_at 1 30 1
    st.global.u32 [%rd1], %r1;
    .loc 1 5 3, function_name $L__info_string0, inlined_at 1 12 5
    st.global.u32 [%rd1+400], %r1;
    ret;
}
.file 1 "rows.cu"
.section .debug_str
{
$L__info_string0:
.b8 112,117,116,0
}
END
run sim inlined.ptx --kernel 'k<1,2>' --grid 1 --block 1 --arg 'out:int[1]' --json
expect_exit 1
expect_json 'one("finding")["line"] == 5' \
    'one("finding")["inlined_at"] == [{"file": "rows.cu", "line": 12},
                                      {"file": "rows.cu", "line": 30}]'
run sim inlined.ptx --kernel 'k<1,2>' --grid 1 --block 1 --arg 'out:int[1]'
expect_exit 1
expect_stdout 'rows.cu:5, block'
expect_stdout 'called at rows.cu:12'
expect_stdout 'called at rows.cu:30'

# Warps that wait at two barriers, each a finding; lines with all that was executed,
# though the compiler gives an instruction none.
cat >waits.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .loc 1 3 1
    mov.u32 %r1, %tid.x;
    .loc 1 0 1
    setp.lt.u32 %p1, %r1, 64;
    @!%p1 bra $OTHER;
    .loc 1 4 1
    bar.sync 1, 64;
    bra $ALL;
$OTHER:
    .loc 1 6 1
    bar.sync 2, 64;
$ALL:
    .loc 1 8 1
    bar.sync 0;
    ret;
}
.file 1 "waits.cu"
END
run sim waits.ptx --grid 1 --block 96 --json --counts
expect_exit 1
expect_json '[(f["line"], f["message"][:20]) for f in of("finding")] ==
    [(8, "deadlock: 2 of 3 war"), (6, "deadlock: 1 of 3 war")]' \
    'sum(r["executions"] for r in of("line")) == one("launch")["counts"]["warp_instructions"]' \
    '[r["executions"] for r in of("line") if r["line"] == 3] == [9]'

# A kernel that does not end.
cat >endless.ptx <<'END'
.version 7.0
.target sm_75
.address_size 64
.visible .entry endless()
{
again:
    bra again;
}
END
exits 1 sim endless.ptx --grid 1 --block 1 --budget 100000 --json
expect_json 'one("finding")["check"] == "budget"' 'one("finding")["line"] is None'
timeout --preserve-status -s INT 1 "$LAB_EXE" sim endless.ptx --budget 0 \
    --grid 1 --block 1 >"$out" 2>"$err"
status=$?
expect_exit 130

# The clock is what the warp has executed: within one turn of the warp, too.
cat >clock.ptx <<'END'
.version 7.0
.target sm_75
.address_size 64
.visible .entry clock(.param .u64 y)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    mov.u64 %rd2, %clock64;
    mov.u32 %r, 0;
again:
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, 100;
    @%p bra again;
    mov.u64 %rd3, %clock64;
    st.global.u64 [%rd1], %rd2;
    st.global.u64 [%rd1+8], %rd3;
    ret;
}
END
exits 0 sim clock.ptx --grid 1 --block 1 --json --arg 'out:long[2]'
expect_json 'one("output")["data"] == [2, 2 + 1 + 300 + 1]'

# 64 bits without a sign: JSON has those beyond 2^63 as a string.
sed -e 's/%clock64/0xfffffffffffffe40/' -e 's/%rd3, .*;/%rd3, 7;/' clock.ptx >wide.ptx
exits 0 sim wide.ptx --grid 1 --block 1 --json --arg 'out:ulong[2]'
expect_json 'one("output")["data"] == ["18446744073709551168", 7]'
run sim wide.ptx --grid 1 --block 1 --arg 'out:ulong[2]'
expect_stdout ' 18446744073709551168 7'

# With a compiler: the fault's line is the user's, errors are the compiler's, and
# headers beside the file are found.
mkdir kernels tmp
export TMPDIR="$work/tmp"
printf '#define BY 3\n' >kernels/by.h
cat >kernels/triple.cu <<'END'
#include "by.h"
extern "C" __global__ void triple(int *x)
{
    x[threadIdx.x] *= BY;
}
END
# Line 8 ends warp 1, which is then not at the barrier: the race of line 10 follows
# from that and is reported after it, that of line 6 does not.
cat >late.cu <<'END'
__global__ void late(int *y, const int *x)
{
    __shared__ int s[64], own[64];
    int t = threadIdx.x;
    own[t] = t;
    s[t] = own[t ^ 1];
    if (t >= 32)
        s[t] += x[t];
    __syncthreads();
    y[t] = s[63 - t];
}
END
# Line 13 ends the thread that waits for block 0: the race of line 19 comes of it.
cat >chain.cu <<'END'
__global__ void chain(int *y, int *flag, int *data, const int *x)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __threadfence();
        __syncthreads();
        if (t == 0)
            atomicExch(flag, 1);
        return;
    }
    if (t == 63) {
        y[0] = x[t + 1];
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
    y[t] = data[t];
}
END
cat >broken.cu <<'END'
__global__ void broken(int *x)
{
    x[0] = no_such_name;
}
END
# A copy that nothing waits for is reported to be one.
cat >copy.txt <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry turned(.param .u64 x, .param .u64 y)
{
    .reg .b64 %rd<6>;
    .reg .b32 %r<8>;
    .shared .align 16 .b8 s[256];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    cp.async.ca.shared.global [%r4], [%rd4], 4;
    cp.async.commit_group;
    WAIT
    bar.sync 0;
    sub.u32 %r5, 252, %r3;
    add.u32 %r6, %r2, %r5;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd5], %r7;
    ret;
}
END
sed '/WAIT/d' copy.txt >copy.ptx
exits 1 sim copy.ptx --grid 1 --block 64 --arg 'in:int[64]=iota' --arg 'out:int[64]'
expect_stdout 'look at: the copy has not been waited for: __pipeline_wait_prior()'
sed 's/WAIT/cp.async.wait_group 0;/' copy.txt >copy.ptx
exits 0 sim copy.ptx --grid 1 --block 64 --arg 'in:int[64]=iota' --arg 'out:int[64]'

cat >fours.cu <<'END'
#include <cuda_fp16.h>
__global__ void fours(const float4 *x, float4 *y, float2 *z, half2 *h)
{
    int i = threadIdx.x;
    y[i] = x[i];
    y[i + 32] = __ldg(x + i);
    float4 v = x[i];
    v.x *= 2;
    y[i + 64] = v;
    z[i] = make_float2(v.y, v.z);
    h[i] = __floats2half2_rn(v.y, v.z);
    y[i] = y[i + 32];
}
union bits {
    float4 f;
    unsigned w[4];
};
__global__ void unions(const bits *x, bits *y)
{
    y[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x].w[1] ^= 1u << 31;
}
END

none=yes
for compiler in clang nvcc; do
    "$LAB_EXE" sim kernels/triple.cu --grid 1 --block 4 --compiler $compiler \
        >"$out" 2>&1
    if [ $? -eq 4 ]; then
        echo "skipped: what needs $compiler"
        continue
    fi
    none=no
    exits 1 sim kernels/triple.cu --compiler $compiler --grid 1 --block 5 --json \
        --arg 'inout:int[4]=iota'
    expect_json 'one("finding")["line"] == 4' \
        'one("finding")["file"] == "kernels/triple.cu"' \
        'one("output")["data"] == [0, 3, 6, 9]'
    exits 1 sim late.cu --compiler $compiler --grid 1 --block 64 --json \
        --arg 'out:int[64]' --arg 'in:int[32]=iota'
    expect_json '[(f["check"], f["line"]) for f in of("finding")] ==
        [("race", 6), ("memory", 8), ("race", 10)]' \
        '"shared memory s[63] races" in of("finding")[2]["message"]'
    exits 1 sim chain.cu --compiler $compiler --grid 2 --block 64 --json \
        --arg 'out:int[64]' --arg 'inout:int[1]=zero' --arg 'inout:int[64]=zero' \
        --arg 'in:int[64]=iota'
    expect_json '[(f["check"], f["line"]) for f in of("finding")] ==
        [("memory", 13), ("race", 19)]'
    # A vector is read and written at once, and at its line.
    exits 0 sim fours.cu --kernel fours --compiler $compiler --grid 1 --block 32 --counts --json \
        --arg 'in:float[128]=iota' --arg 'out:float[384]' --arg 'out:float[64]' \
        --arg 'out:half[64]'
    expect_json '{r["line"]: (r["requests"], r["sectors"]) for r in of("line")
                  if r["requests"]} ==
                 {5: (4, 64) if "'$compiler'" == "clang" else (2, 32), 6: (2, 32),
                  7: (1, 16), 9: (1, 16), 10: (1, 8), 11: (1, 4), 12: (2, 32)}'
    exits 0 sim fours.cu --kernel unions --compiler $compiler --grid 1 --block 2 --json \
        --arg 'in:float[8]=iota' --arg 'out:float[8]'
    expect_json 'one("output")["data"] == [0, -1, 2, 3, 4, -5, 6, 7]'
    exits 3 sim broken.cu --compiler $compiler --grid 1 --block 1
    expect_stderr no_such_name
    expect_stderr 'broken.cu does not compile'
    expect_no_stdout
done
[ "$none" = no ] || echo 'skipped: a compiler that makes PTX'
[ -z "$(ls tmp)" ] || complain 'a directory of the compiler was left'
# nvcc needs a host compiler; where there is none, clang is the one that is left.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ] && command -v clang >/dev/null; then
    mkdir alone
    ln -s "$(command -v clang)" alone/clang
    for compiler in auto nvcc; do
        PATH=$PWD/alone CUDA_HOME=${nvcc%/bin/nvcc} "$LAB_EXE" sim kernels/triple.cu \
            --compiler $compiler --grid 1 --block 4 --arg 'inout:int[4]=iota' --json \
            >"$out" 2>"$err"
        status=$?
        if [ $compiler = auto ]; then
            expect_exit 0
            expect_stderr 'nvcc has no host compiler here that it can use: clang'
            expect_json 'one("output")["data"] == [0, 3, 6, 9]'
        else
            expect_exit 3
            expect_stderr 'nvcc fatal'
        fi
    done
    # What nvcc refuses for another reason is nvcc's to report.
    NVCC_APPEND_FLAGS=--nosuch "$LAB_EXE" sim kernels/triple.cu --grid 1 --block 4 \
        --arg 'inout:int[4]=iota' >"$out" 2>"$err"
    status=$?
    expect_exit 3
    expect_stderr "Unknown option '--nosuch'"
    [ "$(grep -c 'clang is taken' "$err")" = 0 ] || complain 'not for a lack of a host compiler'
else
    echo 'skipped: nvcc without a host compiler needs nvcc and clang'
fi
PATH=. CUDA_HOME='' CUDA_PATH='' "$LAB_EXE" sim broken.cu --grid 1 --block 1 \
    --compiler clang >"$out" 2>"$err"
status=$?
expect_exit 4
expect_stderr 'apt install clang'
