/* Pushes records of small known runs and opens databases for the tests of the
 * store. */
#include "store_samples.h"

#include "test.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/intern.h"

enum { PATHS = 16, PATH_BYTES = 512 };
static char directory[256];
static char paths[PATHS][PATH_BYTES];
static int n_paths;
static struct lab_database *opened;

const char *sample_dir(void)
{
    if (!directory[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(directory, sizeof(directory), "%s/lab_store.XXXXXX",
                 tmp && *tmp ? tmp : "/tmp");
        assert_non_null(mkdtemp(directory));
    }
    return directory;
}

static void remove_tree(const char *path)
{
    char child[1024];
    struct dirent *entry;
    DIR *d;
    chmod(path, 0700);
    d = opendir(path);
    while (d && (entry = readdir(d))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (unlink(child))
            remove_tree(child);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

void sample_dir_remove(void)
{
    if (directory[0])
        remove_tree(directory);
    directory[0] = '\0';
    n_paths = 0;
}

int sample_cleanup(void **state)
{
    (void)state;
    lab_mem_fail_from(0);
    lab_database_close(opened);
    opened = NULL;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

uint64_t sample_random(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static char *path_of(const char *name)
{
    char wanted[PATH_BYTES];
    int i = 0;
    snprintf(wanted, sizeof(wanted), "%s/%s", sample_dir(), name);
    while (i < n_paths && strcmp(paths[i], wanted) != 0)
        i++;
    assert_true(i < PATHS);
    if (i == n_paths)
        memcpy(paths[n_paths++], wanted, sizeof(wanted));
    return paths[i];
}

const char *sample_path(const char *name)
{
    return path_of(name);
}

int sample_setup(void **state)
{
    *state = path_of("runs.db");
    return 0;
}

struct lab_record sample_step(int64_t exec, int64_t iteration, int32_t index,
                              enum lab_time_source source, int64_t time_ns)
{
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    char name[32];
    snprintf(name, sizeof(name), "fc%d.matmul", index);
    r.u.step = (struct lab_step_record){
        .exec = exec,
        .iteration = iteration,
        .index = index,
        .phase = index % 4,
        .name = lab_intern(name),
        .node = lab_intern("fc"),
        .op = lab_intern("dense"),
        .variant = lab_intern(index % 2 ? "tiled" : "naive"),
        .backend = lab_intern("cuda"),
        .time_source = source,
        .start_ns = 1000000 + exec * 10000,
        .end_ns = 1000000 + exec * 10000 + 9000,
        .time_ns = time_ns,
        .flop = 2000.0 * (index + 1),
        .bytes = 400.0,
    };
    return r;
}

struct lab_record sample_kernel(int64_t exec, int64_t start_ns, int64_t time_ns)
{
    struct lab_record r = {.kind = LAB_RECORD_KERNEL};
    r.u.kernel = (struct lab_kernel_record){
        .exec = exec,
        .start_ns = start_ns,
        .end_ns = start_ns + time_ns,
        .context_id = 1,
        .stream_id = 7,
        .correlation_id = (uint32_t)start_ns,
        .demangled_name = lab_intern("void matmul<float>(float*)"),
        .short_name = lab_intern("matmul"),
        .mangled_name = lab_intern("_Z6matmulPf"),
        .launch.registers_per_thread = 40,
        .launch.grid = {3, 2, 1},
        .launch.block = {128, 1, 1},
        .launch.static_shared_bytes = 1024,
        .launch.dynamic_shared_bytes = 64,
        .facts.shared_executed_bytes = LAB_UNKNOWN,
        .local_total_bytes = LAB_UNKNOWN,
        .grid_id = 9,
        .occupancy_pct = 62.5,
        .occupancy_limit = LAB_LIMIT_REGISTERS | LAB_LIMIT_SHARED,
        .active_blocks_per_sm = 5,
    };
    return r;
}

struct lab_record sample_loss(int64_t iteration, double loss, double accuracy)
{
    struct lab_record r = {.kind = LAB_RECORD_LOSS};
    r.u.loss = (struct lab_loss_record){
        .iteration = iteration,
        .loss = loss,
        .accuracy = accuracy,
        .moment_ns = 5000 + iteration,
    };
    return r;
}

void sample_iteration(const struct lab_sink *sink, int64_t iteration,
                      int32_t steps, int64_t *exec)
{
    struct lab_record r;
    for (int32_t i = 0; i < steps; i++, (*exec)++) {
        r = sample_step(*exec, iteration, i, LAB_TIME_CUPTI, LAB_UNKNOWN);
        sink->push(sink->user, &r);
        r = sample_kernel(*exec, *exec * 10000, 1000 + i);
        sink->push(sink->user, &r);
        r = sample_kernel(*exec, *exec * 10000 + 2000, 500);
        sink->push(sink->user, &r);
    }
    r = sample_loss(iteration, 1.0 / (double)(1 + iteration), (double)NAN);
    sink->push(sink->user, &r);
}

enum lab_status sample_run(const char *path, int64_t iterations, int32_t steps,
                           int64_t *run)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    int64_t exec = 1;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = "mlp-digits";
    info.row.backend = "cuda";
    info.row.seed = 7;
    info.device.name = "NVIDIA H200";
    enum lab_status st = lab_writer_new(&writer, path, &info, NULL);
    if (st)
        return st;
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < iterations; i++)
        sample_iteration(&sink, i, steps, &exec);
    summary.iterations = iterations;
    if (run)
        *run = lab_writer_run(writer);
    st = lab_writer_finish(writer, &summary);
    lab_writer_free(writer);
    return st;
}

void sample_record(const char *path, sample_push_fn *push, void *user)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    const struct lab_sink sink = lab_writer_sink(writer);
    push(&sink, user);
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
}

void sample_names(uint32_t *names, int count, int turn)
{
    char text[32];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%c_kernel", 'a' + i * turn % count);
        names[i] = lab_intern(text);
    }
}

struct lab_database *sample_open(const char *path)
{
    const struct lab_database_options reader = {.read_only = true};
    struct lab_database *db;
    assert_ok(lab_database_open(&db, path, &reader));
    return db;
}

struct lab_database *sample_database(const char *path)
{
    return opened = sample_open(path);
}

static sqlite3 *connect_to(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    return db;
}

int64_t sample_int(const char *path, const char *sql)
{
    sqlite3_stmt *stmt;
    int64_t v = INT64_MIN;
    sqlite3 *db = connect_to(path);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(stmt) == SQLITE_ROW &&
        sqlite3_column_type(stmt, 0) != SQLITE_NULL)
        v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return v;
}

int64_t sample_count(const char *path, const char *rows)
{
    char sql[2048];
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", rows);
    return sample_int(path, sql);
}

void sample_sql(const char *path, const char *sql)
{
    sqlite3 *db = connect_to(path);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

void sample_counters(const char *path, int64_t exec)
{
    char sql[900];
    sample_sql(
        path,
        "INSERT INTO StringIds (value) VALUES ('gpu__time_duration.sum'), "
        "('dram__bytes_read.sum'), ('dram__bytes_write.sum'), "
        "('smsp__sass_thread_inst_executed_op_ffma_pred_on.sum'), "
        "('sm__warps_active.avg.pct_of_peak_sustained_active')");
    snprintf(
        sql, sizeof(sql),
        "WITH m(name, value) AS (VALUES ('gpu__time_duration.sum', 1000), "
        "('dram__bytes_read.sum', 100), ('dram__bytes_write.sum', 100), "
        "('smsp__sass_thread_inst_executed_op_ffma_pred_on.sum', 750), "
        "('sm__warps_active.avg.pct_of_peak_sustained_active', 25)) "
        "INSERT INTO metric_value SELECT 1, %lld, k.column1, n.id, m.value, 2 "
        "FROM m JOIN StringIds AS n ON n.value = m.name, (VALUES (0), (1)) AS "
        "k",
        (long long)exec);
    sample_sql(path, sql);
}
