#include "bench/lab_model.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

void lab_ui_prediction_init(struct lab_ui_prediction *said)
{
    *said = (struct lab_ui_prediction){
        .rate = NAN, .time_ns = NAN, .occupancy_pct = NAN};
}

bool lab_ui_prediction_any(const struct lab_ui_prediction *said)
{
    return !isnan(said->rate) || !isnan(said->time_ns) ||
           !isnan(said->occupancy_pct) || said->bound[0];
}

void lab_ui_lab_row_init(struct lab_ui_lab_row *row)
{
    *row = (struct lab_ui_lab_row){.check_error = NAN,
                                   .min_ns = NAN,
                                   .quarter_ns = NAN,
                                   .median_ns = NAN,
                                   .three_quarters_ns = NAN,
                                   .max_ns = NAN,
                                   .flop = NAN,
                                   .bytes = NAN,
                                   .traffic_bytes = NAN,
                                   .rate = NAN,
                                   .rate_model = NAN,
                                   .gain = NAN,
                                   .gain_model = NAN,
                                   .share = NAN,
                                   .of_library = NAN,
                                   .workspace_bytes = NAN,
                                   .kernel_ns = NAN,
                                   .occupancy_pct = NAN,
                                   .achieved_pct = NAN,
                                   .dram_bytes = NAN,
                                   .registers = NAN,
                                   .shared_bytes = NAN,
                                   .sm_clock_hz = NAN,
                                   .temperature_c = NAN,
                                   .power_w = NAN};
    lab_ui_prediction_init(&row->said);
}

void lab_ui_lab_init(struct lab_ui_lab *lab)
{
    *lab = (struct lab_ui_lab){.running = -1, .at_size = -1};
}

void lab_ui_lab_release(struct lab_ui_lab *lab)
{
    lab_free(lab->slides);
    lab_free(lab->sizes);
    lab_free(lab->rows);
    lab_ui_lab_init(lab);
}

static void *copy_of(const void *from, size_t n, size_t each)
{
    void *to = lab_alloc_array(n + 1, each);
    if (to && n)
        memcpy(to, from, n * each);
    return to;
}

enum lab_status lab_ui_lab_copy(struct lab_ui_lab *to,
                                const struct lab_ui_lab *from)
{
    *to = *from;
    to->slides =
        copy_of(from->slides, (size_t)from->slide_count, sizeof(*from->slides));
    to->sizes =
        copy_of(from->sizes, (size_t)from->size_count, sizeof(*from->sizes));
    to->rows =
        copy_of(from->rows, (size_t)from->row_count, sizeof(*from->rows));
    if (to->slides && to->sizes && to->rows)
        return LAB_OK;
    lab_ui_lab_release(to);
    return lab_fail(LAB_E_NOMEM, "no memory for the rows of a lab");
}

/* By the time: it orders rungs of every unit. */
const struct lab_ui_lab_row *lab_ui_lab_best(const struct lab_ui_lab *lab,
                                             int size)
{
    const struct lab_ui_lab_row *best = NULL;
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_ui_lab_row *r = &lab->rows[i];
        if (r->size == size && r->state == LAB_UI_LAB_DONE &&
            (!best || r->median_ns < best->median_ns))
            best = r;
    }
    return best;
}

/* The library's fastest rung of a precision, or NULL. */
static const struct lab_ui_lab_row *library(const struct lab_ui_lab *lab,
                                            int size, const char *precision)
{
    const struct lab_ui_lab_row *best = NULL;
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_ui_lab_row *r = &lab->rows[i];
        if (r->size == size && r->library && r->state == LAB_UI_LAB_DONE &&
            strcmp(r->precision, precision) == 0 &&
            (!best || r->median_ns < best->median_ns))
            best = r;
    }
    return best;
}

const struct lab_ui_lab_row *
lab_ui_lab_gain_over(const struct lab_ui_lab *lab,
                     const struct lab_ui_lab_row *row)
{
    const struct lab_ui_lab_row *over = NULL;
    for (const struct lab_ui_lab_row *r = lab->rows; r < row; r++)
        if (r->size == row->size && !r->library && r->state == LAB_UI_LAB_DONE)
            over = r;
    return over;
}

void lab_ui_lab_relate(struct lab_ui_lab *lab, int size)
{
    for (int64_t i = 0; i < lab->row_count; i++) {
        struct lab_ui_lab_row *r = &lab->rows[i];
        if (r->size != size || r->state != LAB_UI_LAB_DONE)
            continue;
        const struct lab_ui_lab_row *l = library(lab, size, r->precision);
        r->of_library = l ? l->median_ns / r->median_ns : (double)NAN;
    }
}
