/* profiler/occupancy.h -- theoretical occupancy, and what holds it down.
 *
 * How many blocks of a kernel fit on one multiprocessor at once, and which
 * resource decides. Pure arithmetic on the launch and the device's limits:
 * works for recorded runs and what-if questions on a machine without a GPU.
 * Compute capability 7.0 to 12.x; the rules are those of NVIDIA's
 * cuda_occupancy.h, which the tests compare it with.
 *
 * Clusters: a cluster's blocks need room at once in one GPC, which is not known
 * here; they do not change the blocks per multiprocessor. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "engine/backend.h"
#include "trace/record.h"

struct lab_occupancy_device {
    int compute_major;
    int compute_minor;
    int sm_count;
    int warp_size;
    int max_threads_per_block;
    int max_warps_per_sm;
    int max_blocks_per_sm;
    int64_t registers_per_block;
    int64_t registers_per_sm;
    int64_t register_unit; /* registers are given to a warp in these */
    int sub_partitions;    /* each has its share of the registers */
    int64_t shared_per_sm_bytes;
    int64_t shared_per_block_bytes; /* without opting in */
    int64_t shared_per_block_optin_bytes;
    int64_t shared_reserved_bytes; /* the driver's own, in every block */
    int64_t shared_unit_bytes;
};

enum { LAB_CARVEOUT_MAX_L1 = -1 };

/* Zero means "nothing special" in every field that may be left out: the grid
 * (no LAB_LIMIT_GRID then; so where it is unknown), the cluster, and all that
 * follows. */
struct lab_occupancy_launch {
    struct lab_launch launch;
    int barriers;         /* block barriers; 0: unknown */
    int carveout_pct;     /* shared memory's part of the L1, 1..100; 0: the
                             driver's choice; LAB_CARVEOUT_MAX_L1: as little
                             as the launch allows */
    bool no_shared_optin; /* the function has not opted in to more than
                             shared_per_block_bytes */
};

struct lab_occupancy {
    int active_blocks_per_sm; /* 0: the launch cannot run */
    int active_warps_per_sm;
    double occupancy_pct; /* of max_warps_per_sm */
    int limit;            /* enum lab_occupancy_limit, a bit set */
    /* Blocks that each resource alone would allow; INT32_MAX: any number. */
    int blocks_by_warps;
    int blocks_by_blocks;
    int blocks_by_registers;
    int blocks_by_shared;
    int blocks_by_barriers;
    int64_t registers_per_block; /* as allocated */
    int64_t shared_per_block_bytes;
    int64_t shared_config_bytes; /* the part of the L1 that is shared memory */
    int64_t wave_blocks;         /* blocks the device holds at once */
    double waves;                /* grid / wave_blocks; NaN: grid unknown */
};

LAB_C_BEGIN
/* Errors: LAB_E_UNSUPPORTED when the compute capability is not known here or
 * the device's numbers are missing (not a GPU). */
enum lab_status lab_occupancy_device_init(struct lab_occupancy_device *out,
                                          const struct lab_device_info *info);
/* Errors: LAB_E_ARG for a launch with no threads or negative numbers. */
enum lab_status
lab_occupancy_compute(struct lab_occupancy *out,
                      const struct lab_occupancy_device *device,
                      const struct lab_occupancy_launch *launch);
/* The limits in words, "registers, shared memory"; "" for none. */
void lab_occupancy_limit_text(char *out, size_t bytes, int limit);
LAB_C_END
