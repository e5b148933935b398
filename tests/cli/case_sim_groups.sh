# shellcheck shell=sh
# Cooperative groups by nvcc's headers and by the program's own for clang, against Python.
cat >groups.cu <<'END'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
template <typename G> __device__ int sum(G g, int *x, int v)
{
    const int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = v;
        g.sync();
        if (lane < i) v += x[lane + i];
        g.sync();
    }
    return v;
}
__global__ void k(const int *x, int *y)
{
    extern __shared__ int room[];
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(b);
    auto four = cg::tiled_partition<4>(warp);
    const int i = cg::this_grid().thread_rank();
    int *out = y + 8 * i;
    out[0] = sum(b, room, x[i]);
    out[1] = cg::reduce(warp, x[i], cg::plus<int>());
    out[2] = cg::reduce(four, x[i], cg::greater<int>());
    out[3] = warp.shfl_down(x[i], 1) + four.shfl(x[i], 2) + four.shfl_up(x[i], 1) + warp.shfl_xor(x[i], 3);
    out[4] = four.ballot(x[i] & 1) + 100 * warp.any(x[i] == 5) + 1000 * four.all(x[i] > 3);
    out[5] = four.meta_group_rank() * 1000 + warp.meta_group_size() * 10 + four.size() + b.group_index().x * 7;
    out[6] = -1;
    if (x[i] % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        out[6] = g.thread_rank() * 100 + g.size() + 1000 * g.shfl(x[i], g.size() - 1);
    }
    cg::sync(b);
    out[7] = b.thread_index().y * 10 + b.thread_rank();
}
END
cat >grid.cu <<'END'
#include <cooperative_groups.h>
__global__ void k(int *y)
{
    cooperative_groups::this_grid().sync();
    y[threadIdx.x] = 1;
}
END
# Every third lane: shuffles by rank, one bit a rank.
cat >some.cu <<'END'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    const int i = threadIdx.x;
    const int v = x[i];
    auto four = cg::tiled_partition<4>(cg::this_thread_block());
    y[5 * i] = four.match_any(v / 2);
    if (v % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        y[5 * i + 1] = g.shfl_down(v, 2);
        y[5 * i + 2] = g.shfl_up(v, 3);
        y[5 * i + 3] = g.ballot(v > 9);
        y[5 * i + 4] = g.match_any(v / 6);
    }
    cg::grid_group all = cg::this_grid();
    if (all.block_index().x != 0 || all.dim_blocks().x != 1) y[0] = -1;
}
END
# The counter's old value is that of one lane, which hands it to the others: these have
# none of their own.
cat >filter.cu <<'END'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int take(int *count)
{
    auto g = cg::coalesced_threads();
    int old;
    if (g.thread_rank() == 0)
        old = atomicAdd(count, g.size());
    return g.shfl(old, 0) + g.thread_rank();
}
__global__ void k(const int *x, int *y, int *count, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] % 3 == 0)
            y[take(count)] = x[i];
}
END
cat >no_such.cu <<'END'
#include <cooperative_groups.h>
__global__ void k(int *y)
{
    y[0] = cooperative_groups::coalesced_threads().no_such();
}
END
cat >split.cu <<'END'
#include <cooperative_groups.h>
__global__ void k(int *y)
{
    auto g = cooperative_groups::coalesced_threads();
    y[0] = cooperative_groups::tiled_partition<4>(g).size();
}
END
for compiler in clang nvcc; do
    run sim groups.cu --compiler $compiler --grid 2 --block 32,2 --shared 256 --json \
        --arg 'in:int[128]=iota' --arg 'out:int[128,8]'
    if [ "$status" -eq 4 ]; then
        echo "skipped: what needs $compiler"
        continue
    fi
    expect_exit 0
    expect_json 'one("end")["findings"] == 0' \
        '[one("output")["data"][i * 8 + k] for i in range(128) for k in (1, 2, 5, 7)] ==
         [v for i in range(128)
          for v in (sum(range(i // 32 * 32, i // 32 * 32 + 32)), i // 4 * 4 + 3,
                    i % 32 // 4 * 1000 + 20 + 4 + i // 64 * 7, i % 64 // 32 * 10 + i % 64)]' \
        '[one("output")["data"][i * 8] for i in (0, 64)] ==
         [sum(range(64)), sum(range(64, 128))]' \
        '[one("output")["data"][i * 8 + 3] for i in range(128)] ==
         [(i + 1 if i % 32 < 31 else i) + i // 4 * 4 + 2 + (i - 1 if i % 4 else i) + (i ^ 3)
          for i in range(128)]' \
        '[one("output")["data"][i * 8 + 4] for i in range(128)] ==
         [10 + 100 * (i < 32) + 1000 * (i > 3) for i in range(128)]' \
        '[one("output")["data"][i * 8 + 6] for i in range(128)] ==
         [(lambda here: here.index(i) * 100 + len(here) + 1000 * here[-1])(
             [k for k in range(i // 32 * 32, i // 32 * 32 + 32) if k % 3 == 1])
          if i % 3 == 1 else -1 for i in range(128)]'
    run sim some.cu --compiler $compiler --grid 1 --block 32 --json \
        --arg 'in:int[32]=iota' --arg 'inout:int[32,5]=zero'
    expect_exit 0
    expect_json '[one("output")["data"][5 * i] for i in range(32)] == [3, 3, 12, 12] * 8' \
        'all(one("output")["data"][5 * here[k] + 1:5 * here[k] + 5] ==
             [here[k + 2 if k + 2 < len(here) else k], here[k - 3 if k >= 3 else k],
              sum(1 << n for n, v in enumerate(here) if v > 9),
              sum(1 << n for n, v in enumerate(here) if v // 6 == here[k] // 6)]
             for here in [range(1, 32, 3)] for k in range(len(here)))'
    run sim filter.cu --compiler $compiler --grid 1 --block 64 --json \
        --arg 'in:int[100]=iota' --arg 'out:int[34]' --arg 'inout:int[1]=zero' --arg int:100
    expect_exit 0
    expect_json 'sorted(of("output")[0]["data"]) == list(range(0, 100, 3))' \
        'of("output")[1]["data"] == [34]'
    run sim split.cu --compiler $compiler --grid 1 --block 32 --arg 'out:int[1]'
    expect_exit 3
    run sim no_such.cu --compiler $compiler --grid 1 --block 32 --arg 'out:int[1]'
    expect_exit 3
    [ $compiler != clang ] || expect_stderr 'needs nvcc'
    run sim grid.cu --compiler $compiler --grid 2 --block 32 --arg 'out:int[32]'
    expect_exit 3
    expect_stderr 'blocks of a grid do not wait for each other'
done
