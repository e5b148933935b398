# shellcheck shell=sh
# tf32_nearest() of kernels/common/half.cuh beside cvt.rna.tf32 and beside integers: of
# all exponents, with both signs, what is at and beside a tie, and 2^20 patterns that
# are a prime apart.
cat >nearest.cu <<'END'
#include "common/half.cuh"

/* The bits that a tensor core reads. */
static __device__ unsigned upper(unsigned bits)
{
    return bits & 0xffffe000;
}

/* To the nearest, ties away from 0, by integers; infinity may come of it. */
static __device__ unsigned by_integers(unsigned bits)
{
    return upper(bits + 0x1000);
}

static __device__ unsigned by_cvt(unsigned bits)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(bits)));
    return upper(r);
}

static __device__ bool is_wrong(unsigned bits)
{
    const unsigned size = bits & 0x7fffffff;
    const unsigned got = upper(tf32_nearest(bits));
    if (size > 0x7f800000) /* NaN stays NaN */
        return (got & 0x7fffffff) <= 0x7f800000;
    if (size == 0x7f800000)
        return got != bits || by_cvt(bits) != bits;
    if (size < 0x00800000) /* below 2^-126 they are cut; 0 has its sign */
        return got != upper(bits) || by_cvt(bits) != by_integers(bits);
    return got != by_integers(bits) || got != by_cvt(bits);
}

/* A thread an exponent and a sign. */
__global__ void classes(unsigned *wrong)
{
    const unsigned high = (blockIdx.x * blockDim.x + threadIdx.x) << 23;
    const unsigned low[] = {0,      1,        0xfff,    0x1000,  0x1001,
                            0x1fff, 0x2000,   0x2fff,   0x3000,  0x3001,
                            0x7ff000, 0x7fefff, 0x7fffff, 0x555555};
    unsigned n = 0;
    for (unsigned l : low)
        n += is_wrong(high | l);
    wrong[high >> 23] = n;
}

__global__ void strides(unsigned *wrong)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned n = 0;
    for (unsigned k = 0; k < 64; k++)
        n += is_wrong((i * 64 + k) * 4099);
    wrong[i] = n;
}
END
for compiler in clang nvcc; do
    run sim nearest.cu --kernel classes --compiler $compiler --json \
        --include "$LAB_SOURCE_DIR/kernels" --grid 2 --block 256 --arg 'out:unsigned[512]'
    if [ "$status" -eq 4 ]; then
        echo "skipped: what needs $compiler"
        continue
    fi
    expect_exit 0
    expect_json 'one("output")["data"] == [0] * 512'
    exits 0 sim nearest.cu --kernel strides --compiler $compiler --json \
        --include "$LAB_SOURCE_DIR/kernels" --grid 64 --block 256 --arg 'out:unsigned[16384]'
    expect_json 'one("output")["data"] == [0] * 16384'
    # Without the half unit it is wrong: the comparison sees it.
    sed -e 's/upper(tf32_nearest(bits))/upper(bits)/' nearest.cu >cut.cu
    exits 0 sim cut.cu --kernel strides --compiler $compiler --json \
        --include "$LAB_SOURCE_DIR/kernels" --grid 64 --block 256 --arg 'out:unsigned[16384]'
    expect_json 'abs(sum(one("output")["data"]) / 2**20 - 0.5) < 0.02'
done
