/* debug/kernel_value.h -- what the variables and registers of a kernel hold, as text:
 * the words `print` and `registers`, and a pane of the screen. Threads: one. */
#pragma once
#include "debug/kernel_text.h"
#include "sim/variable.h"

struct lab_kernel_values {
    struct lab_kernel_source
        source; /* the texts that variables are looked for in */
    const struct lab_ptx *ptx;
    struct lab_sim_variable *all;
    int count;
};

LAB_C_BEGIN
/* `beside` as in lab_kernel_source_init(). */
void lab_kernel_values_init(struct lab_kernel_values *v, const char *beside);
void lab_kernel_values_release(struct lab_kernel_values *v);
/* The variables that can be seen where the warp is. */
enum lab_status lab_kernel_values_read(struct lab_kernel_values *v,
                                       const struct lab_sim_debug *d, int warp);
/* Its value in a lane: "0.5", "x[0,0]" of a pointer; "-": it has none there. */
void lab_kernel_value_add(struct lab_str *out, const struct lab_sim_debug *d,
                          const struct lab_sim_variable *v, int lane);
/* "all lanes", or the smallest and the largest of its values: "0 to 31". */
void lab_kernel_value_range_add(struct lab_str *out,
                                const struct lab_sim_variable *v);
/* Of the registers that hold a value for a lane and are no variable's, a line each,
 * those that were computed last first: "%f11 = 0.134   dense.cu:31  sum += a[k];". The
 * line is where it was computed, or "n, a parameter". `most` lines at most, from the
 * `from`th on. Returns how many there are. The variables must have been read. */
int lab_kernel_unnamed_add(struct lab_str *out, struct lab_kernel_values *v,
                           const struct lab_sim_debug *d, int lane, int from,
                           int most);

/* `print sum`, `print threadIdx.x`, `print %f3`: its value in each lane, a line for
 * eight. LAB_E_NOTFOUND with the variables that there are; LAB_E_STATE: it is in no
 * register here. */
enum lab_status lab_kernel_print_add(struct lab_str *out,
                                     struct lab_kernel_values *v,
                                     const struct lab_sim_debug *d, int warp,
                                     const char *word);
LAB_C_END
