/* course_values.c -- values printed in the course's slides beside those
 * computed here. */
#include "report/course_values.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/print.h"
#include "report/text_table.h"

static const char *verdict(const struct lab_course_values_spec *p, double off)
{
    if (isnan(p->tolerance))
        return ""; /* none is claimed */
    return fabs(off) <= p->tolerance ? "ok" : "OUTSIDE";
}

/* The note is beside the first value alone. */
static void add_row(struct lab_text_table *table,
                    const struct lab_course_values_spec *p,
                    const struct lab_tensor *t, int64_t index, double computed,
                    int k)
{
    char at[LAB_SHAPE_TEXT];
    double off = computed - p->values[k];
    bool note = k == 0 && p->note;
    lab_text_table_addf(table, "%s[%s]", t->name,
                        lab_explain_at(&t->shape, index, at));
    lab_text_table_addf(table, "%.9g", computed);
    lab_text_table_addf(table, "%.9g", p->values[k]);
    lab_text_table_addf(table, "%+.2g", off);
    lab_text_table_add(table, verdict(p, off));
    lab_text_table_addf(table, "%s%s%s", k == 0 && p->where ? p->where : "",
                        p->where && note ? ": " : "", note ? p->note : "");
}

static enum lab_status add_entry(struct lab_text_table *table,
                                 struct lab_walk *w,
                                 const struct lab_course_values_spec *p)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    int id = lab_plan_tensor(plan, p->tensor);
    if (id < 0)
        return LAB_OK; /* `lesson lint` reports it */
    const struct lab_tensor *t = &plan->tensors[id];
    int64_t first =
        p->at.rank > 0 ? lab_shape_ravel(&t->shape, p->at.dim, p->at.rank) : 0;
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!data)
        return lab_fail(LAB_E_NOMEM, "no memory to compare %s", t->name);
    enum lab_status st =
        lab_walk_read(w, id, t->persistent && !p->updated, data);
    for (int k = 0;
         k < p->n_values && !st && first >= 0 && first + k < t->count; k++)
        add_row(table, p, t, first + k,
                lab_number_at(data, t->dtype, first + k), k);
    lab_free(data);
    return st;
}

enum lab_status lab_course_values_print(struct lab_walk *w,
                                        const struct lab_network_spec *spec)
{
    static const char *const heads[] = {"printed beside computed",
                                        ">computed",
                                        ">printed",
                                        ">difference",
                                        "",
                                        "where",
                                        NULL};
    struct lab_text_table table;
    struct lab_str text;
    enum lab_status st = LAB_OK;
    if (spec->n_printed == 0)
        return LAB_OK;
    lab_text_table_init(&table, heads);
    lab_str_init(&text);
    for (int i = 0; i < spec->n_printed && !st; i++)
        st = add_entry(&table, w, &spec->printed[i]);
    if (!st)
        st = lab_text_table_format(&table, &text);
    if (!st)
        lab_print_lines(&text);
    lab_str_release(&text);
    lab_text_table_release(&table);
    return st ? st : lab_print_check();
}
