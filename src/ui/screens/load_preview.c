/* load_preview.c -- reads from a database what the list of runs shows of one: its
 * losses, thinned, and what a lab measured. Costs the same for a run of ten
 * million kernels as for one of ten. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/model.h"
#include "store/time_sum.h"
#include "ui/run_preview.h"

/* Two more than asked for: the thinned ones have both ends. */
enum { POINTS = LAB_PREVIEW_POINTS, ROOM = POINTS + 2 };

static void add_point(struct lab_curve *c, int64_t iteration, double value)
{
    if (c->n == ROOM || isnan(value))
        return;
    c->iteration[c->n] = iteration;
    c->value[c->n++] = value;
}

static bool take_loss(void *user, const struct lab_loss_row *row)
{
    struct lab_run_preview *p = user;
    add_point(&p->loss, row->iteration, row->loss);
    return true;
}

static bool take_evaluation(void *user, const struct lab_loss_row *row)
{
    struct lab_run_preview *p = user;
    add_point(&p->held, row->iteration, row->held_loss);
    add_point(&p->accuracy, row->iteration, row->accuracy);
    return true;
}

static enum lab_status load_curves(struct lab_run_preview *p,
                                   struct lab_database *db,
                                   const struct lab_run_row *run)
{
    bool evaluated = !isnan(run->accuracy) || run->validation > 0;
    if (!lab_run_preview_room(&p->loss, ROOM) ||
        !lab_run_preview_room(&p->held, ROOM) ||
        !lab_run_preview_room(&p->accuracy, ROOM))
        return lab_no_memory("the losses of a run");
    enum lab_status st =
        lab_query_losses_thinned(db, run->id, POINTS, take_loss, p);
    if (!st && evaluated)
        st = lab_query_evaluations_thinned(db, run->id, POINTS, take_evaluation,
                                           p);
    return st;
}

static enum lab_status load_lab(struct lab_run_preview *p,
                                struct lab_database *db, int64_t run)
{
    p->lab = lab_alloc(sizeof(*p->lab));
    if (!p->lab)
        return lab_no_memory("the rows of a lab");
    lab_bench_data_init(p->lab);
    return lab_bench_model_run(p->lab, db, run);
}

enum lab_status lab_run_preview_load(struct lab_run_preview *out,
                                     struct lab_database *db,
                                     const struct lab_run_row *run)
{
    enum lab_status st = lab_time_sums_are_kept(db, run->id, &out->summed);
    out->run = run->id;
    if (!st)
        st = lab_run_is_lab(run) ? load_lab(out, db, run->id)
                                 : load_curves(out, db, run);
    if (st)
        lab_run_preview_release(out);
    return st;
}
