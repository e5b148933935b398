/* kernels/layer_norm/variants.cu -- the CUDA variants in the order in which a
 * learner climbs them. naive fetches a piece of 32 bytes for 4 three times and
 * writes one for 4: 128 bytes for 8, where no cache helps; block reads three
 * times and welford twice, and each writes once. */
#include "layer_norm/layer_norm.h"
#include "common/kernel.h"

#define WALKS "kernels/layer_norm/walks.cu"
#define REGISTERS "kernels/layer_norm/registers.cu"

extern const struct lab_variant lab_cuda_variants_layer_norm[] = {
    {.name = "naive",
     .idea = "a thread for each row, three walks over it",
     .run = lab_layer_norm_naive,
     .source = WALKS,
     .model = {.traffic = 16}},
    {.name = "block",
     .idea = "a block for each row: neighbours read neighbours",
     .run = lab_layer_norm_block,
     .source = WALKS,
     .model = {.traffic = 2}},
    {.name = "welford",
     .idea = "mean and variance in one walk",
     .run = lab_layer_norm_welford,
     .source = WALKS,
     .model = {.traffic = 1.5}},
    {.name = "registers",
     .idea = "the row stays in registers: read once, written once",
     .run = lab_layer_norm_registers,
     .source = REGISTERS,
     .model = {.traffic = 1}},
    {.name = "vector",
     .idea = "16 bytes a load and a store",
     .run = lab_layer_norm_vector,
     .source = REGISTERS,
     .model = {.traffic = 1}},
    {},
};
