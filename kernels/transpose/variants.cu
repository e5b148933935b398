/* kernels/transpose/variants.cu -- the CUDA variants in the order in which a
 * learner climbs them. plain writes 32 bytes for 4 and reads 4: 36 bytes for 8.
 */
#include "transpose/transpose.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_variants_transpose[] = {
    {.name = "plain",
     .idea = "reads along rows, writes down columns",
     .run = lab_transpose_plain,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 4.5}},
    {.name = "tile",
     .idea = "turned in shared memory: whole lines are read and written",
     .run = lab_transpose_tile,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 1}},
    {.name = "padded",
     .idea = "rows of 33 numbers: a column meets every bank once",
     .run = lab_transpose_padded,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 1}},
    {.name = "rows",
     .idea = "four rows a thread: four loads on their way at once",
     .run = lab_transpose_rows,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 1}},
    {.name = "large",
     .idea = "tiles of 64 x 64: eight loads a thread, lines of 256 bytes",
     .run = lab_transpose_large,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 1}},
    {.name = "down",
     .idea = "blocks that run together write next to each other",
     .run = lab_transpose_down,
     .source = "kernels/transpose/transpose.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "squares of 4 x 4 turned in registers: 16 bytes both ways",
     .run = lab_transpose_fours,
     .source = "kernels/transpose/fours.cu",
     .model = {.traffic = 1}},
    {},
};
