#include "store/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "base/clock.h"
#include "insert.h"
#include "store/time_sum.h"

enum {
    RING_RECORDS = 32768,
    BATCH = 512,
    COMMIT_ROWS = 10000,
    SUMS_MANY = 16384, /* sums of kernel times that wait for a flush */
};
static const int64_t RING_WAIT_NS = 2000000000;
static const int64_t IDLE_NS = 100000000;
static const int64_t OLD_NS = 500000000;
static const int64_t SLEEP_NS = 10000000000; /* nothing to do until a record */

struct lab_writer {
    struct lab_ring *ring;
    struct lab_database *db; /* the thread's, once it runs */
    int64_t run;
    pthread_t thread;
    bool joined;
    struct lab_run_summary summary; /* set before the ring is closed */

    pthread_mutex_t mark_lock; /* so that marks go in in their order */
    int64_t last_mark;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t acknowledged;
    int64_t mark_done;
    uint64_t stored;
    uint64_t lost;
    enum lab_status status;
    char error[LAB_WRITER_ERROR_TEXT];
};

/* The thread's own view of its work. */
struct work {
    struct lab_writer *writer;
    struct lab_insert in;
    bool open; /* a transaction */
    int64_t opened_ns;
    uint64_t rows; /* in it */
    int64_t mark;  /* the last one seen */
    size_t sums_limit;
    bool failed;
    struct lab_record batch[BATCH];
};

static void note_failure(struct work *w, enum lab_status st)
{
    struct lab_writer *writer = w->writer;
    lab_database_rollback(writer->db);
    w->failed = true;
    w->open = false;
    pthread_mutex_lock(&writer->lock);
    writer->lost += w->rows;
    if (!writer->status) {
        writer->status = st;
        snprintf(writer->error, sizeof(writer->error), "%s", lab_error());
    }
    pthread_mutex_unlock(&writer->lock);
    w->rows = 0;
}

static void acknowledge(struct work *w)
{
    pthread_mutex_lock(&w->writer->lock);
    w->writer->mark_done = w->mark;
    pthread_cond_broadcast(&w->writer->acknowledged);
    pthread_mutex_unlock(&w->writer->lock);
}

/* Sums whose step is not stored yet wait; they must not be tried again at
 * every commit. */
static enum lab_status add_sums(struct work *w)
{
    enum lab_status st = LAB_OK;
    if (!w->open)
        st = lab_insert_begin(&w->in);
    w->open = true; /* a failure rolls back */
    if (st == LAB_OK)
        st = lab_insert_drain(&w->in);
    if (st == LAB_OK)
        st = lab_insert_sums(&w->in);
    w->sums_limit = w->in.sums.used * 2;
    if (w->sums_limit < SUMS_MANY)
        w->sums_limit = SUMS_MANY;
    return st;
}

/* of the source tree; "" when unknown */
static void commit(struct work *w, bool flush)
{
    enum lab_status st = LAB_OK;
    size_t waiting = w->in.sums.used;
    if (w->failed)
        return;
    if (waiting && (flush || waiting >= w->sums_limit))
        st = add_sums(w);
    if (st == LAB_OK && w->open)
        st = lab_insert_commit(&w->in);
    if (st) {
        note_failure(w, st);
        return;
    }
    w->open = false;
    pthread_mutex_lock(&w->writer->lock);
    w->writer->stored += w->rows;
    pthread_mutex_unlock(&w->writer->lock);
    w->rows = 0;
}

static void store_record(struct work *w, const struct lab_record *record)
{
    enum lab_status st = LAB_OK;
    w->rows++;
    if (w->failed) {
        pthread_mutex_lock(&w->writer->lock);
        w->writer->lost += w->rows;
        pthread_mutex_unlock(&w->writer->lock);
        w->rows = 0;
        return;
    }
    if (!w->open) {
        st = lab_insert_begin(&w->in);
        w->open = st == LAB_OK;
        w->opened_ns = lab_clock_monotonic_ns();
    }
    if (st == LAB_OK)
        st = lab_insert_record(&w->in, record);
    if (st)
        note_failure(w, st);
}

static void store_batch(struct work *w, size_t n)
{
    bool iteration_ended = false;
    int64_t mark = w->mark;
    for (size_t i = 0; i < n; i++) {
        const struct lab_record *record = &w->batch[i];
        if (record->kind == LAB_RECORD_MARK) {
            mark = record->u.mark;
            continue;
        }
        iteration_ended |= record->kind == LAB_RECORD_LOSS;
        store_record(w, record);
    }
    bool marked = mark != w->mark;
    bool old = w->open && lab_clock_monotonic_ns() - w->opened_ns > OLD_NS;
    if (marked || iteration_ended || old || w->rows >= COMMIT_ROWS)
        commit(w, marked);
    if (marked) {
        w->mark = mark;
        acknowledge(w);
    }
}

static void end_run(struct work *w)
{
    struct lab_writer *writer = w->writer;
    struct lab_writer_state state;
    commit(w, true);
    lab_writer_get_state(writer, &state);
    const struct lab_run_end end = {
        .summary = &writer->summary,
        .state = &state,
        .first_kernel_row = w->in.first_kernel_row,
        .last_kernel_row = w->in.last_kernel_row,
    };
    enum lab_status st = lab_run_row_end(writer->db, writer->run, &end);
    if (st)
        note_failure(w, st);
    /* Not a record that could be lost: readers add up what is not kept. */
    if (!w->failed && lab_time_sums_keep(writer->db, writer->run))
        lab_database_rollback(writer->db);
}

static void *write_records(void *arg)
{
    struct work *w = arg;
    struct lab_ring *ring = w->writer->ring;
    while (!lab_ring_drained(ring)) {
        size_t n =
            lab_ring_pop(ring, w->batch, BATCH, w->open ? IDLE_NS : SLEEP_NS);
        if (n)
            store_batch(w, n);
        else
            commit(w, false);
    }
    end_run(w);
    lab_insert_release(&w->in);
    lab_free(w);
    return NULL;
}

static int push_record(void *user, const struct lab_record *record)
{
    struct lab_writer *writer = user;
    return lab_ring_push(writer->ring, record);
}

struct lab_sink lab_writer_sink(struct lab_writer *writer)
{
    return (struct lab_sink){.user = writer, .push = push_record};
}

int64_t lab_writer_run(const struct lab_writer *writer)
{
    return writer->run;
}

/* Takes everything but the thread; lab_writer_free() also after a failure. */
static enum lab_status prepare(struct lab_writer *writer, const char *path,
                               const struct lab_run_info *info,
                               const struct lab_writer_options *given)
{
    struct lab_writer_options o =
        given ? *given : (struct lab_writer_options){0};
    const struct lab_database_options db_options = {.busy_timeout_ms =
                                                        o.busy_timeout_ms};
    size_t records = o.ring_records ? o.ring_records : (size_t)RING_RECORDS;
    int64_t wait_ns = o.ring_wait_ns ? o.ring_wait_ns : RING_WAIT_NS;
    enum lab_status st = lab_ring_new(&writer->ring, records,
                                      sizeof(struct lab_record), wait_ns);
    if (st == LAB_OK)
        st = lab_database_open(&writer->db, path, &db_options);
    if (st == LAB_OK)
        st = lab_run_row_begin(writer->db, info, &writer->run);
    return st;
}

static enum lab_status start_thread(struct lab_writer *writer)
{
    struct work *w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_no_memory("the writer");
    w->writer = writer;
    w->sums_limit = SUMS_MANY;
    enum lab_status st = lab_insert_init(&w->in, writer->db, writer->run);
    if (st == LAB_OK && lab_thread_start(&writer->thread, write_records, w))
        st = lab_fail(LAB_E_NOMEM, "no thread for the writer");
    if (st) {
        lab_insert_release(&w->in);
        lab_free(w);
        return st;
    }
    writer->joined = false;
    return LAB_OK;
}

enum lab_status lab_writer_new(struct lab_writer **out, const char *path,
                               const struct lab_run_info *info,
                               const struct lab_writer_options *options)
{
    struct lab_writer *writer = lab_alloc(sizeof(*writer));
    if (!writer)
        return lab_no_memory("the writer");
    writer->joined = true;
    pthread_mutex_init(&writer->mark_lock, NULL);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->acknowledged, NULL);
    lab_run_summary_init(&writer->summary);
    writer->summary.status = LAB_RUN_INTERRUPTED;
    enum lab_status st = prepare(writer, path, info, options);
    if (st == LAB_OK)
        st = start_thread(writer);
    if (st) {
        lab_writer_free(writer);
        return st;
    }
    *out = writer;
    return LAB_OK;
}

static enum lab_status first_error(struct lab_writer *writer)
{
    char error[LAB_WRITER_ERROR_TEXT];
    pthread_mutex_lock(&writer->lock);
    enum lab_status st = writer->status;
    memcpy(error, writer->error, sizeof(error));
    pthread_mutex_unlock(&writer->lock);
    return st ? lab_fail(st, "%s", error) : LAB_OK;
}

enum lab_status lab_writer_flush(struct lab_writer *writer)
{
    struct lab_record mark = {.kind = LAB_RECORD_MARK};
    pthread_mutex_lock(&writer->mark_lock);
    mark.u.mark = ++writer->last_mark;
    bool pushed = lab_ring_push(writer->ring, &mark);
    pthread_mutex_unlock(&writer->mark_lock);
    if (!pushed) {
        enum lab_status st = first_error(writer);
        return st ? st
                  : lab_fail(LAB_E_STATE, "the writer takes no records: it "
                                          "has ended, or cannot keep up");
    }
    pthread_mutex_lock(&writer->lock);
    while (writer->mark_done < mark.u.mark)
        pthread_cond_wait(&writer->acknowledged, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
    return first_error(writer);
}

void lab_writer_get_state(struct lab_writer *writer,
                          struct lab_writer_state *out)
{
    *out = (struct lab_writer_state){.run = writer->run};
    lab_ring_get_stats(writer->ring, &out->ring);
    pthread_mutex_lock(&writer->lock);
    out->stored = writer->stored;
    out->lost = writer->lost;
    out->failed = writer->status != LAB_OK;
    memcpy(out->error, writer->error, sizeof(out->error));
    pthread_mutex_unlock(&writer->lock);
}

/* Ends the thread: it takes what is left, and then the run's end. */
static void join(struct lab_writer *writer)
{
    if (writer->joined)
        return;
    lab_ring_close(writer->ring);
    pthread_join(writer->thread, NULL);
    writer->joined = true;
}

enum lab_status lab_writer_finish(struct lab_writer *writer,
                                  const struct lab_run_summary *summary)
{
    if (writer->joined)
        return lab_fail(LAB_E_STATE, "the run has ended already");
    writer->summary = *summary;
    join(writer);
    lab_database_close(writer->db);
    writer->db = NULL;
    return first_error(writer);
}

void lab_writer_free(struct lab_writer *writer)
{
    if (!writer)
        return;
    join(writer);
    lab_database_close(writer->db);
    lab_ring_free(writer->ring);
    pthread_cond_destroy(&writer->acknowledged);
    pthread_mutex_destroy(&writer->lock);
    pthread_mutex_destroy(&writer->mark_lock);
    lab_free(writer);
}
