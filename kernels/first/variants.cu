/* kernels/first/variants.cu -- the CUDA kernels of first.h. */
#include "first/first.h"

#define SOURCE "kernels/first/kernels.cu"

extern const struct lab_variant lab_cuda_variants_first[] = {
    {.name = "hello",
     .idea = "a line from every thread",
     .run = lab_first_hello,
     .source = SOURCE,
     .prepare = lab_first_prepare},
    {.name = "scalar_add",
     .idea = "2 + 7 on one thread",
     .run = lab_first_scalar_add,
     .source = SOURCE,
     .prepare = lab_first_prepare},
    {.name = "vectors",
     .idea = "a thread for each element",
     .run = lab_first_vectors,
     .source = SOURCE,
     .prepare = lab_first_prepare},
    {.name = "index",
     .idea = "every thread its own index",
     .run = lab_first_index,
     .source = SOURCE,
     .prepare = lab_first_prepare},
    {},
};
