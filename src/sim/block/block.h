/* block.h -- launches and blocks: a block is its warps in turn, its barriers and its
 * memory; a grid spreads blocks over host threads. */
#pragma once
#include "warp/code.h"

/* ---- launches (grid.c) ---- */

/* Checks a launch, makes its parameter space and its checks. The launch and the
 * options must live as long as the grid. */
enum lab_status sim_grid_open(struct sim_grid *g, struct lab_sim_memory *m,
                              const struct lab_sim_launch *launch,
                              const struct lab_sim_options *options);
/* Once after each open one: tally and counts have a row an instruction, summed
 * over all blocks. `out` NULL: the launch failed. */
enum lab_status sim_grid_close(struct sim_grid *g,
                               const struct sim_tally *tally,
                               const struct lab_sim_counts *counts,
                               struct lab_sim_result *out);

/* ---- blocks (block.c) ---- */

struct sim_bar;
/* Those that PTX numbers are 0 to 15; behind them that of the cluster. */
enum { SIM_CLUSTER_BAR = 16, SIM_BARS };

enum sim_progress { SIM_RUNS, SIM_YIELDS, SIM_ENDED };

/* Memory of a block of this launch; b is zeroed but for grid, tally, counts. */
enum lab_status sim_block_open(struct sim_block *b);
void sim_block_close(struct sim_block *b);
/* Becomes block `number` at its first instruction. */
enum lab_status sim_block_start(struct sim_block *b, uint64_t number);
/* Executes about `most` instructions of its warps. YIELDS: it waits for what
 * only other blocks do. */
enum sim_progress sim_block_run(struct sim_block *b, int64_t most);
/* Executes one instruction of one warp: that which is next by the seed. */
enum sim_progress sim_block_step(struct sim_block *b);
void sim_block_end(struct sim_block *b);

enum sim_bar_kind {
    SIM_BAR_SYNC,
    SIM_BAR_ARRIVE,
    SIM_BAR_POPC,
    SIM_BAR_AND,
    SIM_BAR_OR
};
/* The whole warp arrives at barrier `number`, for `threads` (0: all). */
void sim_barrier(struct sim_warp *w, const struct sim_instr *i, int number,
                 int threads, enum sim_bar_kind kind, uint32_t values);
