#include "pass.h"

#include "kernel_zone.h"
#include "db/row.h"
#include "sum_packed.h"
#include "timeline/timeline_priv.h"
#include "varint.h"

static enum lab_status no_memory(void)
{
    return lab_fail(LAB_E_NOMEM, "no memory for the iterations of a run");
}

void lab_pass_begin(struct lab_pass *p, int64_t iteration, int64_t exec)
{
    p->row = (struct lab_iteration_row){.iteration = iteration,
                                        .start_ns = LAB_UNKNOWN,
                                        .end_ns = LAB_UNKNOWN,
                                        .kernels = LAB_UNKNOWN,
                                        .exec_first = exec,
                                        .exec_last = exec,
                                        .kernel_row_first = LAB_UNKNOWN,
                                        .kernel_row_last = LAB_UNKNOWN};
    p->zero = LAB_UNKNOWN;
}

void lab_pass_add(struct lab_pass *p, const struct lab_pass_step *s)
{
    struct lab_iteration_row *r = &p->row;
    int64_t zero;
    if (s->index == LAB_UNKNOWN ||
        __builtin_sub_overflow(s->exec, s->index, &zero))
        zero = LAB_UNKNOWN;
    p->zero = r->steps == 0 || p->zero == zero ? zero : LAB_UNKNOWN;
    r->steps++;
    r->exec_last = s->exec;
    lab_moments_widen(&r->start_ns, &r->end_ns, s->start_ns, s->end_ns);
    lab_moments_widen(&r->kernel_row_first, &r->kernel_row_last,
                      s->kernel_row_first, s->kernel_row_last);
    if (s->kernels >= 0 && s->kernels <= INT32_MAX)
        r->kernels = (r->kernels == LAB_UNKNOWN ? 0 : r->kernels) + s->kernels;
}

/* A new place at the end; NULL: no memory. */
static struct lab_pass *grow(struct lab_passes *p)
{
    if (p->count == p->room) {
        size_t room = p->room ? p->room * 2 : 64;
        struct lab_pass *list = lab_realloc_array(p->list, room, sizeof(*list));
        if (!list)
            return NULL;
        p->list = list;
        p->room = room;
    }
    return &p->list[p->count++];
}

enum lab_status lab_passes_add(struct lab_passes *p,
                               const struct lab_pass_step *step)
{
    struct lab_pass *last = p->count ? &p->list[p->count - 1] : NULL;
    if (!last || last->row.iteration != step->iteration) {
        last = grow(p);
        if (!last)
            return no_memory();
        lab_pass_begin(last, step->iteration, step->exec);
    }
    lab_pass_add(last, step);
    p->steps++;
    if (step->index > p->last_index)
        p->last_index = step->index;
    return LAB_OK;
}

bool lab_passes_are_kept(const struct lab_passes *p)
{
    enum { FEW = 4 }; /* steps of a pass: a list of them would save nothing */
    return p->steps >= LAB_PASS_LEAST_STEPS &&
           p->steps / FEW >= (int64_t)p->count;
}

void lab_passes_release(struct lab_passes *p)
{
    lab_free(p->list);
    *p = (struct lab_passes){0};
}

/* ---- as bytes: a version, then the numbers of each pass as differences to
 * those of the pass before, the sign in the lowest bit ---- */

enum { VERSION = 1, NUMBERS = 10 };

static void to_numbers(const struct lab_pass *p, int64_t n[NUMBERS])
{
    const struct lab_iteration_row *r = &p->row;
    const int64_t all[NUMBERS] = {
        r->iteration,       r->start_ns,   r->end_ns,    r->steps,
        r->kernels,         r->exec_first, r->exec_last, r->kernel_row_first,
        r->kernel_row_last, p->zero};
    for (int i = 0; i < NUMBERS; i++)
        n[i] = all[i];
}

static void from_numbers(struct lab_pass *p, const int64_t n[NUMBERS])
{
    *p = (struct lab_pass){.row = {.iteration = n[0],
                                   .start_ns = n[1],
                                   .end_ns = n[2],
                                   .steps = n[3],
                                   .kernels = n[4],
                                   .exec_first = n[5],
                                   .exec_last = n[6],
                                   .kernel_row_first = n[7],
                                   .kernel_row_last = n[8]},
                           .zero = n[9]};
}

static size_t pack(unsigned char *bytes, const struct lab_pass *list,
                   size_t count)
{
    int64_t before[NUMBERS] = {0};
    size_t n = 0;
    bytes[n++] = VERSION;
    for (size_t i = 0; i < count; i++) {
        int64_t now[NUMBERS];
        to_numbers(&list[i], now);
        for (int k = 0; k < NUMBERS; k++) {
            uint64_t d = (uint64_t)now[k] - (uint64_t)before[k];
            n += lab_varint_put(bytes + n, lab_zigzag(d));
            before[k] = now[k];
        }
    }
    return n;
}

static bool is_moment(int64_t v)
{
    return v == LAB_UNKNOWN || lab_moment_known(v);
}

/* Whether lab_pass_add() can have made it, after the pass `before` (NULL: as
 * the first one). */
static bool is_sound(const struct lab_pass *p, const struct lab_pass *before)
{
    const struct lab_iteration_row *r = &p->row;
    return r->steps > 0 &&
           r->steps - 1 <= lab_span_ns(r->exec_first, r->exec_last) &&
           is_moment(r->start_ns) && is_moment(r->end_ns) &&
           is_moment(r->kernel_row_first) && is_moment(r->kernel_row_last) &&
           (r->kernels == LAB_UNKNOWN ||
            (r->kernels >= 0 && r->kernels / INT32_MAX <= r->steps)) &&
           (!before || (before->row.exec_last < r->exec_first &&
                        before->row.iteration != r->iteration));
}

/* LAB_E_PARSE: the bytes are not `count` passes that go on from the others. */
static enum lab_status unpack(struct lab_passes *out, const void *bytes,
                              size_t size, int64_t count)
{
    const unsigned char *p = bytes;
    int64_t now[NUMBERS] = {0};
    if (size < 1 || *p != VERSION || count > LAB_PASS_ROWS)
        return LAB_E_PARSE; /* of size 0 there are no bytes at all: NULL */
    const unsigned char *end = p++ + size;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < NUMBERS; k++) {
            uint64_t v;
            if (!lab_varint_get(&p, end, &v))
                return LAB_E_PARSE;
            now[k] = (int64_t)((uint64_t)now[k] + lab_unzigzag(v));
        }
        struct lab_pass *pass = grow(out);
        if (!pass)
            return no_memory();
        from_numbers(pass, now);
        if (!is_sound(pass, out->count > 1 ? pass - 1 : NULL))
            return LAB_E_PARSE;
        out->steps = lab_add_known(out->steps, pass->row.steps);
    }
    return p == end ? LAB_OK : LAB_E_PARSE;
}

/* ---- held against the run ---- */

/* What the run's own rows say of its steps, found without reading them. */
struct run_steps {
    int64_t count; /* as they were added up */
    struct lab_zone_range places;
    int64_t exec_first;
    int64_t exec_last;
    int64_t kernel_row_first;
    int64_t kernel_row_last;
};

static enum lab_status find_ends(struct run_steps *s, struct lab_database *db,
                                 int64_t run)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT (SELECT min(exec) FROM step WHERE runId = ?1), (SELECT "
        "max(exec) FROM step WHERE runId = ?1), ifnull(kernelRowFirst, 0), "
        "ifnull(kernelRowLast, 0x7FFFFFFFFFFFFFFF) FROM run WHERE id = ?1",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        s->exec_first = lab_column_int(&c);
        s->exec_last = lab_column_int(&c);
        s->kernel_row_first = lab_column_int(&c);
        s->kernel_row_last = lab_column_int(&c);
    }
    return lab_query_end(db, stmt, rc);
}

static bool is_place(const struct lab_zone_range *places, int64_t v)
{
    return places->known && v >= places->least && v <= places->greatest;
}

static bool is_within(const struct lab_pass *p, const struct run_steps *s)
{
    const struct lab_iteration_row *r = &p->row;
    return (p->zero == LAB_UNKNOWN ||
            (is_place(&s->places, lab_span_ns(p->zero, r->exec_first)) &&
             is_place(&s->places, lab_span_ns(p->zero, r->exec_last)))) &&
           (r->kernel_row_first == LAB_UNKNOWN ||
            r->kernel_row_first >= s->kernel_row_first) &&
           (r->kernel_row_last == LAB_UNKNOWN ||
            r->kernel_row_last <= s->kernel_row_last);
}

/* As passes do not overlap, those with the run's first step, its last one and
 * as many as it has are all of it. */
static bool are_of_run(const struct lab_passes *p, const struct run_steps *s)
{
    if (p->steps == LAB_UNKNOWN || p->steps != s->count ||
        p->list[0].row.exec_first != s->exec_first ||
        p->list[p->count - 1].row.exec_last != s->exec_last)
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (!is_within(&p->list[i], s))
            return false;
    return true;
}

/* ---- in the database ---- */

enum lab_status lab_passes_store(const struct lab_passes *passes,
                                 struct lab_database *db, int64_t run,
                                 int64_t *place)
{
    struct lab_packed rows;
    if (!lab_passes_are_kept(passes))
        return LAB_OK;
    unsigned char *bytes =
        lab_alloc_array(LAB_PASS_ROWS + 1, NUMBERS * LAB_VARINT_MOST);
    if (!bytes)
        return no_memory();
    enum lab_status st = lab_packed_begin(&rows, db, run, LAB_PASS_LEVEL);
    for (size_t i = 0; i < passes->count && !st; i += LAB_PASS_ROWS) {
        size_t n = passes->count - i;
        n = n < LAB_PASS_ROWS ? n : LAB_PASS_ROWS;
        size_t size = pack(bytes, passes->list + i, n);
        st = lab_packed_add(&rows, place, LAB_UNKNOWN, LAB_UNKNOWN, (int64_t)n,
                            bytes, size);
    }
    lab_packed_end(&rows);
    lab_free(bytes);
    return st;
}

/* A row of the passes, or what the run's steps of one place add up to. */
static enum lab_status read_row(struct lab_passes *out, struct run_steps *steps,
                                sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    int64_t level = lab_column_int(&c);
    int64_t count = lab_column_int(&c);
    int64_t place = lab_column_int(&c);
    if (level == LAB_PASS_LEVEL) {
        const void *bytes = sqlite3_column_blob(stmt, c.next);
        size_t size = (size_t)sqlite3_column_bytes(stmt, c.next);
        return unpack(out, bytes, bytes ? size : 0, count);
    }
    steps->count = lab_add_known(steps->count, count);
    lab_zone_widen(&steps->places, place);
    return LAB_OK;
}

static enum lab_status read_rows(struct lab_passes *out,
                                 struct run_steps *steps,
                                 struct lab_database *db, int64_t run)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT level, count, stepIndex, times FROM time_sum WHERE runId = ?1 "
        "AND level IN (?2, ?3) ORDER BY place",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int(stmt, 2, LAB_PASS_LEVEL);
    sqlite3_bind_int(stmt, 3, LAB_SUM_STEP);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_row(out, steps, stmt);
    enum lab_status end = lab_query_end(db, stmt, st ? SQLITE_DONE : rc);
    return st ? st : end;
}

enum lab_status lab_passes_load(struct lab_passes *out, struct lab_database *db,
                                int64_t run)
{
    struct lab_passes passes = {0};
    struct run_steps steps = {0};
    *out = passes;
    enum lab_status st = read_rows(&passes, &steps, db, run);
    if (st == LAB_OK && passes.count)
        st = find_ends(&steps, db, run);
    if (st == LAB_OK && passes.count && are_of_run(&passes, &steps)) {
        *out = passes;
        return LAB_OK;
    }
    lab_passes_release(&passes);
    return st == LAB_E_PARSE ? LAB_OK : st;
}
