#include "debug/run_counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"

bool lab_run_counters_wanted(const struct lab_lesson_run *w)
{
    return lab_recording_counters(w->recording) != LAB_COUNTERS_OFF;
}

static void add_figures(json_t *line, const struct lab_counters *c)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"counted_time_ns", c->time_ns},
        {"achieved_occupancy_pct", c->achieved_occupancy_pct},
        {"dram_read_bytes", c->dram_read_bytes},
        {"dram_write_bytes", c->dram_write_bytes},
        {"fp16_flop", c->fp16_flop},
        {"fp32_flop", c->fp32_flop},
        {"fp64_flop", c->fp64_flop},
        {"tensor_flop", c->tensor_flop},
        {"ipc", c->ipc},
        {"tensor_active_pct", c->tensor_active_pct},
        {"sm_pct", c->sm_pct},
        {"memory_pct", c->memory_pct},
        {"dram_pct", c->dram_pct},
        {"l1_hit_pct", c->l1_hit_pct},
        {"l2_hit_pct", c->l2_hit_pct},
        {"sectors_per_load", c->sectors_per_load},
        {"sectors_per_store", c->sectors_per_store},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        lab_json_real(line, figures[i].name, figures[i].value);
}

/* The kernels of one step; those that the window has lost are left out. */
static enum lab_status print_step(struct lab_lesson_run *w, int index)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    struct lab_live *live = lab_recording_live(w->recording);
    struct lab_counters c;
    enum lab_status st = LAB_OK;
    int64_t exec;
    int64_t ns;
    lab_walk_step_status(w->walk, index, &exec, &ns);
    for (int64_t k = 0; !st && lab_live_counters(live, exec, k, &c); k++) {
        json_t *line = lab_json_new("counters");
        lab_json_int(line, "index", index);
        lab_json_int(line, "iteration", lab_walk_iteration(w->walk));
        lab_json_text(line, "name", s->step->name);
        lab_json_text(line, "phase", lab_phase_name(s->step->phase));
        lab_json_text(line, "variant", s->variant->name);
        lab_json_int(line, "kernel", k);
        lab_json_real(line, "flop", s->step->flop);
        lab_json_real(line, "bytes", s->step->bytes);
        add_figures(line, &c);
        st = lab_json_print(line);
    }
    return st;
}

enum lab_status lab_run_counters_iteration(struct lab_lesson_run *w)
{
    struct lab_counted counted;
    int n = lab_walk_schedule(w->walk)->n_steps;
    if (lab_recording_count(w->recording, w->walk, 0, n, &counted)) {
        lab_warn("%s", lab_error());
        return LAB_OK;
    }
    lab_warn("counted iteration %lld on %s: %lld kernels, %d counters in %d "
             "passes, %.2f s",
             (long long)lab_walk_iteration(w->walk), counted.chip,
             (long long)counted.kernels, counted.metrics, counted.passes,
             (double)counted.wall_ns / 1e9);
    enum lab_status st = LAB_OK;
    for (int i = 0; i < n && w->options->json && !st; i++)
        st = print_step(w, i);
    return st;
}
