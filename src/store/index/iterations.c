/* The list of a long run's iterations, packed in rows of time_sum: a version,
 * then the numbers of each iteration as differences to those of the one before,
 * the sign in the lowest bit. */
#include "db/row.h"
#include "index.h"
#include "varint.h"

enum {
    VERSION = 1,
    /* The tenth was a number that older programs read, and do without. */
    NUMBERS = 10,
    PER_ROW = 4096 /* iterations */
};

void lab_iteration_begin(struct lab_iteration_row *r, int64_t iteration,
                         int64_t exec)
{
    *r = (struct lab_iteration_row){.iteration = iteration,
                                    .start_ns = LAB_UNKNOWN,
                                    .end_ns = LAB_UNKNOWN,
                                    .kernels = LAB_UNKNOWN,
                                    .exec_first = exec,
                                    .exec_last = exec,
                                    .kernel_row_first = LAB_UNKNOWN,
                                    .kernel_row_last = LAB_UNKNOWN};
}

static void widen(struct lab_iteration_row *r, const struct lab_index_step *s)
{
    r->steps++;
    r->exec_last = s->exec;
    lab_moments_widen(&r->start_ns, &r->end_ns, s->start_ns, s->end_ns);
    lab_moments_widen(&r->kernel_row_first, &r->kernel_row_last,
                      s->kernel_row_first, s->kernel_row_last);
    if (s->kernels >= 0 && s->kernels <= INT32_MAX)
        r->kernels = (r->kernels == LAB_UNKNOWN ? 0 : r->kernels) + s->kernels;
}

/* A new one at the end; NULL: no memory. */
static struct lab_iteration_row *grow(struct lab_iterations *it)
{
    if (lab_grow(&it->list, it->count, &it->room, sizeof(*it->list),
                 "the iterations of a run"))
        return NULL;
    return &it->list[it->count++];
}

enum lab_status lab_iterations_add(struct lab_iterations *it,
                                   const struct lab_index_step *s)
{
    struct lab_iteration_row *r = it->count ? &it->list[it->count - 1] : NULL;
    if (!r || r->iteration != s->iteration) {
        r = grow(it);
        if (!r)
            return lab_no_memory("the iterations of a run");
        lab_iteration_begin(r, s->iteration, s->exec);
    }
    widen(r, s);
    it->steps++;
    return LAB_OK;
}

void lab_iterations_release(struct lab_iterations *it)
{
    lab_free(it->list);
    *it = (struct lab_iterations){0};
}

/* ---- as bytes ---- */

static size_t pack(unsigned char *bytes, const struct lab_iteration_row *r,
                   size_t count)
{
    int64_t before[NUMBERS] = {0};
    size_t n = 0;
    bytes[n++] = VERSION;
    for (; count > 0; count--, r++) {
        const int64_t now[NUMBERS] = {r->iteration,       r->start_ns,
                                      r->end_ns,          r->steps,
                                      r->kernels,         r->exec_first,
                                      r->exec_last,       r->kernel_row_first,
                                      r->kernel_row_last, LAB_UNKNOWN};
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

/* Whether a run can have it, after the iteration `before` (NULL: as the first
 * one): its numbers can be added and subtracted, and iterations do not overlap.
 */
static bool is_sound(const struct lab_iteration_row *r,
                     const struct lab_iteration_row *before)
{
    return r->steps > 0 &&
           r->steps - 1 <= lab_span_ns(r->exec_first, r->exec_last) &&
           is_moment(r->start_ns) && is_moment(r->end_ns) &&
           is_moment(r->kernel_row_first) && is_moment(r->kernel_row_last) &&
           (r->kernels == LAB_UNKNOWN ||
            (r->kernels >= 0 && r->kernels / INT32_MAX <= r->steps)) &&
           (!before || before->exec_last < r->exec_first);
}

/* LAB_E_PARSE: the bytes are not `count` iterations. */
static enum lab_status unpack(struct lab_iterations *out, const void *bytes,
                              size_t size, int64_t count)
{
    const unsigned char *p = bytes;
    int64_t n[NUMBERS] = {0};
    if (size < 1 || *p != VERSION)
        return LAB_E_PARSE; /* of size 0 there are no bytes at all: NULL */
    const unsigned char *end = p++ + size;
    for (; count > 0; count--) {
        for (int k = 0; k < NUMBERS; k++) {
            uint64_t v;
            if (!lab_varint_get(&p, end, &v))
                return LAB_E_PARSE;
            n[k] = (int64_t)((uint64_t)n[k] + lab_unzigzag(v));
        }
        struct lab_iteration_row *r = grow(out);
        if (!r)
            return lab_no_memory("the iterations of a run");
        *r = (struct lab_iteration_row){n[0], n[1], n[2], n[3], n[4],
                                        n[5], n[6], n[7], n[8]};
        if (!is_sound(r, out->count > 1 ? r - 1 : NULL))
            return LAB_E_PARSE;
        out->steps = lab_add_known(out->steps, r->steps);
    }
    return p == end ? LAB_OK : LAB_E_PARSE;
}

/* ---- in the database ---- */

/* A list of iterations of few steps would save nothing. */
enum lab_status lab_iterations_store(const struct lab_iterations *it,
                                     struct lab_database *db, int64_t run,
                                     int64_t place)
{
    enum { FEW = 4 };
    if (it->steps < LAB_ITERATION_LEAST_STEPS ||
        it->steps / FEW < (int64_t)it->count)
        return LAB_OK;
    unsigned char *bytes =
        lab_alloc_array(PER_ROW + 1, NUMBERS * LAB_VARINT_MOST);
    if (!bytes)
        return lab_no_memory("the iterations of a run");
    struct lab_stmt s = lab_stmt_new(
        db, "INSERT INTO time_sum (runId, level, place, count, timed, times) "
            "VALUES (?1, ?2, ?3, ?4, 0, ?5)");
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int(s.sql, 2, LAB_ITERATION_LEVEL);
    for (size_t i = 0; i < it->count && !s.st; i += PER_ROW) {
        size_t left = it->count - i;
        size_t n = left < PER_ROW ? left : PER_ROW;
        sqlite3_bind_int64(s.sql, 3, place++);
        sqlite3_bind_int64(s.sql, 4, (int64_t)n);
        sqlite3_bind_blob64(s.sql, 5, bytes, pack(bytes, it->list + i, n),
                            SQLITE_STATIC);
        lab_stmt_run(&s, "storing the iterations of a run");
    }
    lab_free(bytes);
    return lab_stmt_end(&s);
}

static enum lab_status read_rows(struct lab_iterations *out,
                                 struct lab_database *db, int64_t run)
{
    struct lab_stmt s = lab_stmt_new(
        db, "SELECT count, times FROM time_sum WHERE runId = ?1 AND level = ?2 "
            "ORDER BY place");
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int(s.sql, 2, LAB_ITERATION_LEVEL);
    while (lab_stmt_next(&s)) {
        const void *bytes = sqlite3_column_blob(s.sql, 1);
        size_t size = (size_t)sqlite3_column_bytes(s.sql, 1);
        s.st = unpack(out, bytes, bytes ? size : 0,
                      sqlite3_column_int64(s.sql, 0));
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_iterations_load(struct lab_iterations *out,
                                    struct lab_database *db, int64_t run)
{
    int64_t steps = 0;
    *out = (struct lab_iterations){0};
    _Static_assert(LAB_SUM_STEP == 3, "the level in the query");
    enum lab_status st = read_rows(out, db, run);
    if (st == LAB_OK && out->count)
        st = lab_database_int_of(db,
                                 "SELECT sum(count) FROM time_sum WHERE runId "
                                 "= ?1 AND level = 3",
                                 run, 0, &steps);
    if (st || out->steps != steps) /* rows of the list were lost */
        lab_iterations_release(out);
    return st == LAB_E_PARSE ? LAB_OK : st;
}
