/* kernels/softmax/variants.cu -- the CUDA variants in the order in which a
 * learner climbs them. naive fetches a piece of 32 bytes for 4 three times and
 * writes one for 4: 128 bytes for 8, where no cache helps; block reads three
 * times and online twice, and each writes once. */
#include "common/kernel.h"
#include "softmax/softmax.h"

#define WALKS "kernels/softmax/walks.cu"
#define REGISTERS "kernels/softmax/registers.cu"

extern const struct lab_variant lab_cuda_variants_softmax[] = {
    {.name = "naive",
     .idea = "a thread for each row, three walks over it",
     .run = lab_softmax_naive,
     .source = WALKS,
     .model = {.traffic = 16}},
    {.name = "block",
     .idea = "a block for each row: neighbours read neighbours",
     .run = lab_softmax_block,
     .source = WALKS,
     .model = {.traffic = 2}},
    {.name = "online",
     .idea = "the largest and the sum in one walk",
     .run = lab_softmax_online,
     .source = WALKS,
     .model = {.traffic = 1.5}},
    {.name = "registers",
     .idea = "the row stays in registers: read once, written once",
     .run = lab_softmax_registers,
     .source = REGISTERS,
     .model = {.traffic = 1}},
    {.name = "vector",
     .idea = "16 bytes a load and a store",
     .run = lab_softmax_vector,
     .source = REGISTERS,
     .model = {.traffic = 1}},
    {},
};
