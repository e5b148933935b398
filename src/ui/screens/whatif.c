/* whatif.c -- the what-if screen's numbers: of a step that has just run, and of a
 * launch in a database. */
#include "screens/whatif.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/launch.h"
#include "trace/intern.h"
#include "base/str.h"
#include "store/counted.h"

enum { MOST_KERNELS = 64 };
/* So that blocks times threads have room. */
#define MOST_BLOCKS (INT64_MAX / INT_MAX / 2)

/* What must be known, and is not: "registers of a thread, ...". */
static bool find_missing(const struct lab_device_info *d,
                         const struct lab_launch *l, char *out, size_t cap)
{
    const struct {
        const char *name;
        bool known;
    } facts[] = {
        {"the block", lab_launch_size(l->block) > 0},
        {"registers of a thread", l->registers_per_thread >= 0},
        {"static shared memory", l->static_shared_bytes >= 0},
        {"dynamic shared memory", l->dynamic_shared_bytes >= 0},
        {"the GPU's compute capability", d->compute_major > 0},
        {"warps of a multiprocessor", d->max_threads_per_sm > 0},
        {"registers of a multiprocessor", d->max_registers_per_sm > 0},
        {"shared memory of a multiprocessor", d->max_shared_per_sm_bytes > 0},
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (facts[i].known || used >= cap)
            continue;
        int n = snprintf(out + used, cap - used, "%s%s", used ? ", " : "",
                         facts[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return used > 0;
}

/* What is in a file may be anything. */
static int64_t clamp(int64_t v)
{
    return v > INT_MAX ? INT_MAX : v < 0 ? 0 : v;
}

/* `l` is a launch on the device. */
static enum lab_status fill(struct lab_occupancy_args *out,
                            const struct lab_device_info *device,
                            const struct lab_launch *l, double achieved_pct)
{
    char missing[320];
    int64_t blocks = lab_launch_size(l->grid);
    if (find_missing(device, l, missing, sizeof(missing)))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[screen.whatif-missing] what if needs what was not recorded: %s",
            missing);
    out->launch = (struct lab_launch){
        .grid = {blocks < MOST_BLOCKS ? blocks : 0, 1, 1},
        .block = {clamp(lab_launch_size(l->block)), 1, 1},
        .cluster = {clamp(lab_launch_size(l->cluster)), 1, 1},
        .registers_per_thread = clamp(l->registers_per_thread),
        .static_shared_bytes = clamp(l->static_shared_bytes),
        .dynamic_shared_bytes = clamp(l->dynamic_shared_bytes)};
    out->achieved_pct = achieved_pct;
    out->note[0] = '\0';
    lab_visible_copy(out->device, sizeof(out->device), device->name);
    return lab_occupancy_device_init(&out->gpu, device);
}

static void name_kernel(struct lab_occupancy_args *out, const char *name,
                        const char *short_name)
{
    lab_visible_copy(out->kernel, sizeof(out->kernel),
                     name         ? name
                     : short_name ? short_name
                                  : "a kernel without a name");
}

/* ---- a step that runs here ---- */

static int64_t duration(const struct lab_kernel_record *k)
{
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN;
    return timed ? k->end_ns - k->start_ns : 0;
}

static enum lab_status find_kernel(struct lab_live *live, int64_t exec,
                                   struct lab_kernel_record *out,
                                   int64_t *ordinal)
{
    struct lab_kernel_record k[MOST_KERNELS];
    size_t n = exec > 0 ? lab_live_kernels(live, exec, k, MOST_KERNELS) : 0;
    size_t best = 0;
    n = n < MOST_KERNELS ? n : MOST_KERNELS;
    if (n == 0)
        return lab_fail(
            LAB_E_STATE,
            "[screen.whatif-no-kernel] no kernel of this step is known: run it "
            "on a GPU first");
    for (size_t i = 1; i < n; i++)
        best = duration(&k[i]) > duration(&k[best]) ? i : best;
    *out = k[best];
    *ordinal = (int64_t)best;
    return LAB_OK;
}

enum lab_status lab_whatif_open(struct lab_live *live, struct lab_ui *ui,
                                const struct lab_snapshot *snap, int index)
{
    struct lab_kernel_record k;
    struct lab_counters counters;
    struct lab_occupancy_args args;
    int64_t ordinal = 0;
    int64_t exec = snap->steps[index].exec;
    if (snap->device.compute_major == 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[screen.whatif-cpu] occupancy is of a GPU's "
                        "multiprocessors, and this "
                        "runs on a CPU: recorded GPU runs have it (home, key "
                        "P; in a run, key O)");
    enum lab_status st = find_kernel(live, exec, &k, &ordinal);
    if (st)
        return st;
    lab_live_counters(live, exec, ordinal, &counters);
    name_kernel(&args, lab_intern_text(k.demangled_name),
                lab_intern_text(k.short_name));
    st = fill(&args, &snap->device, &k.launch, counters.achieved_occupancy_pct);
    return st ? st : lab_ui_push(ui, &lab_view_occupancy, &args);
}

/* ---- a launch in a database ---- */

struct loading {
    struct lab_occupancy_args *out;
    struct lab_launch launch;
    int64_t device;
};

static bool take_launch(void *user, const struct lab_kernel_row *k)
{
    struct loading *to = user;
    name_kernel(to->out, k->name, k->short_name);
    to->device = k->device;
    to->launch = k->launch;
    return true;
}

static int stored_known(int64_t v)
{
    return v > 0 && v <= INT32_MAX ? (int)v : 0;
}

/* 0 is what a device without a limit reports. */
static void fill_device(struct lab_device_info *d,
                        const struct lab_run_device *g)
{
    int warp = stored_known(g->warp_size) ? stored_known(g->warp_size) : 32;
    int64_t threads = (int64_t)stored_known(g->max_warps_per_sm) * warp;
    *d = (struct lab_device_info){
        .compute_major = stored_known(g->compute_major),
        .compute_minor = stored_known(g->compute_minor),
        .sm_count = stored_known(g->sm_count),
        .warp_size = warp,
        .max_warps_per_sm = stored_known(g->max_warps_per_sm),
        .max_threads_per_sm = stored_known(threads),
        .max_blocks_per_sm = stored_known(g->max_blocks_per_sm),
        .max_registers_per_sm = stored_known(g->max_registers_per_sm),
        .max_shared_per_sm_bytes = stored_known(g->max_shared_per_sm_bytes),
        .max_shared_per_block_optin_bytes =
            stored_known(g->max_shared_per_block_optin_bytes)};
    snprintf(d->name, sizeof(d->name), "%s",
             g->name[0] ? g->name : "an unnamed GPU");
}

static enum lab_status find_achieved(struct lab_database *db, int64_t run,
                                     int64_t row, double *out)
{
    struct lab_counted_run counted = {0};
    enum lab_status st = lab_counted_load(&counted, db, run);
    if (st)
        return st;
    const struct lab_counted_item *item = lab_counted_kernel(&counted, row);
    *out = item ? item->counters.achieved_occupancy_pct : (double)NAN;
    lab_counted_release(&counted);
    return LAB_OK;
}

enum lab_status lab_whatif_stored(struct lab_database *db, int64_t run,
                                  int64_t row, double achieved_pct,
                                  struct lab_occupancy_args *out)
{
    struct loading to = {.out = out};
    struct lab_run_device gpu;
    char name[LAB_GPU_NAME];
    struct lab_device_info device;
    enum lab_status st = lab_query_launch(db, run, row, take_launch, &to);
    if (!st)
        st = lab_run_gpu_read(db, run, to.device, &gpu, name);
    if (!st && isnan(achieved_pct))
        st = find_achieved(db, run, row, &achieved_pct);
    if (st)
        return st;
    fill_device(&device, &gpu);
    return fill(out, &device, &to.launch, achieved_pct);
}
