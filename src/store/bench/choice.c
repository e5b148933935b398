/* choice.c -- by which times a run's variants were chosen, and the reason in
 * words.
 *
 * The table of columns of a chosen variant (struct lab_choice_row), which
 * `profile show` prints, exports write and the start of a run stores. */
#include "store/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/quantile.h"

/* Of equal variants the fixed table's is taken (engine/tune.h), or that of most steps,
 * which the host takes where another gains little. A group, whose step is its node, may
 * cost time in one phase that it saves in another. */
static const char *why_text(const void *row, char *out, size_t cap)
{
    const struct lab_choice_row *r = row;
    double times = r->next_ns / r->time_ns;
    bool group =
        r->steps != 1 || (r->step && r->node && strcmp(r->step, r->node) == 0);
    if (!r->next || isnan(times))
        snprintf(out, cap, "no other has a time");
    else if (times * 1000 >= 1005) /* as %.3g has it, more than 1 */
        snprintf(out, cap, "%.48s takes %s, %.3g times as long", r->next,
                 LAB_NS_TEXT(r->next_ns), times);
    else if (times * LAB_EQUAL_TIMES >= 1)
        snprintf(out, cap, "%.48s takes %s: equal, and this one is preferred",
                 r->next, LAB_NS_TEXT(r->next_ns));
    else if (!group && times * LAB_DISTURBED_TIMES >= 1)
        snprintf(out, cap,
                 "%.48s takes %s: too near to decide, and this one is the best "
                 "of most steps",
                 r->next, LAB_NS_TEXT(r->next_ns));
    else
        snprintf(out, cap,
                 "%.48s takes %s, but this one saves more in the other phase",
                 r->next, LAB_NS_TEXT(r->next_ns));
    return out;
}

#define FIELD(column, kind, ...)                                               \
    LAB_FIELD(lab_choice_row, column, kind, __VA_ARGS__)
#define SHOWN LAB_SHOWN

static const struct lab_field fields[] = {
    FIELD("place", INT, place),
    FIELD("step", TEXT, step, SHOWN("chosen for", 1, PLAIN)),
    FIELD("node", TEXT, node),
    FIELD("phaseName", TEXT, phase, .key = "phase", SHOWN("phase", 2, PLAIN)),
    FIELD("variant", TEXT, variant, SHOWN("variant", 3, PLAIN)),
    FIELD("steps", INT, steps),
    FIELD("time_ns", REAL, time_ns, SHOWN(">its time", 4, NS)),
    FIELD("nextVariant", TEXT, next),
    FIELD("next_ns", REAL, next_ns),
    /* Of the others: in tables of text alone. */
    FIELD(NULL, TEXT, next, .key = "", SHOWN("why", 5, PLAIN),
          .text = why_text),
};

LAB_FIELDS(lab_choice_row, fields, lab_choice_rows_read, "choice", "place",
           "choice_")
