/* lab_names.c -- maps the steps of a lab's run to variant, precision and
 * size. */
#include "store/lab_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "db/row.h"
#include "store/bench.h"

struct loading {
    struct lab_bench_names names;
    int64_t *traced; /* of each item: the execution of the traced launch */
    size_t room;
    char precision[16]; /* of the first row */
    bool failed;
};

/* As many characters as there is room for, each of them whole. */
static void cut(char *out, size_t size, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    size_t used = 0;
    unsigned code;
    while (used < n) {
        size_t bytes = lab_utf8_next(text + used, n - used, &code);
        bytes = bytes ? bytes : 1;
        if (used + bytes >= size)
            break;
        used += bytes;
    }
    snprintf(out, size, "%.*s", (int)used, text ? text : "");
}

/* For one item more, at least. */
static bool make_room(struct loading *l)
{
    struct lab_bench_names *n = &l->names;
    if (n->count < l->room)
        return true;
    size_t room = l->room ? l->room * 2 : 64;
    void *items = lab_realloc_array(n->items, room, sizeof(*n->items));
    if (items)
        n->items = items;
    void *traced = lab_realloc_array(l->traced, room, sizeof(*l->traced));
    if (traced)
        l->traced = traced;
    l->failed = !items || !traced;
    if (!l->failed)
        l->room = room;
    return !l->failed;
}

static bool each_row(void *user, const struct lab_bench_result *row)
{
    struct loading *l = user;
    struct lab_bench_names *n = &l->names;
    if (row->place == LAB_UNKNOWN)
        return true; /* of no step */
    if (!make_room(l))
        return false;
    struct lab_bench_name *name = &n->items[n->count];
    bool memory = row->unit && strcmp(row->unit, "B/s") == 0;
    *name = (struct lab_bench_name){.step_index = row->place,
                                    .bytes_moved = memory ? row->traffic_bytes
                                                          : (double)NAN};
    cut(name->lab, sizeof(name->lab), row->lab);
    cut(name->precision, sizeof(name->precision), row->precision);
    cut(name->variant, sizeof(name->variant), row->variant);
    cut(name->size, sizeof(name->size), row->size);
    if (n->count == 0) {
        memcpy(l->precision, name->precision, sizeof(l->precision));
        n->copy_bytes_s = row->ceiling_copy;
        n->fp32_flop_s = row->ceiling_fp32;
    }
    n->precisions |= strcmp(l->precision, name->precision) != 0;
    l->traced[n->count++] = row->traced_exec;
    return true;
}

/* A traced launch is a step of its own, behind those of all rows. */
static void add_traced(struct loading *l, size_t item, int64_t step_index)
{
    struct lab_bench_names *n = &l->names;
    /* A simulation has no other launch: the row's step is the traced one. */
    if (step_index == LAB_UNKNOWN ||
        step_index == l->names.items[item].step_index || !make_room(l))
        return;
    struct lab_bench_name *name = &n->items[n->count++];
    *name = n->items[item];
    name->step_index = step_index;
    name->traced = true;
}

static enum lab_status find_traced(struct loading *l, struct lab_database *db,
                                   int64_t run)
{
    size_t rows = l->names.count;
    struct lab_stmt s = lab_stmt_new(
        db, "SELECT stepIndex FROM step WHERE runId = ?1 AND exec = ?2");
    sqlite3_bind_int64(s.sql, 1, run);
    for (size_t i = 0; i < rows && !l->failed && !s.st; i++) {
        if (l->traced[i] == LAB_UNKNOWN)
            continue;
        sqlite3_bind_int64(s.sql, 2, l->traced[i]);
        if (lab_stmt_next(&s))
            add_traced(l, i, lab_column_int(&s));
        sqlite3_reset(s.sql);
    }
    return lab_stmt_end(&s);
}

static void put_together(struct lab_bench_name *n, bool precision)
{
    bool has_precision = precision && n->precision[0];
    snprintf(n->problem, sizeof(n->problem), "%s%s%s",
             has_precision ? n->precision : "", has_precision ? " " : "",
             n->size);
    snprintf(n->name, sizeof(n->name), "%s %s%s", n->variant, n->problem,
             n->traced ? ", traced" : "");
}

static int compare(const void *a, const void *b)
{
    const struct lab_bench_name *x = a;
    const struct lab_bench_name *y = b;
    return (x->step_index > y->step_index) - (x->step_index < y->step_index);
}

enum lab_status lab_bench_names_load(struct lab_bench_names *out,
                                     struct lab_database *db, int64_t run)
{
    struct loading l = {.names = {.copy_bytes_s = NAN, .fp32_flop_s = NAN}};
    struct lab_bench_names *n = &l.names;
    enum lab_status st = lab_bench_results_read(db, run, each_row, &l);
    if (!st && n->count > 0)
        st = find_traced(&l, db, run);
    if (l.failed)
        st = lab_no_memory("the variants of a lab");
    lab_free(l.traced);
    if (st) {
        lab_free(n->items);
        return st;
    }
    for (size_t i = 0; i < n->count; i++) {
        put_together(&n->items[i], n->precisions);
        memcpy(n->items[i].own, n->items[i].name, sizeof(n->items[i].own));
    }
    if (n->count)
        qsort(n->items, n->count, sizeof(*n->items), compare);
    *out = *n;
    return LAB_OK;
}

void lab_bench_names_release(struct lab_bench_names *names)
{
    lab_free(names->items);
    *names = (struct lab_bench_names){0};
}

void lab_bench_names_say_precision(struct lab_bench_names *names)
{
    names->precisions = true;
    for (size_t i = 0; i < names->count; i++)
        put_together(&names->items[i], true);
}

const struct lab_bench_name *
lab_bench_name_find(const struct lab_bench_names *names, int64_t step_index)
{
    const struct lab_bench_name key = {.step_index = step_index};
    if (names->count == 0)
        return NULL;
    return bsearch(&key, names->items, names->count, sizeof(key), compare);
}

bool lab_bench_name_is(const struct lab_bench_name *a,
                       const struct lab_bench_name *b)
{
    return a->traced == b->traced && strcmp(a->variant, b->variant) == 0 &&
           strcmp(a->precision, b->precision) == 0 &&
           strcmp(a->size, b->size) == 0;
}

/* cuDNN's words for its algorithms, which its variants have in their names. */
bool lab_variant_has_fewer_flop(const char *variant)
{
    return variant && (strstr(variant, "winograd") || strstr(variant, "_fft"));
}

/* OpenBLAS on all of them. */
bool lab_variant_has_all_cores(const char *variant)
{
    return variant && strcmp(variant, "threads") == 0;
}

bool lab_variant_has_one_address(const char *variant)
{
    return variant && strcmp(variant, "atomic") == 0;
}

const char *lab_bench_name_text(const struct lab_bench_name *bench_name,
                                const char *name)
{
    return bench_name ? bench_name->name : name;
}
