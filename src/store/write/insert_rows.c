/* Which member of a record becomes which column of which table. */
#include "insert_rows.h"

#include <math.h>
#include <stdio.h>

#include "trace/intern.h"

static enum lab_status bind_name(struct lab_insert *in, sqlite3_stmt *s, int i,
                                 uint32_t name)
{
    int64_t id = 0;
    enum lab_status st = LAB_OK;
    if (name == 0) {
        sqlite3_bind_null(s, i);
        return LAB_OK;
    }
    st = lab_insert_string(in, name, &id);
    if (st == LAB_OK)
        sqlite3_bind_int64(s, i, id);
    return st;
}

/* "iteration 7" in the row itself: StringIds has what comes again. */
static void bind_range_text(sqlite3_stmt *s, int i,
                            const struct lab_range_record *r)
{
    enum { ITERATION = 1 };
    char text[64];
    if (r->level != ITERATION || r->number == LAB_UNKNOWN) {
        sqlite3_bind_null(s, i);
        return;
    }
    int n = snprintf(text, sizeof(text), "%s %lld", lab_intern_text(r->text),
                     (long long)r->number);
    sqlite3_bind_text(s, i, text, n, SQLITE_TRANSIENT);
}

/* CUPTI's way to say that there is no time is a start and an end of 0. */
static bool is_timed(const struct lab_bulk_row *row)
{
    const struct lab_record *r = &row->record;
    switch (r->kind) {
    case LAB_RECORD_KERNEL:
        return r->u.kernel.start_ns != 0 || r->u.kernel.end_ns != 0;
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return r->u.memcpy_.start_ns != 0 || r->u.memcpy_.end_ns != 0;
    default:
        return r->u.api.start_ns != 0 || r->u.api.end_ns != 0;
    }
}

enum lab_status lab_row_bind(struct lab_insert *in,
                             const struct lab_row_kind *kind, sqlite3_stmt *s,
                             int first, const struct lab_bulk_row *row)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < kind->count && st == LAB_OK; i++) {
        const struct lab_row_column *c = &kind->columns[i];
        const void *at = (const char *)&row->record + c->at;
        int n = first + i;
        switch (c->kind) {
        case LAB_ROW_INT32:
            lab_bind_int32(s, n, *(const int32_t *)at);
            break;
        case LAB_ROW_UINT32:
            sqlite3_bind_int64(s, n, *(const uint32_t *)at);
            break;
        case LAB_ROW_INT:
            lab_bind_int(s, n, *(const int64_t *)at);
            break;
        case LAB_ROW_NONZERO:
            lab_bind_int(s, n,
                         *(const int64_t *)at ? *(const int64_t *)at
                                              : LAB_UNKNOWN);
            break;
        case LAB_ROW_MOMENT:
            lab_bind_int(s, n,
                         is_timed(row) ? *(const int64_t *)at : LAB_UNKNOWN);
            break;
        case LAB_ROW_REAL:
            lab_bind_real(s, n, *(const double *)at);
            break;
        case LAB_ROW_NAME:
            st = bind_name(in, s, n, *(const uint32_t *)at);
            break;
        case LAB_ROW_NUMBER:
            lab_bind_int(s, n, row->row);
            break;
        case LAB_ROW_MADE:
            lab_bind_int(s, n, c->value(row));
            break;
        case LAB_ROW_RANGE_TEXT:
            bind_range_text(s, n, &row->record.u.range);
        }
    }
    return st;
}

/* ---- values that are made of more than one member ---- */

/* CUPTI's launch types begin with regular = 0, nsys's with unknown = 0. */
static int64_t launch_type(const struct lab_bulk_row *row)
{
    int32_t cupti = row->record.u.kernel.launch_type;
    return cupti == INT32_MIN ? LAB_UNKNOWN : (int64_t)cupti + 1;
}

/* CUPTI: 0 unknown, 1 pageable, 2 pinned ... ; nsys: 0 pageable, 1 pinned ...
 * 7 unknown. */
static int64_t nsys_memory_kind(int32_t cupti)
{
    if (cupti == INT32_MIN)
        return LAB_UNKNOWN;
    return cupti == 0 ? 7 : (int64_t)cupti - 1;
}

static int64_t source_kind(const struct lab_bulk_row *row)
{
    return nsys_memory_kind(row->record.u.memcpy_.src_kind);
}

static int64_t target_kind(const struct lab_bulk_row *row)
{
    return nsys_memory_kind(row->record.u.memcpy_.dst_kind);
}

/* CUPTI's time of a step is added up from its kernels. */
static int64_t step_time(const struct lab_bulk_row *row)
{
    const struct lab_step_record *r = &row->record.u.step;
    return r->time_source == LAB_TIME_CUPTI ? LAB_UNKNOWN : r->time_ns;
}

static int64_t occupancy_limit(const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    return isnan(k->occupancy_pct) ? LAB_UNKNOWN
                                   : lab_from_int32(k->occupancy_limit);
}

static int64_t active_blocks(const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    return isnan(k->occupancy_pct) ? LAB_UNKNOWN
                                   : lab_from_int32(k->active_blocks_per_sm);
}

static int64_t memcpy_row(const struct lab_bulk_row *row)
{
    return row->record.kind == LAB_RECORD_MEMSET ? LAB_UNKNOWN : row->row;
}

static int64_t memset_row(const struct lab_bulk_row *row)
{
    return row->record.kind == LAB_RECORD_MEMSET ? row->row : LAB_UNKNOWN;
}

static int64_t range_type(const struct lab_bulk_row *row)
{
    enum { PUSH_POP = 59, DOMAIN_CREATE = 75 };
    bool domain = row->record.u.range.level == LAB_RANGE_DOMAIN;
    return domain ? DOMAIN_CREATE : PUSH_POP;
}

static int64_t range_level(const struct lab_bulk_row *row)
{
    int64_t level = row->record.u.range.level;
    return level == LAB_RANGE_DOMAIN ? LAB_UNKNOWN : level;
}

/* ---- the tables ---- */

#define COLUMN(name_, kind_, member)                                           \
    {                                                                          \
        .name = name_, .kind = LAB_ROW_##kind_,                                \
        .at = offsetof(struct lab_record, u.member)                            \
    }
#define MADE(name_, value_)                                                    \
    {                                                                          \
        .name = name_, .kind = LAB_ROW_MADE, .value = value_                   \
    }

static const struct lab_row_column step[] = {
    COLUMN("exec", INT, step.exec),
    COLUMN("iteration", INT, step.iteration),
    COLUMN("stepIndex", INT32, step.index),
    COLUMN("phase", INT32, step.phase),
    COLUMN("nameId", NAME, step.name),
    COLUMN("nodeId", NAME, step.node),
    COLUMN("opId", NAME, step.op),
    COLUMN("variantId", NAME, step.variant),
    COLUMN("backendId", NAME, step.backend),
    COLUMN("start_ns", INT, step.start_ns),
    COLUMN("end_ns", INT, step.end_ns),
    MADE("time_ns", step_time),
    COLUMN("timeSource", INT32, step.time_source),
    COLUMN("flop", REAL, step.flop),
    COLUMN("bytes", REAL, step.bytes),
};

static const struct lab_row_column kernel[] = {
    COLUMN("start", MOMENT, kernel.start_ns),
    COLUMN("end", MOMENT, kernel.end_ns),
    COLUMN("deviceId", INT32, kernel.device_id),
    COLUMN("contextId", INT32, kernel.context_id),
    COLUMN("streamId", INT32, kernel.stream_id),
    COLUMN("correlationId", UINT32, kernel.correlation_id),
    COLUMN("demangledName", NAME, kernel.demangled_name),
    COLUMN("shortName", NAME, kernel.short_name),
    COLUMN("mangledName", NAME, kernel.mangled_name),
    MADE("launchType", launch_type),
    COLUMN("cacheConfig", INT32, kernel.cache_config),
    COLUMN("registersPerThread", INT32, kernel.registers_per_thread),
    COLUMN("gridX", INT32, kernel.grid[0]),
    COLUMN("gridY", INT32, kernel.grid[1]),
    COLUMN("gridZ", INT32, kernel.grid[2]),
    COLUMN("blockX", INT32, kernel.block[0]),
    COLUMN("blockY", INT32, kernel.block[1]),
    COLUMN("blockZ", INT32, kernel.block[2]),
    COLUMN("staticSharedMemory", INT32, kernel.static_shared_bytes),
    COLUMN("dynamicSharedMemory", INT32, kernel.dynamic_shared_bytes),
    COLUMN("localMemoryPerThread", INT32, kernel.local_per_thread_bytes),
    COLUMN("localMemoryTotal", INT, kernel.local_total_bytes),
    COLUMN("gridId", INT, kernel.grid_id),
    COLUMN("sharedMemoryExecuted", INT32, kernel.shared_executed_bytes),
    COLUMN("graphNodeId", NONZERO, kernel.graph_node_id),
    COLUMN("sharedMemoryLimitConfig", INT32, kernel.shared_limit_config),
    COLUMN("graphId", NONZERO, kernel.graph_id),
    COLUMN("clusterX", INT32, kernel.cluster[0]),
    COLUMN("clusterY", INT32, kernel.cluster[1]),
    COLUMN("clusterZ", INT32, kernel.cluster[2]),
    {.name = "kernelRow", .kind = LAB_ROW_NUMBER},
};

static const struct lab_row_column op_kernel[] = {
    {.name = "kernelRow", .kind = LAB_ROW_NUMBER},
    COLUMN("stepExec", INT, kernel.exec),
    COLUMN("occupancy_pct", REAL, kernel.occupancy_pct),
    MADE("occupancyLimit", occupancy_limit),
    MADE("activeBlocksPerSm", active_blocks),
};

static const struct lab_row_column copy[] = {
    COLUMN("start", MOMENT, memcpy_.start_ns),
    COLUMN("end", MOMENT, memcpy_.end_ns),
    COLUMN("deviceId", INT32, memcpy_.device_id),
    COLUMN("contextId", INT32, memcpy_.context_id),
    COLUMN("streamId", INT32, memcpy_.stream_id),
    COLUMN("correlationId", UINT32, memcpy_.correlation_id),
    COLUMN("bytes", INT, memcpy_.bytes),
    COLUMN("copyKind", INT32, memcpy_.copy_kind),
    MADE("srcKind", source_kind),
    MADE("dstKind", target_kind),
    COLUMN("graphNodeId", NONZERO, memcpy_.graph_node_id),
    {.name = "memcpyRow", .kind = LAB_ROW_NUMBER},
};

static const struct lab_row_column set[] = {
    COLUMN("start", MOMENT, memcpy_.start_ns),
    COLUMN("end", MOMENT, memcpy_.end_ns),
    COLUMN("deviceId", INT32, memcpy_.device_id),
    COLUMN("contextId", INT32, memcpy_.context_id),
    COLUMN("streamId", INT32, memcpy_.stream_id),
    COLUMN("correlationId", UINT32, memcpy_.correlation_id),
    COLUMN("bytes", INT, memcpy_.bytes),
    COLUMN("value", UINT32, memcpy_.value),
    COLUMN("graphNodeId", NONZERO, memcpy_.graph_node_id),
    {.name = "memsetRow", .kind = LAB_ROW_NUMBER},
};

static const struct lab_row_column op_memory[] = {
    COLUMN("stepExec", INT, memcpy_.exec),
    MADE("memcpyRow", memcpy_row),
    MADE("memsetRow", memset_row),
};

static const struct lab_row_column api[] = {
    COLUMN("start", MOMENT, api.start_ns),
    COLUMN("end", MOMENT, api.end_ns),
    COLUMN("eventClass", INT32, api.event_class),
    COLUMN("globalTid", INT, api.global_tid),
    COLUMN("correlationId", UINT32, api.correlation_id),
    COLUMN("returnValue", INT32, api.return_value),
    COLUMN("nameId", NAME, api.name),
};

static const struct lab_row_column sync[] = {
    COLUMN("start", MOMENT, api.start_ns),
    COLUMN("end", MOMENT, api.end_ns),
    COLUMN("deviceId", INT32, api.device_id),
    COLUMN("streamId", INT32, api.stream_id),
    COLUMN("correlationId", UINT32, api.correlation_id),
    COLUMN("syncType", INT32, api.sync_type),
};

static const struct lab_row_column range[] = {
    COLUMN("start", INT, range.start_ns),
    COLUMN("end", INT, range.end_ns),
    MADE("eventType", range_type),
    MADE("category", range_level),
    COLUMN("globalTid", INT, range.global_tid),
    COLUMN("textId", NAME, range.text),
    {.name = "text", .kind = LAB_ROW_RANGE_TEXT},
};

static const struct lab_row_column overhead[] = {
    COLUMN("start", INT, overhead.start_ns),
    COLUMN("end", INT, overhead.end_ns),
    COLUMN("nameId", NAME, overhead.name),
};

static const struct lab_row_column loss[] = {
    COLUMN("iteration", INT, loss.iteration),
    COLUMN("loss", REAL, loss.loss),
    COLUMN("accuracy", REAL, loss.accuracy),
    COLUMN("moment_ns", INT, loss.moment_ns),
};

static const struct lab_row_column metric[] = {
    COLUMN("stepExec", INT, metric.exec),
    COLUMN("kernelOrdinal", INT, metric.kernel_ordinal),
    COLUMN("value", REAL, metric.value),
    COLUMN("passes", INT32, metric.passes),
    COLUMN("metricId", NAME, metric.metric),
};

#define INTO(table_, columns_, ...)                                            \
    {                                                                          \
        .table = table_, .columns = columns_,                                  \
        .count = (int)(sizeof(columns_) / sizeof(columns_[0])), __VA_ARGS__    \
    }

const struct lab_row_kind lab_row_kinds[LAB_INTO_COUNT] = {
    [LAB_INTO_STEP] =
        INTO("step", step,
             .tail = " ON CONFLICT (runId, exec) DO UPDATE SET"
                     " variantId = excluded.variantId,"
                     " backendId = excluded.backendId,"
                     " start_ns = excluded.start_ns, end_ns = excluded.end_ns,"
                     " time_ns = CASE excluded.timeSource WHEN 2 THEN time_ns"
                     "  ELSE excluded.time_ns END,"
                     " timeSource = excluded.timeSource,"
                     " flop = excluded.flop, bytes = excluded.bytes"),
    [LAB_INTO_KERNEL] =
        INTO("CUPTI_ACTIVITY_KIND_KERNEL", kernel, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_OP_KERNEL] = INTO("op_kernel", op_kernel, .fail = true),
    [LAB_INTO_MEMCPY] =
        INTO("CUPTI_ACTIVITY_KIND_MEMCPY", copy, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_MEMSET] =
        INTO("CUPTI_ACTIVITY_KIND_MEMSET", set, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_OP_MEMORY] = INTO("op_memory", op_memory, .fail = false),
    [LAB_INTO_API] = INTO("CUPTI_ACTIVITY_KIND_RUNTIME", api, .fail = false),
    [LAB_INTO_SYNC] = INTO("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync,
                           .also = "globalPid", .also_value = "?2"),
    [LAB_INTO_RANGE] =
        INTO("NVTX_EVENTS", range, .also = "domainId", .also_value = "1"),
    [LAB_INTO_OVERHEAD] = INTO("PROFILER_OVERHEAD", overhead, .fail = false),
    [LAB_INTO_LOSS] =
        INTO("loss", loss,
             .tail = " ON CONFLICT (runId, iteration) DO UPDATE SET"
                     " loss = CASE WHEN excluded.accuracy IS NULL THEN"
                     "  excluded.loss ELSE ifnull(loss, excluded.loss) END,"
                     " accuracy = ifnull(excluded.accuracy, accuracy),"
                     " moment_ns = excluded.moment_ns"),
    [LAB_INTO_METRIC] = INTO("metric_value", metric, .fail = false),
};
