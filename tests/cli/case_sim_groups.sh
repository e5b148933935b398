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
    run sim grid.cu --compiler $compiler --grid 2 --block 32 --arg 'out:int[32]'
    expect_exit 3
    expect_stderr 'blocks of a grid do not wait for each other'
done
