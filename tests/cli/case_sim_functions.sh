# shellcheck shell=sh
# Functions of CUDA that the program's own headers have for clang, against Python; by
# nvcc, too: its headers have them all.
cp "$LAB_SOURCE_DIR"/tests/cli/golden/files/functions.cu .
python=${LAB_PYTHON:-python3}
check=$LAB_SOURCE_DIR/tests/cli/sim_functions.py
threads=$("$python" "$check" --args .)
# Functions of <cmath> by their names in std, pow() of a float and an int, which is a double,
# and what atomics and __ldg() take besides.
cat >more.cu <<'END'
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void more(const float *x, double *y, const uchar4 *c, int *z,
                     unsigned short *u, __nv_bfloat16 *b, __half2 *h)
{
    const int t = threadIdx.x;
    double *d = y + 9 * t;
    int *i = z + 4 * t;
    d[0] = std::exp((double)x[t]);
    d[1] = std::sin(x[t]);
    d[2] = std::log(x[t] + 1);
    d[3] = std::pow(x[t], 2.0f);
    d[4] = std::abs(-3);
    d[5] = std::tanh(x[t]);
    d[6] = std::sqrt((double)x[t]);
    d[7] = pow(x[t] / 10, 2) + std::pow(2, t) + pow(2u, 3l) + fmin(x[t], 3.0f);
    d[8] = sizeof(pow(x[t], 2)) + min(x[t], 2.0);
    i[0] = __dp4a(c[t], c[t + 1], (unsigned)t);
    i[1] = __ldg(&c[t]).w;
    i[2] = __dp2a_lo(2 * t | (2 * t + 1) << 16, 0x201, 0);
    i[3] = labs(-t);
    unsigned short old = 0, seen;
    while ((seen = atomicCAS(u, old, (unsigned short)(old + 1))) != old)
        old = seen;
    atomicAdd(b, __float2bfloat16(1.5f));
    atomicAdd(h, __floats2half2_rn(1, 2));
}
END
for compiler in clang nvcc; do
    run sim functions.cu --compiler $compiler --grid 1 --block "$threads" --json \
        --arg "in:float[$threads]=@f.npy" --arg "in:double[$threads]=@d.npy" \
        --arg "in:int[$threads]=@a.npy" --arg "out:double[$threads,62]"
    if [ "$status" -eq 4 ]; then
        echo "skipped: what needs $compiler"
        continue
    fi
    expect_exit 0
    "$python" "$check" "$out" || complain "$compiler: a value"
    run sim more.cu --compiler $compiler --grid 1 --block 8 --json \
        --arg 'in:float[8]=iota' --arg 'out:double[8,9]' --arg 'in:uchar[40]=iota' \
        --arg 'out:int[8,4]' --arg 'inout:ushort[2]=zero' --arg 'inout:bfloat16[1]=0' \
        --arg 'inout:half[2]=0'
    expect_exit 0
    expect_no_stderr
    expect_json 'all(abs(got - want) <= 4e-7 * max(1, abs(want))
             for t in range(8)
             for got, want in zip(of("output")[0]["data"][9 * t:9 * t + 9],
                 [math.exp(t), math.sin(t), math.log(t + 1), t ** 2, 3, math.tanh(t),
                  t ** 0.5, t * t / 100 + 2 ** t + 8 + min(t, 3), 8 + min(t, 2)]))' \
        'of("output")[1]["data"] == [v for t in range(8) for v in (
             sum((4 * t + k) * (4 * t + 4 + k) for k in range(4)) + t, 4 * t + 3,
             2 * t + 2 * (2 * t + 1), t)]' \
        'of("output")[2]["data"] == [8, 0]' 'of("output")[3]["data"] == [12]' \
        'of("output")[4]["data"] == [8, 16]'
done
