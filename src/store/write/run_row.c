#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "insert.h"

void lab_run_info_init(struct lab_run_info *info)
{
    *info = (struct lab_run_info){.kind = "lesson",
                                  .batch = LAB_UNKNOWN,
                                  .learning_rate = NAN,
                                  .lesson_learning_rate = NAN};
    int64_t *numbers[] = {
        &info->device.device_id,
        &info->device.compute_major,
        &info->device.compute_minor,
        &info->device.sm_count,
        &info->device.warp_size,
        &info->device.max_warps_per_sm,
        &info->device.max_blocks_per_sm,
        &info->device.max_registers_per_sm,
        &info->device.max_shared_per_sm_bytes,
        &info->device.max_shared_per_block_optin_bytes,
        &info->device.memory_bytes,
        &info->device.memory_bytes_per_s,
        &info->device.l2_bytes,
        &info->device.clock_hz,
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = LAB_UNKNOWN;
}

void lab_run_summary_init(struct lab_run_summary *summary)
{
    *summary = (struct lab_run_summary){
        .status = LAB_RUN_DONE,
        .iterations = LAB_UNKNOWN,
        .iteration_median_ns = LAB_UNKNOWN,
        .samples_per_s = NAN,
        .loss_first = NAN,
        .loss_last = NAN,
        .accuracy = NAN,
    };
}

static const char *time_source_text(enum lab_time_source source)
{
    static const char *const text[LAB_TIME_SOURCE_COUNT] = {
        NULL,
        "cpu_clock",
        "cupti",
        "cuda_events",
    };
    return (unsigned)source < LAB_TIME_SOURCE_COUNT ? text[source] : NULL;
}

/* The same as a sentence's end: "with tracing on"; "" unknown. */
static const char *trace_state_text(enum lab_trace_state state)
{
    static const char *const text[LAB_TRACE_STATE_COUNT] = {
        NULL, "never", "on", "off", "mixed", "kernels",
    };
    return (unsigned)state < LAB_TRACE_STATE_COUNT ? text[state] : NULL;
}

static const char run_sql[] =
    "INSERT INTO run (status, lesson, lessonPath, title, backend, device, "
    "chip, computeCapability, smCount, driver, runtime, precision, seed, "
    "batch, variants, version, commitId, hostname, user, pid, processStart, "
    "started, started_ns, timeSource, counters, countersReason, rank, uuid, "
    "kind, traceState, learningRate, lessonLearningRate) "
    "VALUES ('running', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
    "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, "
    "?27, ?28, ?29, ?30, ?31)";

static void bind_who(sqlite3_stmt *s, int i)
{
    char host[256];
    char buffer[1024];
    struct passwd entry;
    struct passwd *found = NULL;
    lab_host_name(host, sizeof(host));
    lab_bind_text(s, i, host);
    getpwuid_r(geteuid(), &entry, buffer, sizeof(buffer), &found);
    lab_bind_text(s, i + 1, found ? found->pw_name : NULL);
    sqlite3_bind_int64(s, i + 2, getpid());
    sqlite3_bind_int64(s, i + 3, lab_process_start(getpid()));
}

/* A random one, RFC 9562 version 4. */
static void add_uuid(char out[37])
{
    unsigned char b[16];
    size_t n = 0;
    sqlite3_randomness(sizeof(b), b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(out + n, 37 - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                              b[i]);
}

static void bind_run(sqlite3_stmt *s, const struct lab_run_info *info,
                     int64_t now)
{
    const struct lab_run_device *d = &info->device;
    char capability[48];
    char started[32];
    char uuid[37];
    const char *const texts[] = {info->lesson,  info->lesson_path, info->title,
                                 info->backend, d->name,           d->chip};
    int i = 1;
    for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
        lab_bind_text(s, i++, texts[t]);
    snprintf(capability, sizeof(capability), "%lld.%lld",
             (long long)d->compute_major, (long long)d->compute_minor);
    bool known =
        d->compute_major != LAB_UNKNOWN && d->compute_minor != LAB_UNKNOWN;
    lab_bind_text(s, i++, known ? capability : NULL);
    lab_bind_int(s, i++, d->sm_count);
    lab_bind_text(s, i++, d->driver);
    lab_bind_text(s, i++, d->runtime);
    lab_bind_text(s, i++, info->precision);
    sqlite3_bind_int64(s, i++, (int64_t)info->seed);
    lab_bind_int(s, i++, info->batch);
    lab_bind_text(s, i++, info->variants);
    lab_bind_text(s, i++, info->version);
    lab_bind_text(s, i++, info->commit);
    bind_who(s, i);
    i += 4;
    lab_utc_text(now, started);
    lab_bind_text(s, i++, started);
    sqlite3_bind_int64(s, i++, now);
    lab_bind_text(s, i++, time_source_text(info->time_source));
    lab_bind_text(s, i++, info->counters);
    lab_bind_text(s, i++, info->counters_reason);
    sqlite3_bind_int64(s, i++, info->rank == LAB_UNKNOWN ? 0 : info->rank);
    add_uuid(uuid);
    lab_bind_text(s, i++, uuid);
    lab_bind_text(s, i++, info->kind);
    lab_bind_text(s, i++, trace_state_text(info->trace_state));
    lab_bind_real(s, i++, info->learning_rate);
    lab_bind_real(s, i, info->lesson_learning_rate);
}

/* Runs `stmt` once and finalizes it. */
static enum lab_status run_statement(struct lab_database *db,
                                     sqlite3_stmt *stmt)
{
    enum lab_status st = LAB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        st = lab_database_error(db, "storing the run");
    sqlite3_finalize(stmt);
    return st;
}

static enum lab_status add_gpu(struct lab_database *db,
                               const struct lab_run_device *d, int64_t run)
{
    sqlite3_stmt *s;
    enum lab_status st = lab_database_prepare(
        db,
        "INSERT INTO TARGET_INFO_GPU (runId, vmId, id, name, chipName, uuid, "
        "isDiscrete, l2CacheSize, totalMemory, memoryBandwidth, clockRate, "
        "smCount, cuDevice, maxShmemPerBlockOptin, maxShmemPerSm, "
        "maxRegistersPerSm, threadsPerWarp, maxWarpsPerSm, maxBlocksPerSm, "
        "computeMajor, computeMinor, smMajor, smMinor) VALUES (?1, 0, ?2, ?3, "
        "?4, ?5, NULL, ?6, ?7, ?8, ?9, ?10, ?2, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17, ?18, ?17, ?18)",
        &s);
    if (st)
        return st;
    const int64_t numbers[] = {
        d->l2_bytes,
        d->memory_bytes,
        d->memory_bytes_per_s,
        d->clock_hz,
        d->sm_count,
        d->max_shared_per_block_optin_bytes,
        d->max_shared_per_sm_bytes,
        d->max_registers_per_sm,
        d->warp_size,
        d->max_warps_per_sm,
        d->max_blocks_per_sm,
        d->compute_major,
        d->compute_minor,
    };
    sqlite3_bind_int64(s, 1, run);
    lab_bind_int(s, 2, d->device_id);
    lab_bind_text(s, 3, d->name);
    lab_bind_text(s, 4, d->chip);
    lab_bind_text(s, 5, d->uuid);
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(numbers[0])); i++)
        lab_bind_int(s, 6 + i, numbers[i]);
    return run_statement(db, s);
}

/* What nsys writes of a capture's start. */
static enum lab_status add_session(struct lab_database *db, int64_t run,
                                   int64_t now)
{
    sqlite3_stmt *s;
    char utc[32];
    char local[32];
    time_t seconds = (time_t)(now / 1000000000);
    struct tm t;
    enum lab_status st = lab_database_prepare(
        db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?1,?2,?3,?4)",
        &s);
    if (st)
        return st;
    lab_utc_text(now, utc);
    localtime_r(&seconds, &t);
    strftime(local, sizeof(local), "%Y-%m-%dT%H:%M:%S%z", &t);
    sqlite3_bind_int64(s, 1, now);
    lab_bind_text(s, 2, utc);
    lab_bind_text(s, 3, local);
    sqlite3_bind_int64(s, 4, run);
    return run_statement(db, s);
}

static enum lab_status add_capture(struct lab_database *db, int64_t run,
                                   const char *name, const char *value)
{
    sqlite3_stmt *s;
    enum lab_status st = lab_database_prepare(
        db, "INSERT INTO META_DATA_CAPTURE VALUES (?1, ?2, ?3)", &s);
    if (st)
        return st;
    lab_bind_text(s, 1, name);
    lab_bind_text(s, 2, value);
    sqlite3_bind_int64(s, 3, run);
    return run_statement(db, s);
}

static enum lab_status add_run(struct lab_database *db,
                               const struct lab_run_info *info, int64_t *run)
{
    sqlite3_stmt *s;
    int64_t now = lab_clock_wall_ns();
    enum lab_status st = lab_database_prepare(db, run_sql, &s);
    if (st)
        return st;
    bind_run(s, info, now);
    st = run_statement(db, s);
    if (st)
        return st;
    *run = sqlite3_last_insert_rowid(db->sql);
    st = add_session(db, *run, now);
    if (st == LAB_OK)
        st = add_capture(db, *run, "CAPTURE_PRODUCT", "lapenna-lab");
    if (st == LAB_OK && info->device.gpu)
        st = add_gpu(db, &info->device, *run);
    return st;
}

enum lab_status lab_run_row_begin(struct lab_database *db,
                                  const struct lab_run_info *info, int64_t *run)
{
    int64_t id = 0;
    enum lab_status st = lab_database_begin(db, "adding a run");
    if (st)
        return st;
    st = add_run(db, info, &id);
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "adding a run");
    if (st)
        lab_database_rollback(db);
    else
        *run = id;
    return st;
}

enum lab_status lab_run_row_end(struct lab_database *db, int64_t run,
                                const struct lab_run_end *end)
{
    const struct lab_run_summary *u = end->summary;
    const struct lab_ring_stats *ring = &end->state->ring;
    sqlite3_stmt *s;
    char ended[32];
    int64_t now = lab_clock_wall_ns();
    enum lab_status st = lab_database_prepare(
        db,
        "UPDATE run SET status = ?2, ended = ?3, ended_ns = ?4, "
        "iterations = ?5, iterationMedian_ns = ?6, samples_per_s = ?7, "
        "loss_first = ?8, loss_last = ?9, accuracy = ?10, "
        "timeSource = ifnull(?11, timeSource), "
        "counters = ifnull(?12, counters), "
        "countersReason = ifnull(?13, countersReason), ringDrops = ?14, "
        "ringWaits = ?15, ringWait_ns = ?16, ringHighWater = ?17, "
        "writeErrors = ?18, writeError = ?19, kernelRowFirst = ?20, "
        "kernelRowLast = ?21, traceState = ifnull(?22, traceState), "
        "variants = nullif(ifnull(?23, variants), '') "
        "WHERE id = ?1",
        &s);
    if (st)
        return st;
    lab_utc_text(now, ended);
    sqlite3_bind_int64(s, 1, run);
    lab_bind_text(s, 2, lab_run_status_text(u->status));
    lab_bind_text(s, 3, ended);
    sqlite3_bind_int64(s, 4, now);
    lab_bind_int(s, 5, u->iterations);
    lab_bind_int(s, 6, u->iteration_median_ns);
    lab_bind_real(s, 7, u->samples_per_s);
    lab_bind_real(s, 8, u->loss_first);
    lab_bind_real(s, 9, u->loss_last);
    lab_bind_real(s, 10, u->accuracy);
    lab_bind_text(s, 11, time_source_text(u->time_source));
    lab_bind_text(s, 12, u->counters);
    lab_bind_text(s, 13, u->counters_reason);
    sqlite3_bind_int64(s, 14, (int64_t)ring->dropped);
    sqlite3_bind_int64(s, 15, (int64_t)ring->waits);
    sqlite3_bind_int64(s, 16, ring->wait_ns);
    sqlite3_bind_int64(s, 17, (int64_t)ring->high_water);
    sqlite3_bind_int64(s, 18, (int64_t)end->state->lost);
    lab_bind_text(s, 19, end->state->failed ? end->state->error : NULL);
    /* none: between 1 and 0, so that nobody looks through all rows for them */
    lab_bind_int(s, 20, end->first_kernel_row ? end->first_kernel_row : 1);
    lab_bind_int(s, 21, end->last_kernel_row);
    lab_bind_text(s, 22, trace_state_text(u->trace_state));
    lab_bind_text(s, 23, u->variants);
    return run_statement(db, s);
}
