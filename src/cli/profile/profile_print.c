#include "profile_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "report/json_line.h"
#include "profiler/profiler.h"
#include "profile_cmd.h"
#include "profile_json.h"
#include "profile_labs.h"
#include "profile_missing.h"
#include "store/row_fields.h"
#include "report/text_table.h"
#include "base/format.h"

/* What the callbacks of one query share. */
struct printing {
    struct lab_text_table table;
    enum lab_status st;
    int64_t run;
    int64_t rows;
    int64_t rows_left; /* of a table; 0: it has no end */
    bool cut;          /* there were more */
    struct lab_counted_run counted;
};

enum lab_status lab_profile_put(struct lab_str *text, bool ascii)
{
    enum lab_status st = LAB_OK;
    if (ascii)
        lab_table_make_ascii(text);
    if (text->failed)
        st = lab_no_memory("the output");
    else if (fputs(lab_str_text(text), stdout) < 0 || fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write the output");
    lab_str_release(text);
    return st;
}

enum lab_status lab_profile_put_table(struct lab_text_table *table, bool ascii)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_text_table_format(table, &text);
    lab_text_table_release(table);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_profile_put(&text, ascii);
}

/* The query's own error comes first, then that of printing a row. */
static enum lab_status end_query(enum lab_status query, struct printing *p)
{
    if (query || p->st) {
        lab_text_table_release(&p->table);
        return query ? query : p->st;
    }
    return LAB_OK;
}

static bool print_run_json(void *user, const struct lab_run_row *r)
{
    struct printing *p = user;
    p->st = lab_json_print(lab_profile_run_object(r));
    return p->st == LAB_OK;
}

/* ------------------------------------------------------------ one run */

static void add_fact(struct lab_text_table *t, const char *name,
                     const char *value)
{
    if (!value)
        return;
    lab_text_table_add(t, name);
    lab_text_table_add(t, value);
}

static void add_machine(struct lab_text_table *t, const struct lab_run_row *r)
{
    add_fact(t, "backend", r->backend);
    add_fact(t, "device", r->device);
    add_fact(t, "chip", r->chip);
    add_fact(t, "capability", r->compute_capability);
    if (r->sm_count != LAB_UNKNOWN) {
        bool cpu = r->backend && strcmp(r->backend, "cpu") == 0;
        lab_text_table_add(t, cpu ? "cores" : "SMs");
        lab_text_table_add_int(t, r->sm_count);
    }
    add_fact(t, "driver", r->driver);
    add_fact(t, "runtime", r->runtime);
    lab_text_table_add(t, "machine");
    lab_text_table_addf(t, "%s, user %s", r->hostname ? r->hostname : LAB_NA,
                        r->user ? r->user : LAB_NA);
    add_fact(t, "label", r->label);
    add_fact(t, "imported from", r->imported_from);
    if (r->imported) {
        lab_text_table_add(t, "imported");
        lab_text_table_add_moment(t, r->imported);
    }
    add_fact(t, "uuid", r->uuid);
    add_fact(t, "version", r->version);
    add_fact(t, "commit", r->commit);
}

/* Of a few iterations the first, which loads kernels and libraries, decides. */
static void add_speed(struct lab_text_table *t, const struct lab_run_row *r)
{
    static const char with_first[] = ", with the first, in which kernels and "
                                     "libraries are loaded";
    char time[LAB_FORMAT_BYTES];
    bool few = r->iterations > 0 && r->iterations < 5;
    lab_text_table_add(t, "iteration");
    if (few && r->iteration_median_ns != LAB_UNKNOWN)
        lab_text_table_addf(
            t, "%s%s",
            lab_format_ns((double)r->iteration_median_ns, time, sizeof(time)),
            with_first);
    else
        lab_text_table_add_ns(t, r->iteration_median_ns);
    lab_text_table_add(t, "samples/s, mean");
    if (few && !isnan(r->samples_per_s))
        lab_text_table_addf(t, "%.6g%s", r->samples_per_s, with_first);
    else
        lab_text_table_add_real(t, r->samples_per_s, 6);
}

static void add_training(struct lab_text_table *t, const struct lab_run_row *r)
{
    add_fact(t, "precision", r->precision);
    add_fact(t, "variants", r->variants);
    lab_text_table_add(t, "seed");
    if ((int64_t)r->seed == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%llu", (unsigned long long)r->seed);
    char rate[LAB_RUN_LR_TEXT];
    if (*lab_run_lr_text(r, rate))
        add_fact(t, "learning rate", rate);
    lab_text_table_add(t, "batch");
    lab_text_table_add_int(t, r->batch);
    if (r->figures_from_rows)
        add_fact(t, "figures",
                 "of the stored losses: the run was ended before "
                 "it told its own");
    lab_text_table_add(t, "iterations");
    lab_text_table_add_int(t, r->iterations);
    add_speed(t, r);
    lab_text_table_add(t, "first loss");
    lab_text_table_add_real(t, r->loss_first, 6);
    lab_text_table_add(t, "last loss");
    lab_text_table_add_real(t, r->loss_last, 6);
    lab_text_table_add(t, "accuracy");
    if (isnan(r->accuracy))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.2f %%", 100 * r->accuracy);
}

static void add_recording(struct lab_text_table *t, const struct lab_run_row *r)
{
    add_fact(t, "times from", r->time_source);
    const char *trace =
        lab_trace_state_text(lab_trace_state_find(r->trace_state));
    if (*trace)
        add_fact(t, "times taken", trace);
    lab_text_table_add(t, "counters");
    lab_text_table_addf(t, "%s%s%s", r->counters ? r->counters : LAB_NA,
                        r->counters_reason ? ": " : "",
                        r->counters_reason ? r->counters_reason : "");
    lab_text_table_add(t, "records lost");
    if (r->ring_drops == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%lld (ring full), %lld (database)",
                            (long long)r->ring_drops,
                            (long long)r->write_errors);
    if (r->ring_waits > 0) {
        lab_text_table_add(t, "ring waits");
        lab_text_table_addf(t, "%lld, %.3g ms in all", (long long)r->ring_waits,
                            (double)r->ring_wait_ns * 1e-6);
    }
    add_fact(t, "error", r->write_error);
}

static bool add_run_facts(void *user, const struct lab_run_row *r)
{
    struct lab_text_table *t = &((struct printing *)user)->table;
    const char *heads[] = {"run", NULL, NULL};
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)r->id);
    heads[1] = number;
    lab_text_table_init(t, heads);
    add_fact(t, "lesson", r->lesson);
    add_fact(t, "kind", r->kind);
    add_fact(t, "title", r->title);
    add_fact(t, "path", r->lesson_path);
    add_fact(t, "status", r->status);
    lab_text_table_add(t, "started");
    lab_text_table_add_moment(t, r->started);
    lab_text_table_add(t, "ended");
    lab_text_table_add_moment(t, r->ended);
    add_machine(t, r);
    add_training(t, r);
    add_recording(t, r);
    return true;
}

/* Three columns, where the run was counted at all. */
static void add_counted(struct printing *p, const struct lab_counted_item *item,
                        double formula)
{
    struct lab_text_table *t = &p->table;
    char text[LAB_FORMAT_BYTES];
    struct lab_counters none;
    if (p->counted.count == 0)
        return;
    lab_counters_init(&none);
    const struct lab_counters *c = item ? &item->counters : &none;
    lab_text_table_add(t, lab_format_share(c->achieved_occupancy_pct / 100,
                                           text, sizeof(text)));
    lab_text_table_add(
        t, lab_format_bytes(c->dram_read_bytes + c->dram_write_bytes, text,
                            sizeof(text)));
    lab_text_table_add(t, lab_format_flop(lab_counters_flop_beside(c, formula),
                                          text, sizeof(text)));
}

enum { PLACES = LAB_TEXT_TABLE_COLUMNS };

static const struct lab_field *at_place(const struct lab_fields *fields,
                                        int place)
{
    for (int i = 0; i < fields->count; i++)
        if (fields->list[i].place == place)
            return &fields->list[i];
    return NULL;
}

/* Counters are in the first places that the record itself leaves free. */
static void begin_table(struct printing *p, const struct lab_fields *fields)
{
    static const char *const counted[] = {">achieved", ">DRAM", ">counted"};
    const char *heads[PLACES + 1];
    int n = 0;
    int c = p->counted.count > 0 ? 0 : 3;
    for (int place = 1; place <= PLACES; place++) {
        const struct lab_field *f = at_place(fields, place);
        if (f)
            heads[n++] = f->title;
        else if (c < 3)
            heads[n++] = counted[c++];
    }
    heads[n] = NULL;
    lab_text_table_init(&p->table, heads);
}

static void add_row(struct printing *p, const struct lab_fields *fields,
                    const void *row, const struct lab_counted_item *item,
                    double formula)
{
    bool counted = false;
    p->rows++;
    for (int place = 1; place <= PLACES; place++) {
        const struct lab_field *f = at_place(fields, place);
        if (f)
            lab_text_table_add_field(&p->table, f, row);
        else if (!counted)
            add_counted(p, item, formula);
        counted = counted || !f;
    }
}

/* Why there are no such columns, in a line after the table. */
static bool say_uncounted(void *user, const struct lab_run_row *r)
{
    struct lab_str *out = user;
    const char *reason = r->counters_reason ? r->counters_reason : "";
    lab_str_addf(out, "hardware counters: n/a (%s",
                 r->counters ? r->counters : "not taken");
    if (reason[0])
        lab_str_add(out, ": ");
    lab_str_add_visible(out, reason, strlen(reason), false);
    lab_str_add(out, ")\n");
    return true;
}

static enum lab_status end_table(const struct lab_profile_print *p,
                                 struct printing *printing)
{
    struct lab_str text;
    enum lab_status st = lab_profile_put_table(&printing->table, p->ascii);
    if (st || printing->counted.count > 0)
        return st;
    lab_str_init(&text);
    st = lab_query_run(p->db, printing->run, say_uncounted, &text);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_profile_put(&text, p->ascii);
}

static bool add_step_row(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    add_row(p, &lab_step_fields, r,
            lab_counted_step(&p->counted, r->step_index, r->variant), r->flop);
    return true;
}

static bool print_step_json(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    p->st = lab_json_print(lab_profile_step_object(p->run, r, &p->counted));
    return p->st == LAB_OK;
}

static bool print_loss_json(void *user, const struct lab_loss_row *r)
{
    struct printing *p = user;
    p->st = lab_json_print(lab_profile_loss_object(p->run, r));
    return p->st == LAB_OK;
}

/* The places of a sweep stand in their place. */
static enum lab_status say_no_steps(const struct lab_profile_print *p,
                                    int64_t run)
{
    unsigned has;
    enum lab_status st = lab_query_contents(p->db, run, &has);
    return st || (has & LAB_HAS_SWEEPS)
               ? st
               : lab_profile_say_missing(p->db, run, LAB_HAS_STEPS);
}

static enum lab_status print_run_lines(const struct lab_profile_print *p,
                                       int64_t run)
{
    struct printing printing = {.st = LAB_OK, .run = run};
    enum lab_status st = lab_counted_load(&printing.counted, p->db, run);
    if (st == LAB_OK)
        st = end_query(lab_query_run(p->db, run, print_run_json, &printing),
                       &printing);
    if (st == LAB_OK)
        st = end_query(lab_query_steps(p->db, run, p->step_sort, p->descending,
                                       print_step_json, &printing),
                       &printing);
    if (st == LAB_OK)
        st = end_query(lab_query_losses(p->db, run, print_loss_json, &printing),
                       &printing);
    lab_counted_release(&printing.counted);
    if (st == LAB_OK)
        st = lab_profile_print_labs(p, run);
    return st ? st : say_no_steps(p, run);
}

static enum lab_status print_steps(const struct lab_profile_print *p,
                                   struct printing *steps)
{
    begin_table(steps, &lab_step_fields);
    enum lab_status st =
        end_query(lab_query_steps(p->db, steps->run, p->step_sort,
                                  p->descending, add_step_row, steps),
                  steps);
    if (st)
        return st;
    if (steps->rows == 0) {
        lab_text_table_release(&steps->table);
        return LAB_OK;
    }
    if (putchar('\n') == EOF)
        return lab_fail(LAB_E_IO, "cannot write the output");
    return end_table(p, steps);
}

enum lab_status lab_profile_print_run(const struct lab_profile_print *p,
                                      int64_t run)
{
    struct printing facts = {.st = LAB_OK};
    struct printing steps = {.st = LAB_OK, .run = run};
    if (p->json)
        return print_run_lines(p, run);
    enum lab_status st =
        end_query(lab_query_run(p->db, run, add_run_facts, &facts), &facts);
    if (st == LAB_OK)
        st = lab_profile_put_table(&facts.table, p->ascii);
    if (st == LAB_OK)
        st = lab_profile_print_labs(p, run);
    if (st == LAB_OK)
        st = lab_counted_load(&steps.counted, p->db, run);
    if (st == LAB_OK)
        st = print_steps(p, &steps);
    lab_counted_release(&steps.counted);
    return st ? st : say_no_steps(p, run);
}

/* ------------------------------------------------------------ kernels */

static bool print_kernel_json(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    p->st = lab_json_print(lab_profile_kernel_object(p->run, r, &p->counted));
    return p->st == LAB_OK;
}

static bool add_kernel_row(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    if (p->rows_left > 0 && --p->rows_left == 0) {
        p->rows++;
        p->cut = true;
        return false;
    }
    add_row(p, &lab_kernel_fields, r, lab_counted_kernel(&p->counted, r->row),
            NAN);
    return !p->table.failed;
}

enum lab_status lab_profile_print_kernels(const struct lab_profile_print *p,
                                          int64_t run)
{
    struct printing printing = {.st = LAB_OK, .run = run};
    struct lab_kernel_filter filter = p->kernels;
    filter.descending = p->descending;
    if (p->table_rows > 0)
        printing.rows_left = filter.limit = p->table_rows + 1;
    enum lab_status st = lab_counted_load(&printing.counted, p->db, run);
    if (st)
        return st;
    if (!p->json)
        begin_table(&printing, &lab_kernel_fields);
    st = end_query(lab_query_kernels(
                       p->db, run, &filter,
                       p->json ? print_kernel_json : add_kernel_row, &printing),
                   &printing);
    if (st == LAB_OK && !p->json && printing.rows > 0)
        st = end_table(p, &printing);
    else if (st == LAB_OK && !p->json)
        lab_text_table_release(&printing.table);
    if (st == LAB_OK)
        st = lab_profile_say_missing(p->db, run, LAB_HAS_KERNELS);
    if (printing.cut)
        lab_warn("run %lld has more kernels than the %lld shown: --limit 0 "
                 "shows all of them, --json writes them as they are read",
                 (long long)run, (long long)p->table_rows);
    lab_counted_release(&printing.counted);
    return st;
}
