/* Where the wall time of an iteration goes, in each of two runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/json_line.h"
#include "profile_compare.h"

double lab_compare_wall_difference(int64_t a, int64_t b)
{
    return a == LAB_UNKNOWN || b == LAB_UNKNOWN ? (double)NAN
                                                : (double)b - (double)a;
}

/* ---- text ---- */

static void add_time(struct lab_text_table *t, int64_t ns, int64_t all)
{
    if (ns == LAB_UNKNOWN) {
        lab_text_table_add(t, "-");
        lab_text_table_add(t, "-");
        return;
    }
    lab_text_table_add_ns(t, ns);
    lab_text_table_add_share(t,
                             all > 0 ? (double)ns / (double)all : (double)NAN);
}

static void add_row(struct lab_text_table *t, const char *name, int64_t a,
                    int64_t b, const struct lab_comparison *c)
{
    lab_text_table_add(t, name);
    add_time(t, a, c->wall[LAB_SIDE_A].wall_ns);
    add_time(t, b, c->wall[LAB_SIDE_B].wall_ns);
    lab_compare_add_difference(t, lab_compare_wall_difference(a, b));
}

static bool all_unknown(const struct lab_time_breakdown *w)
{
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        if (w->why[i] != w->why[0])
            return false;
    return w->why[0] != NULL;
}

static void add_parts(const struct lab_time_breakdown *w, const char *why,
                      struct lab_str *out)
{
    const char *between = "    ";
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        if (w->why[i] != why)
            continue;
        lab_str_addf(out, "%s%s", between,
                     lab_time_part_name((enum lab_time_part)i));
        between = ", ";
    }
    lab_str_add(out, "\n");
}

static void add_notes(const struct lab_time_breakdown *w, const char *whose,
                      struct lab_str *out)
{
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        bool told = w->why[i] == NULL;
        for (int k = 0; k < i && !told; k++)
            told = w->why[k] == w->why[i];
        if (told)
            continue;
        bool all = all_unknown(w);
        lab_str_addf(out, "- of %s: %s%s\n", whose, w->why[i], all ? "" : ":");
        if (!all)
            add_parts(w, w->why[i], out);
    }
}

/* "Iteration 5 of run 3, in the middle of 20" */
static void add_iteration(const struct lab_comparison *c, int side,
                          struct lab_str *out)
{
    const struct lab_time_breakdown *w = &c->wall[side];
    if (w->iteration == LAB_UNKNOWN)
        return;
    lab_str_addf(out, "Iteration %lld of run %lld", (long long)w->iteration,
                 (long long)c->run[side].run);
    if (w->recorded > 1)
        lab_str_addf(out, ", the median of %lld recorded",
                     (long long)w->recorded);
    if (w->iteration == 0)
        lab_str_add(
            out,
            ", the warm-up iteration: kernels and libraries are loaded in it");
    lab_str_add(out, ".\n");
}

void lab_compare_wall_notes(const struct lab_comparison *c, struct lab_str *out)
{
    const struct lab_time_breakdown *w = c->wall;
    bool same = true;
    char whose[32];
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        same = same && w[LAB_SIDE_A].why[i] == w[LAB_SIDE_B].why[i];
    for (int side = 0; side < LAB_SIDES; side++)
        add_iteration(c, side, out);
    for (int side = 0; side < (same ? 1 : LAB_SIDES); side++) {
        snprintf(whose, sizeof(whose), "run %lld", (long long)c->run[side].run);
        add_notes(&w[side], same ? "both runs" : whose, out);
    }
}

static enum lab_status put_parts(const struct lab_comparison *c,
                                 const char *above, bool ascii)
{
    const struct lab_time_breakdown *a = &c->wall[LAB_SIDE_A];
    const struct lab_time_breakdown *b = &c->wall[LAB_SIDE_B];
    struct lab_text_table t;
    char head[2][32];
    for (int i = 0; i < LAB_SIDES; i++)
        snprintf(head[i], sizeof(head[i]), ">%lld", (long long)c->run[i].run);
    const char *const heads[] = {"wall time", head[0], ">share", head[1],
                                 ">share",    ">diff", NULL};
    lab_text_table_init(&t, heads);
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        add_row(&t, lab_time_part_name((enum lab_time_part)i), a->part_ns[i],
                b->part_ns[i], c);
    add_row(&t, "all of it", a->wall_ns, b->wall_ns, c);
    return lab_compare_put(&t, above, ascii);
}

enum lab_status lab_compare_wall_text(const struct lab_comparison *c,
                                      bool ascii)
{
    static const char above[] = "\nWhere one iteration's time goes:\n";
    struct lab_str notes;
    lab_str_init(&notes);
    if (c->wall[LAB_SIDE_A].wall_ns != LAB_UNKNOWN ||
        c->wall[LAB_SIDE_B].wall_ns != LAB_UNKNOWN) {
        enum lab_status st = put_parts(c, above, ascii);
        if (st)
            return st;
    } else {
        lab_str_add(&notes, above); /* and why there is nothing to show */
    }
    lab_compare_wall_notes(c, &notes);
    return lab_profile_put(&notes, ascii);
}

/* ---- JSON Lines ---- */

static enum lab_status print_part(const struct lab_comparison *c,
                                  const char *part, const int64_t ns[LAB_SIDES],
                                  const char *const why[LAB_SIDES])
{
    json_t *o = lab_json_new("wall");
    lab_json_int(o, "a", c->run[LAB_SIDE_A].run);
    lab_json_int(o, "b", c->run[LAB_SIDE_B].run);
    lab_json_text(o, "part", part);
    lab_json_int(o, "iteration_a", c->wall[LAB_SIDE_A].iteration);
    lab_json_int(o, "iteration_b", c->wall[LAB_SIDE_B].iteration);
    lab_json_int(o, "ns_a", ns[LAB_SIDE_A]);
    lab_json_int(o, "ns_b", ns[LAB_SIDE_B]);
    lab_json_real(o, "difference_ns",
                  lab_compare_wall_difference(ns[LAB_SIDE_A], ns[LAB_SIDE_B]));
    lab_json_text(o, "why_a", why[LAB_SIDE_A]);
    lab_json_text(o, "why_b", why[LAB_SIDE_B]);
    return lab_json_print(o);
}

enum lab_status lab_compare_wall_lines(const struct lab_comparison *c)
{
    const struct lab_time_breakdown *a = &c->wall[LAB_SIDE_A];
    const struct lab_time_breakdown *b = &c->wall[LAB_SIDE_B];
    enum lab_status st = LAB_OK;
    for (int i = 0; i < LAB_WALL_PARTS && st == LAB_OK; i++)
        st = print_part(c, lab_time_part_id((enum lab_time_part)i),
                        (const int64_t[]){a->part_ns[i], b->part_ns[i]},
                        (const char *const[]){a->why[i], b->why[i]});
    if (st)
        return st;
    return print_part(
        c, "all", (const int64_t[]){a->wall_ns, b->wall_ns},
        (const char *const[]){a->wall_ns == LAB_UNKNOWN ? a->why[0] : NULL,
                              b->wall_ns == LAB_UNKNOWN ? b->why[0] : NULL});
}
