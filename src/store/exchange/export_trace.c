/* export_trace.c -- a run as a JSON trace for Perfetto and chrome://tracing.
 *
 * `profile export --format trace` calls it. Phases, nodes and steps are the
 * lanes of one process, kernels and copies those of their device and stream,
 * with arrows from a call to its kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export_priv.h"
#include "timeline/trace_lanes.h"

/* Processes and lanes of the trace. Streams and threads follow their base. */
enum {
    PID_RUN = 1,
    PID_GPU = 1000, /* and the device's number */
    LANE_ITERATION = 1,
    LANE_PHASE,
    LANE_NODE,
    LANE_STEP,
    LANE_CALLS = 100,
    LANE_COPIES = 1 << 25,
    LANE_RANGES = 1 << 26,
    LANE_ROW = 1 << 27 /* between the rows of a lane */
};

/* A step that is not on the first row of its lane. */
struct moved {
    int64_t exec;
    int row;
};

/* A stretch of steps that share what a lane shows. */
struct stretch {
    bool open;
    int lane;
    char name[128];
    int64_t key[3];
    int64_t start;
    int64_t end;
};

struct trace {
    FILE *to;
    struct lab_database *db;
    int64_t run;
    int64_t base; /* the moment that is 0 */
    struct lab_str text;
    bool comma;
    struct stretch stretch[3];
    struct lab_lanes lanes;
    int row;             /* of the last slice, on its lane */
    struct moved *moved; /* by exec, when the steps are through */
    size_t n_moved;
    size_t room;
    struct lab_bench_names bench_names; /* of a lab */
    struct lab_export_windows windows;
    enum lab_status st;
};

static void begin_event(struct trace *t)
{
    lab_str_add(&t->text, t->comma ? ",\n" : "\n");
    t->comma = true;
}

/* Microseconds, with the nanoseconds behind the point. */
static void add_us(struct lab_str *s, const char *key, int64_t ns)
{
    uint64_t v = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    lab_str_addf(s, ",\"%s\":%s%llu.%03llu", key, ns < 0 ? "-" : "",
                 (unsigned long long)(v / 1000),
                 (unsigned long long)(v % 1000));
}

/* Numbers of devices, streams and threads may be anything in a file. */
static int64_t pid_of(int64_t device)
{
    return PID_GPU + (device < 0 || device > 9999 ? 0 : device);
}

static int64_t lane_of(int64_t base, int64_t number)
{
    return base + (number < 0 ? 0 : number & 0xFFFFFF);
}

/* The start of a complete event; its args and its end are the caller's. */
static bool add_complete(struct trace *t, const char *name,
                         const char *category, int64_t pid, int64_t tid,
                         int64_t start, int64_t end)
{
    int64_t ts = lab_span_ns(t->base, start);
    int64_t dur = lab_span_ns(start, end);
    if (ts == LAB_UNKNOWN || dur == LAB_UNKNOWN || dur < 0)
        return false; /* without a time there is no place for it */
    enum lab_status st =
        lab_lanes_place(&t->lanes, pid, tid, start, end, &t->row);
    t->st = t->st ? t->st : st;
    if (st)
        return false;
    begin_event(t);
    lab_str_add(&t->text, "{\"ph\":\"X\",\"name\":");
    lab_export_text(&t->text, name ? name : "(no name)", LAB_ESCAPE_JSON);
    lab_str_addf(&t->text, ",\"cat\":\"%s\",\"pid\":%lld,\"tid\":%lld",
                 category, (long long)pid,
                 (long long)(tid + (int64_t)t->row * LANE_ROW));
    add_us(&t->text, "ts", ts);
    add_us(&t->text, "dur", dur);
    return true;
}

static void add_flow(struct trace *t, bool start, int64_t id, int64_t pid,
                     int64_t tid, int64_t moment)
{
    begin_event(t);
    lab_str_addf(&t->text,
                 "{\"ph\":\"%s\",\"name\":\"launch\",\"cat\":\"launch\","
                 "\"id\":%lld,\"pid\":%lld,\"tid\":%lld%s",
                 start ? "s" : "f", (long long)id, (long long)pid,
                 (long long)tid, start ? "" : ",\"bp\":\"e\"");
    add_us(&t->text, "ts", lab_span_ns(t->base, moment));
    lab_str_add_char(&t->text, '}');
}

static void add_process(struct trace *t, int64_t pid, const char *name)
{
    begin_event(t);
    lab_str_addf(&t->text,
                 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,"
                 "\"args\":{\"name\":",
                 (long long)pid);
    lab_export_text(&t->text, name, LAB_ESCAPE_JSON);
    lab_str_add(&t->text, "}}");
}

/* The name of a lane, and of each row below its first. */
static void add_lane(struct trace *t, int64_t pid, int64_t tid,
                     const char *name)
{
    int rows = lab_lanes_rows(&t->lanes, pid, tid);
    for (int i = 0; i == 0 || i < rows; i++) {
        char row[96];
        snprintf(row, sizeof(row), i ? "%s (row %d)" : "%s", name, i + 1);
        begin_event(t);
        lab_str_addf(&t->text,
                     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%lld,"
                     "\"tid\":%lld,\"args\":{\"name\":",
                     (long long)pid, (long long)(tid + (int64_t)i * LANE_ROW));
        lab_export_text(&t->text, row, LAB_ESCAPE_JSON);
        lab_str_add(&t->text, "}}");
    }
}

/* ---- lanes of the run ---- */

static void close_stretch(struct trace *t, struct stretch *s)
{
    if (s->open && add_complete(t, s->name, "user_annotation", PID_RUN, s->lane,
                                s->start, s->end))
        lab_str_add_char(&t->text, '}');
    s->open = false;
}

static void extend(struct trace *t, struct stretch *s, const char *name,
                   const int64_t key[3], int64_t start, int64_t end)
{
    bool same = s->open && s->key[0] == key[0] && s->key[1] == key[1] &&
                s->key[2] == key[2];
    if (!same) {
        close_stretch(t, s);
        s->open = true;
        s->start = start;
        for (int i = 0; i < 3; i++)
            s->key[i] = key[i];
        snprintf(s->name, sizeof(s->name), "%s", name ? name : "(no name)");
    }
    s->end = same && s->end > end ? s->end : end;
}

static void put_stretches(struct trace *t, const char *phase, const char *node,
                          const int64_t key[3], int64_t start, int64_t end)
{
    const int64_t by_iteration[3] = {key[0], 0, 0};
    const int64_t by_phase[3] = {key[0], key[1], 0};
    char iteration[48];
    snprintf(iteration, sizeof(iteration), "ProfilerStep#%lld",
             (long long)key[0]);
    extend(t, &t->stretch[0], iteration, by_iteration, start, end);
    extend(t, &t->stretch[1], phase, by_phase, start, end);
    extend(t, &t->stretch[2], node, key, start, end);
}

static void add_real(struct lab_str *s, const char *key, double v)
{
    if (isfinite(v))
        lab_str_addf(s, ",\"%s\":%.17g", key, v);
}

static void add_int(struct lab_str *s, const char *key, int64_t v)
{
    if (v != LAB_UNKNOWN)
        lab_str_addf(s, ",\"%s\":%lld", key, (long long)v);
}

static void note_moved(struct trace *t, int64_t exec)
{
    t->st =
        lab_grow(&t->moved, t->n_moved, &t->room, sizeof(*t->moved), "a trace");
    if (t->st)
        return;
    t->moved[t->n_moved++] = (struct moved){exec, t->row};
}

static int by_exec(const void *a, const void *b)
{
    int64_t x = ((const struct moved *)a)->exec;
    int64_t y = ((const struct moved *)b)->exec;
    return (x > y) - (x < y);
}

static int row_of_step(const struct trace *t, int64_t exec)
{
    const struct moved key = {.exec = exec};
    const struct moved *m =
        t->n_moved ? bsearch(&key, t->moved, t->n_moved, sizeof(key), by_exec)
                   : NULL;
    return m ? m->row : 0;
}

/* What a step or a kernel of a lab is of. */
static void add_variant(struct lab_str *s,
                        const struct lab_bench_name *bench_name)
{
    if (!bench_name)
        return;
    lab_str_add(s, ",\"rung\":");
    lab_export_text(s, bench_name->variant, LAB_ESCAPE_JSON);
    lab_str_add(s, ",\"precision\":");
    lab_export_text(s, bench_name->precision, LAB_ESCAPE_JSON);
    lab_str_add(s, ",\"size\":");
    lab_export_text(s, bench_name->size, LAB_ESCAPE_JSON);
}

static enum lab_status put_step(struct trace *t, struct lab_stmt *c)
{
    int64_t exec = lab_column_int(c);
    int64_t key[3];
    key[0] = lab_column_int(c);
    key[1] = lab_column_int(c);
    key[2] = lab_column_int(c);
    int64_t start = lab_column_int(c);
    int64_t end = lab_column_int(c);
    int64_t time_ns = lab_column_int(c);
    double flop = lab_column_real(c);
    double bytes = lab_column_real(c);
    const char *name = lab_column_text(c);
    const char *phase = lab_column_text(c);
    const char *node = lab_column_text(c);
    const char *variant = lab_column_text(c);
    const struct lab_bench_name *bench_name =
        lab_bench_name_find(&t->bench_names, lab_column_int(c));
    if (start == LAB_UNKNOWN || end == LAB_UNKNOWN)
        return LAB_OK;
    name = lab_bench_name_text(bench_name, name);
    put_stretches(t, phase, lab_bench_name_text(bench_name, node), key, start,
                  end);
    if (!add_complete(t, name, "cpu_op", PID_RUN, LANE_STEP, start, end))
        return LAB_OK;
    if (t->row > 0)
        note_moved(t, exec);
    lab_str_addf(&t->text,
                 ",\"args\":{\"exec\":%lld,\"phase\":", (long long)exec);
    lab_export_text(&t->text, phase, LAB_ESCAPE_JSON);
    lab_str_add(&t->text, ",\"variant\":");
    lab_export_text(&t->text, variant, LAB_ESCAPE_JSON);
    add_int(&t->text, "time_ns", time_ns);
    add_real(&t->text, "flop", flop);
    add_real(&t->text, "bytes", bytes);
    add_variant(&t->text, bench_name);
    lab_str_add(&t->text, "}}");
    return lab_export_put(t->to, &t->text);
}

/* ---- what ran on a device, and calls ---- */

/* By the names of a PyTorch trace: its readers join by them. */
static void add_place(struct trace *t, int64_t device, int64_t stream,
                      int64_t correlation)
{
    lab_str_addf(&t->text, ",\"args\":{\"device\":%lld,\"stream\":%lld",
                 (long long)(pid_of(device) - PID_GPU),
                 (long long)lane_of(0, stream));
    add_int(&t->text, "correlation", correlation);
}

/* Whether a stretch touches one of them. */
static bool windows_hold(const struct lab_export_windows *w, int64_t start,
                         int64_t end)
{
    size_t lo = 0;
    size_t hi = w->count;
    while (lo < hi) { /* the first window that ends at the start or later */
        size_t mid = lo + (hi - lo) / 2;
        if (w->items[mid].to_ns < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return w->count == 0 || (lo < w->count && w->items[lo].from_ns <= end);
}

static enum lab_status put_kernel(struct trace *t, struct lab_stmt *c)
{
    int64_t row = lab_column_int(c);
    int64_t exec = lab_column_int(c);
    int64_t step_start = lab_column_int(c);
    int64_t start = lab_column_int(c);
    int64_t end = lab_column_int(c);
    int64_t device = lab_column_int(c);
    int64_t stream = lab_column_int(c);
    int64_t facts[9];
    const char *name = lab_column_text(c);
    int64_t pid = pid_of(device);
    int64_t tid = lane_of(0, stream);
    static const char *const names[9] = {"grid_x",
                                         "grid_y",
                                         "grid_z",
                                         "block_x",
                                         "block_y",
                                         "block_z",
                                         "registers_per_thread",
                                         "correlation",
                                         "graph_node"};
    for (int i = 0; i < 9; i++)
        facts[i] = lab_column_int(c);
    const struct lab_bench_name *bench_name =
        lab_bench_name_find(&t->bench_names, lab_column_int(c));
    if ((exec == LAB_EXEC_BETWEEN && !windows_hold(&t->windows, start, end)) ||
        !add_complete(t, name, "kernel", pid, tid, start, end))
        return LAB_OK;
    add_place(t, device, stream, facts[7]);
    add_int(&t->text, "row", row);
    for (int i = 0; i < 9; i++)
        if (i != 7)
            add_int(&t->text, names[i], facts[i]);
    add_variant(&t->text, bench_name);
    lab_str_add(&t->text, "}}");
    if (lab_span_ns(t->base, step_start) != LAB_UNKNOWN) {
        add_flow(t, true, row, PID_RUN,
                 LANE_STEP + (int64_t)row_of_step(t, exec) * LANE_ROW,
                 step_start);
        add_flow(t, false, row, pid, tid + (int64_t)t->row * LANE_ROW, start);
    }
    return lab_export_put(t->to, &t->text);
}

static enum lab_status put_copy(struct trace *t, struct lab_stmt *c)
{
    const char *name = lab_column_text(c);
    int64_t start = lab_column_int(c);
    int64_t end = lab_column_int(c);
    int64_t device = lab_column_int(c);
    int64_t stream = lab_column_int(c);
    int64_t bytes = lab_column_int(c);
    int64_t correlation = lab_column_int(c);
    bool set = lab_column_int(c) == 1;
    if (!windows_hold(&t->windows, start, end) ||
        !add_complete(t, name, set ? "gpu_memset" : "gpu_memcpy",
                      pid_of(device), lane_of(LANE_COPIES, stream), start, end))
        return LAB_OK;
    add_place(t, device, stream, correlation);
    add_int(&t->text, "bytes", bytes);
    if (bytes != LAB_UNKNOWN && end > start)
        add_real(&t->text, "memory bandwidth (GB/s)",
                 (double)bytes / (double)(end - start));
    lab_str_add(&t->text, "}}");
    return lab_export_put(t->to, &t->text);
}

/* "cudaLaunchKernel_v7000" without its version, as PyTorch has it: readers look
 * for launches by their whole name. */
static const char *call_name(const char *name, char *out, size_t cap)
{
    size_t n = name ? strlen(name) : 0;
    size_t digits = 0;
    while (digits < n && strchr("0123456789", name[n - 1 - digits]))
        digits++;
    size_t bare = n - digits;
    if (digits == 0 || bare < 3 || bare - 2 >= cap ||
        strncmp(name + bare - 2, "_v", 2) != 0 || strncmp(name, "cuda", 4) != 0)
        return name;
    snprintf(out, cap, "%.*s", (int)(bare - 2), name);
    return out;
}

static enum lab_status put_call(struct trace *t, struct lab_stmt *c)
{
    char bare[128];
    const char *name = call_name(lab_column_text(c), bare, sizeof(bare));
    int64_t start = lab_column_int(c);
    int64_t end = lab_column_int(c);
    int64_t thread = lab_column_int(c);
    int64_t correlation = lab_column_int(c);
    if (!windows_hold(&t->windows, start, end) ||
        !add_complete(t, name, "cuda_runtime", PID_RUN,
                      lane_of(LANE_CALLS, thread), start, end))
        return LAB_OK;
    if (correlation != LAB_UNKNOWN)
        lab_str_addf(&t->text, ",\"args\":{\"correlation\":%lld}",
                     (long long)correlation);
    lab_str_add_char(&t->text, '}');
    return lab_export_put(t->to, &t->text);
}

static enum lab_status put_range(struct trace *t, struct lab_stmt *c)
{
    const char *name = lab_column_text(c);
    int64_t start = lab_column_int(c);
    int64_t end = lab_column_int(c);
    int64_t thread = lab_column_int(c);
    if (!windows_hold(&t->windows, start, end) ||
        !add_complete(t, name, "range", PID_RUN, lane_of(LANE_RANGES, thread),
                      start, end))
        return LAB_OK;
    lab_str_add_char(&t->text, '}');
    return lab_export_put(t->to, &t->text);
}

static enum lab_status put_lane(struct trace *t, struct lab_stmt *c)
{
    char name[64];
    int64_t kind = lab_column_int(c); /* kernels, copies, calls, ranges */
    int64_t device = lab_column_int(c);
    int64_t lane = lab_column_int(c);
    int64_t pid = pid_of(device);
    lane = lane_of(0, lane);
    if (kind >= 2) {
        snprintf(name, sizeof(name), "%s of thread %lld",
                 kind == 2 ? "CUDA calls" : "ranges", (long long)lane);
        add_lane(t, PID_RUN, (kind == 2 ? LANE_CALLS : LANE_RANGES) + lane,
                 name);
        return lab_export_put(t->to, &t->text);
    }
    snprintf(name, sizeof(name), "GPU %lld", (long long)(pid - PID_GPU));
    add_process(t, pid, name);
    snprintf(name, sizeof(name), "stream %lld%s", (long long)lane,
             kind ? ", copies" : "");
    add_lane(t, pid, kind ? LANE_COPIES + lane : lane, name);
    return lab_export_put(t->to, &t->text);
}

/* ---- all ---- */

static void end_steps(struct trace *t)
{
    static const char *const lanes[] = {"iterations", "phases", "nodes",
                                        "steps"};
    for (int k = 0; k < 3; k++)
        close_stretch(t, &t->stretch[k]);
    for (int k = 0; k < 4; k++)
        add_lane(t, PID_RUN, LANE_ITERATION + k, lanes[k]);
    if (t->n_moved)
        qsort(t->moved, t->n_moved, sizeof(*t->moved), by_exec);
}

/* The statements of trace.sql, one for each kind of row. */
static enum lab_status put_rows(struct trace *t)
{
    static enum lab_status (*const put[])(struct trace *, struct lab_stmt *) = {
        put_step, put_kernel, put_copy, put_call, put_range, put_lane};
    const char *sql = lab_sql_trace;
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < sizeof(put) / sizeof(put[0]) && st == LAB_OK; i++) {
        struct lab_stmt s = lab_stmt_of(t->db, &sql, "exporting a run");
        sqlite3_bind_int64(s.sql, 1, t->run);
        while (lab_stmt_next(&s)) {
            s.st = put[i](t, &s);
            s.st = s.st ? s.st : t->st;
        }
        st = lab_stmt_end(&s);
        if (i == 0)
            end_steps(t);
    }
    return st;
}

static bool put_head(void *user, const struct lab_run_row *r)
{
    struct trace *t = user;
    struct lab_str *s = &t->text;
    const struct {
        const char *key;
        const char *value;
    } facts[] = {{"lesson", r->lesson},       {"title", r->title},
                 {"backend", r->backend},     {"device", r->device},
                 {"precision", r->precision}, {"variants", r->variants},
                 {"started", r->started},     {"machine", r->hostname},
                 {"user", r->user},           {"version", r->version},
                 {"commit", r->commit},       {"uuid", r->uuid}};
    lab_str_add(s, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    lab_str_addf(s, "\"run\":%lld", (long long)r->id);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!facts[i].value)
            continue;
        lab_str_addf(s, ",\"%s\":", facts[i].key);
        lab_export_text(s, facts[i].value, LAB_ESCAPE_JSON);
    }
    lab_str_add(s, "},\"traceEvents\":[");
    return true;
}

enum lab_status lab_export_trace(FILE *to, struct lab_database *db, int64_t run,
                                 bool all)
{
    struct trace t = {.to = to, .db = db, .run = run};
    for (int i = 0; i < 3; i++)
        t.stretch[i].lane = LANE_ITERATION + i;
    lab_str_init(&t.text);
    enum lab_status st = lab_bench_names_load(&t.bench_names, db, run);
    if (st == LAB_OK && !all)
        st = lab_export_windows_load(&t.windows, db, run,
                                     t.bench_names.count > 0);
    if (st == LAB_OK)
        st = lab_export_base(db, run, &t.base);
    if (st == LAB_OK)
        st = lab_query_run(db, run, put_head, &t);
    if (st == LAB_OK) {
        add_process(&t, PID_RUN, "lapenna-lab");
        st = put_rows(&t);
    }
    lab_str_add(&t.text, "\n]}\n");
    if (st == LAB_OK)
        st = lab_export_put(to, &t.text);
    lab_lanes_release(&t.lanes);
    lab_bench_names_release(&t.bench_names);
    lab_export_windows_release(&t.windows);
    lab_free(t.moved);
    lab_str_release(&t.text);
    return st ? st : t.st;
}
