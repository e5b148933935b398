/* tensor_map.h -- the 128 opaque bytes of a CUtensorMap, as the simulator makes and
 * reads them.
 *
 * NVIDIA does not document its own layout, and none is needed: whoever runs a
 * kernel here also serves cuTensorMapEncodeTiled(). Numbers of types, swizzles and
 * fills are those of cuda.h. Dimension 0 is the innermost. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { SIM_TENSOR_RANK = 5, SIM_TENSOR_MAP_BYTES = 128 };
#define SIM_TENSOR_MAGIC UINT64_C(0x70616d726f736e74)

enum sim_swizzle {
    SIM_SWIZZLE_NONE,
    SIM_SWIZZLE_32,
    SIM_SWIZZLE_64,
    SIM_SWIZZLE_128
};

struct sim_tensor_map {
    uint64_t magic; /* SIM_TENSOR_MAGIC */
    uint64_t address;
    uint64_t dim[SIM_TENSOR_RANK];        /* elements */
    uint64_t stride[SIM_TENSOR_RANK - 1]; /* bytes, of dimensions 1 and up */
    uint16_t box[SIM_TENSOR_RANK];        /* elements */
    uint8_t step[SIM_TENSOR_RANK];        /* element strides; that of 0 is 1 */
    uint8_t type;                         /* CUtensorMapDataType */
    uint8_t rank;
    uint8_t swizzle;    /* enum sim_swizzle, CUtensorMapSwizzle */
    uint8_t interleave; /* CUtensorMapInterleave; only 0 is simulated */
    uint8_t fill; /* CUtensorMapFloatOOBfill; only 0, zeros, is simulated */
    uint8_t unused[20];
};
_Static_assert(sizeof(struct sim_tensor_map) == SIM_TENSOR_MAP_BYTES,
               "a CUtensorMap has 128 bytes");

/* Why no copy can be made by this map, in a few words; NULL: it is right. What
 * cuTensorMapEncodeTiled() refuses, this refuses. */
const char *sim_tensor_map_wrong(const struct sim_tensor_map *m);
/* Bytes of an element of CUtensorMapDataType `type`; 0: not simulated. */
int sim_tensor_map_element(int type);
