#include "printed_table.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "say.h"
#include "text_table.h"

/* Of the entry's values the one that is farthest off. */
struct worst {
    int64_t index; /* flat, in the tensor */
    double printed;
    double computed;
};

static struct worst find_worst(const struct lab_printed_spec *p,
                               const struct lab_tensor *t, const void *data)
{
    int64_t first =
        p->at.rank > 0 ? lab_shape_ravel(&t->shape, p->at.dim, p->at.rank) : 0;
    struct worst worst = {.index = -1};
    double most = -1;
    for (int i = 0; i < p->n_values && first >= 0 && first + i < t->count;
         i++) {
        double v = lab_element_value(data, t->dtype, first + i);
        double off = fabs(v - p->values[i]);
        if (worst.index < 0 || isnan(off) || off > most) {
            worst = (struct worst){first + i, p->values[i], v};
            most = isnan(off) ? INFINITY : off;
        }
    }
    return worst;
}

static const char *verdict(const struct lab_printed_spec *p, double off)
{
    if (isnan(p->tolerance))
        return ""; /* none is claimed */
    return fabs(off) <= p->tolerance ? "ok" : "OUTSIDE";
}

static enum lab_status add_row(struct lab_text_table *table, struct lab_walk *w,
                               const struct lab_printed_spec *p)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    int id = lab_plan_tensor(plan, p->tensor);
    char at[LAB_SHAPE_TEXT];
    if (id < 0)
        return LAB_OK; /* `lesson lint` says so */
    const struct lab_tensor *t = &plan->tensors[id];
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!data)
        return lab_fail(LAB_E_NOMEM, "no memory to compare %s", t->name);
    enum lab_status st = lab_walk_read(w, id, false, data);
    struct worst x = {.index = -1};
    if (!st)
        x = find_worst(p, t, data);
    lab_free(data);
    if (st || x.index < 0)
        return st;
    lab_text_table_addf(table, "%s[%s]", t->name,
                        lab_explain_at(&t->shape, x.index, at));
    lab_text_table_add_int(table, p->n_values);
    lab_text_table_addf(table, "%.9g", x.computed);
    lab_text_table_addf(table, "%.9g", x.printed);
    lab_text_table_addf(table, "%+.2g", x.computed - x.printed);
    lab_text_table_add(table, verdict(p, x.computed - x.printed));
    lab_text_table_addf(table, "%s%s%s", p->where ? p->where : "",
                        p->where && p->note ? ": " : "",
                        p->note ? p->note : "");
    return LAB_OK;
}

enum lab_status lab_printed_table(struct lab_walk *w,
                                  const struct lab_network_spec *spec,
                                  FILE *out)
{
    static const char *const heads[] = {"printed beside computed",
                                        ">of",
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
        st = add_row(&table, w, &spec->printed[i]);
    if (!st)
        st = lab_text_table_format(&table, &text);
    for (char *line = text.data; line && *line && !st;) {
        char *end = strchr(line, '\n'); /* lab_say takes a line at a time */
        if (end)
            *end = '\0';
        lab_say(out, "%s\n", line);
        line = end ? end + 1 : NULL;
    }
    lab_str_release(&text);
    lab_text_table_release(&table);
    if (!st && ferror(out))
        st = lab_fail(LAB_E_IO, "cannot write");
    return st;
}
