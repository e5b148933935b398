/* cooperative_groups/reduce.h -- for clang: a value of all lanes of a tile. */
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups
{

#define LAB_OPERATION(name, result)                                            \
    template <typename T> struct name {                                        \
        LAB_MEMBER T operator()(T a, T b) const                                \
        {                                                                      \
            return result;                                                     \
        }                                                                      \
    };
LAB_OPERATION(plus, a + b)
LAB_OPERATION(less, b < a ? b : a)
LAB_OPERATION(greater, a < b ? b : a)
LAB_OPERATION(bit_and, a &b)
LAB_OPERATION(bit_or, a | b)
LAB_OPERATION(bit_xor, a ^ b)
#undef LAB_OPERATION

template <unsigned N, typename PARENT, typename T, typename OP>
LAB_DEVICE T reduce(const thread_block_tile<N, PARENT> &g, T v, OP op)
{
    for (unsigned by = N / 2; by > 0; by /= 2)
        v = op(v, g.shfl_xor(v, by));
    return v;
}

} // namespace cooperative_groups
