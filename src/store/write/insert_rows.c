#include <stdio.h>
#include "trace/intern.h"
#include "insert_rows.h"

#include <math.h>

/* CUPTI's launch types begin with regular = 0, nsys's with unknown = 0. */
static int64_t nsys_launch_type(int32_t cupti)
{
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

static int64_t or_unknown(int64_t v, int64_t none)
{
    return v == none ? LAB_UNKNOWN : v;
}

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

static enum lab_status bind_step(struct lab_insert *in, sqlite3_stmt *s, int i,
                                 const struct lab_bulk_row *row)
{
    const struct lab_step_record *r = &row->record.u.step;
    const uint32_t names[] = {r->name, r->node, r->op, r->variant, r->backend};
    enum lab_status st = LAB_OK;
    sqlite3_bind_int64(s, i++, r->exec);
    lab_bind_int(s, i++, r->iteration);
    lab_bind_int32(s, i++, r->index);
    lab_bind_int32(s, i++, r->phase);
    for (int n = 0; n < 5 && st == LAB_OK; n++)
        st = bind_name(in, s, i++, names[n]);
    if (st)
        return st;
    lab_bind_int(s, i++, r->start_ns);
    lab_bind_int(s, i++, r->end_ns);
    lab_bind_int(s, i++,
                 r->time_source == LAB_TIME_CUPTI ? LAB_UNKNOWN : r->time_ns);
    lab_bind_int32(s, i++, r->time_source);
    lab_bind_real(s, i++, r->flop);
    lab_bind_real(s, i++, r->bytes);
    return LAB_OK;
}

static void bind_moments(sqlite3_stmt *s, int i, int64_t start, int64_t end)
{
    bool none = start == 0 && end == 0; /* CUPTI's way to say so */
    lab_bind_int(s, i, none ? LAB_UNKNOWN : start);
    lab_bind_int(s, i + 1, none ? LAB_UNKNOWN : end);
}

static enum lab_status bind_kernel(struct lab_insert *in, sqlite3_stmt *s,
                                   int i, const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    enum lab_status st;
    bind_moments(s, i, k->start_ns, k->end_ns);
    i += 2;
    lab_bind_int32(s, i++, k->device_id);
    lab_bind_int32(s, i++, k->context_id);
    lab_bind_int32(s, i++, k->stream_id);
    sqlite3_bind_int64(s, i++, k->correlation_id);
    st = bind_name(in, s, i++, k->demangled_name);
    if (st == LAB_OK)
        st = bind_name(in, s, i++, k->short_name);
    if (st == LAB_OK)
        st = bind_name(in, s, i++, k->mangled_name);
    if (st)
        return st;
    lab_bind_int(s, i++, nsys_launch_type(k->launch_type));
    lab_bind_int32(s, i++, k->cache_config);
    lab_bind_int32(s, i++, k->registers_per_thread);
    for (int d = 0; d < 3; d++)
        lab_bind_int32(s, i++, k->grid[d]);
    for (int d = 0; d < 3; d++)
        lab_bind_int32(s, i++, k->block[d]);
    lab_bind_int32(s, i++, k->static_shared_bytes);
    lab_bind_int32(s, i++, k->dynamic_shared_bytes);
    lab_bind_int32(s, i++, k->local_per_thread_bytes);
    lab_bind_int(s, i++, k->local_total_bytes);
    lab_bind_int(s, i++, k->grid_id);
    lab_bind_int32(s, i++, k->shared_executed_bytes);
    lab_bind_int(s, i++, or_unknown(k->graph_node_id, 0));
    lab_bind_int32(s, i++, k->shared_limit_config);
    lab_bind_int(s, i++, or_unknown(k->graph_id, 0));
    for (int d = 0; d < 3; d++)
        lab_bind_int32(s, i++, k->cluster[d]);
    sqlite3_bind_int64(s, i++, row->row);
    return LAB_OK;
}

static enum lab_status bind_op_kernel(struct lab_insert *in, sqlite3_stmt *s,
                                      int i, const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    (void)in;
    sqlite3_bind_int64(s, i++, row->row);
    lab_bind_int(s, i++, k->exec);
    lab_bind_real(s, i++, k->occupancy_pct);
    if (isnan(k->occupancy_pct)) {
        sqlite3_bind_null(s, i++);
        sqlite3_bind_null(s, i++);
    } else {
        lab_bind_int32(s, i++, k->occupancy_limit);
        lab_bind_int32(s, i++, k->active_blocks_per_sm);
    }
    return LAB_OK;
}

static enum lab_status bind_memcpy(struct lab_insert *in, sqlite3_stmt *s,
                                   int i, const struct lab_bulk_row *row)
{
    const struct lab_memcpy_record *m = &row->record.u.memcpy_;
    bool set = row->record.kind == LAB_RECORD_MEMSET;
    (void)in;
    bind_moments(s, i, m->start_ns, m->end_ns);
    i += 2;
    lab_bind_int32(s, i++, m->device_id);
    lab_bind_int32(s, i++, m->context_id);
    lab_bind_int32(s, i++, m->stream_id);
    sqlite3_bind_int64(s, i++, m->correlation_id);
    lab_bind_int(s, i++, m->bytes);
    if (set) {
        sqlite3_bind_int64(s, i++, m->value);
    } else {
        lab_bind_int32(s, i++, m->copy_kind);
        lab_bind_int(s, i++, nsys_memory_kind(m->src_kind));
        lab_bind_int(s, i++, nsys_memory_kind(m->dst_kind));
    }
    lab_bind_int(s, i++, or_unknown(m->graph_node_id, 0));
    sqlite3_bind_int64(s, i++, row->row);
    return LAB_OK;
}

static enum lab_status bind_op_memory(struct lab_insert *in, sqlite3_stmt *s,
                                      int i, const struct lab_bulk_row *row)
{
    bool set = row->record.kind == LAB_RECORD_MEMSET;
    (void)in;
    sqlite3_bind_int64(s, i, row->record.u.memcpy_.exec);
    lab_bind_int(s, i + 1, set ? LAB_UNKNOWN : row->row);
    lab_bind_int(s, i + 2, set ? row->row : LAB_UNKNOWN);
    return LAB_OK;
}

static enum lab_status bind_api(struct lab_insert *in, sqlite3_stmt *s, int i,
                                const struct lab_bulk_row *row)
{
    const struct lab_api_record *a = &row->record.u.api;
    bind_moments(s, i, a->start_ns, a->end_ns);
    lab_bind_int32(s, i + 2, a->event_class);
    lab_bind_int(s, i + 3, a->global_tid);
    sqlite3_bind_int64(s, i + 4, a->correlation_id);
    lab_bind_int32(s, i + 5, a->return_value);
    return bind_name(in, s, i + 6, a->name);
}

static enum lab_status bind_sync(struct lab_insert *in, sqlite3_stmt *s, int i,
                                 const struct lab_bulk_row *row)
{
    const struct lab_api_record *a = &row->record.u.api;
    (void)in;
    bind_moments(s, i, a->start_ns, a->end_ns);
    lab_bind_int32(s, i + 2, a->device_id);
    lab_bind_int32(s, i + 3, a->stream_id);
    sqlite3_bind_int64(s, i + 4, a->correlation_id);
    lab_bind_int32(s, i + 5, a->sync_type);
    return LAB_OK;
}

static enum lab_status bind_range(struct lab_insert *in, sqlite3_stmt *s, int i,
                                  const struct lab_bulk_row *row)
{
    enum { PUSH_POP = 59, DOMAIN_CREATE = 75, ITERATION = 1 };
    const struct lab_range_record *r = &row->record.u.range;
    bool domain = r->level == LAB_RANGE_DOMAIN;
    lab_bind_int(s, i, r->start_ns);
    lab_bind_int(s, i + 1, r->end_ns);
    sqlite3_bind_int(s, i + 2, domain ? DOMAIN_CREATE : PUSH_POP);
    lab_bind_int(s, i + 3, domain ? LAB_UNKNOWN : r->level);
    lab_bind_int(s, i + 4, r->global_tid);
    /* "iteration 7" in the row itself: StringIds has what comes again. */
    if (r->level == ITERATION && r->number != LAB_UNKNOWN) {
        char text[64];
        int n = snprintf(text, sizeof(text), "%s %lld",
                         lab_intern_text(r->text), (long long)r->number);
        sqlite3_bind_text(s, i + 6, text, n, SQLITE_TRANSIENT);
    } else {
        sqlite3_bind_null(s, i + 6);
    }
    return bind_name(in, s, i + 5, r->text);
}

static enum lab_status bind_overhead(struct lab_insert *in, sqlite3_stmt *s,
                                     int i, const struct lab_bulk_row *row)
{
    const struct lab_overhead_record *o = &row->record.u.overhead;
    lab_bind_int(s, i, o->start_ns);
    lab_bind_int(s, i + 1, o->end_ns);
    return bind_name(in, s, i + 2, o->name);
}

static enum lab_status bind_loss(struct lab_insert *in, sqlite3_stmt *s, int i,
                                 const struct lab_bulk_row *row)
{
    const struct lab_loss_record *l = &row->record.u.loss;
    (void)in;
    sqlite3_bind_int64(s, i, l->iteration);
    lab_bind_real(s, i + 1, l->loss);
    lab_bind_real(s, i + 2, l->accuracy);
    lab_bind_int(s, i + 3, l->moment_ns);
    return LAB_OK;
}

static enum lab_status bind_metric(struct lab_insert *in, sqlite3_stmt *s,
                                   int i, const struct lab_bulk_row *row)
{
    const struct lab_metric_record *m = &row->record.u.metric;
    sqlite3_bind_int64(s, i, m->exec);
    lab_bind_int(s, i + 1, m->kernel_ordinal);
    lab_bind_real(s, i + 2, m->value);
    lab_bind_int32(s, i + 3, m->passes);
    return bind_name(in, s, i + 4, m->metric);
}

const struct lab_row_kind lab_row_kinds[LAB_INTO_COUNT] = {
    [LAB_INTO_STEP] =
        {"INSERT INTO step (runId, exec, iteration, stepIndex, phase, nameId, "
         "nodeId, opId, variantId, backendId, start_ns, end_ns, time_ns, "
         "timeSource, flop, bytes) VALUES ",
         "?1,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$",
         " ON CONFLICT (runId, exec) DO UPDATE SET"
         " variantId = excluded.variantId, backendId = excluded.backendId,"
         " start_ns = excluded.start_ns, end_ns = excluded.end_ns,"
         " time_ns = CASE excluded.timeSource WHEN 2 THEN time_ns"
         "  ELSE excluded.time_ns END,"
         " timeSource = excluded.timeSource,"
         " flop = excluded.flop, bytes = excluded.bytes",
         15, bind_step},
    [LAB_INTO_KERNEL] =
        {"INSERT OR FAIL INTO CUPTI_ACTIVITY_KIND_KERNEL (runId, globalPid, "
         "start, end, deviceId, contextId, streamId, correlationId, "
         "demangledName, shortName, mangledName, launchType, cacheConfig, "
         "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, "
         "staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
         "localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId, "
         "sharedMemoryLimitConfig, graphId, clusterX, clusterY, clusterZ, "
         "kernelRow) VALUES ",
         "?1,?2,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$,$",
         "", 31, bind_kernel},
    [LAB_INTO_OP_KERNEL] =
        {"INSERT OR FAIL INTO op_kernel (runId, kernelRow, stepExec, "
         "occupancy_pct, occupancyLimit, activeBlocksPerSm) VALUES ",
         "?1,$,$,$,$,$", "", 5, bind_op_kernel},
    [LAB_INTO_MEMCPY] =
        {"INSERT OR FAIL INTO CUPTI_ACTIVITY_KIND_MEMCPY (runId, globalPid, "
         "start, end, deviceId, contextId, streamId, correlationId, bytes, "
         "copyKind, srcKind, dstKind, graphNodeId, memcpyRow) VALUES ",
         "?1,?2,$,$,$,$,$,$,$,$,$,$,$,$", "", 12, bind_memcpy},
    [LAB_INTO_MEMSET] =
        {"INSERT OR FAIL INTO CUPTI_ACTIVITY_KIND_MEMSET (runId, globalPid, "
         "start, end, deviceId, contextId, streamId, correlationId, bytes, "
         "value, graphNodeId, memsetRow) VALUES ",
         "?1,?2,$,$,$,$,$,$,$,$,$,$", "", 10, bind_memcpy},
    [LAB_INTO_OP_MEMORY] = {"INSERT INTO op_memory (runId, stepExec, "
                            "memcpyRow, memsetRow) VALUES ",
                            "?1,$,$,$", "", 3, bind_op_memory},
    [LAB_INTO_API] =
        {"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (runId, start, end, "
         "eventClass, globalTid, correlationId, returnValue, nameId) VALUES ",
         "?1,$,$,$,$,$,$,$", "", 7, bind_api},
    [LAB_INTO_SYNC] =
        {"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (runId, globalPid, "
         "start, end, deviceId, streamId, correlationId, syncType) VALUES ",
         "?1,?2,$,$,$,$,$,$", "", 6, bind_sync},
    [LAB_INTO_RANGE] =
        {"INSERT INTO NVTX_EVENTS (runId, domainId, start, end, eventType, "
         "category, globalTid, textId, text) VALUES ",
         "?1,1,$,$,$,$,$,$,$", "", 7, bind_range},
    [LAB_INTO_OVERHEAD] = {"INSERT INTO PROFILER_OVERHEAD (runId, start, end, "
                           "nameId) VALUES ",
                           "?1,$,$,$", "", 3, bind_overhead},
    [LAB_INTO_LOSS] =
        {"INSERT INTO loss (runId, iteration, loss, accuracy, moment_ns) "
         "VALUES ",
         "?1,$,$,$,$",
         " ON CONFLICT (runId, iteration) DO UPDATE SET"
         " loss = CASE WHEN excluded.accuracy IS NULL THEN excluded.loss"
         "  ELSE ifnull(loss, excluded.loss) END,"
         " accuracy = ifnull(excluded.accuracy, accuracy),"
         " moment_ns = excluded.moment_ns",
         4, bind_loss},
    [LAB_INTO_METRIC] = {"INSERT INTO metric_value (runId, stepExec, "
                         "kernelOrdinal, value, passes, metricId) VALUES ",
                         "?1,$,$,$,$,$", "", 5, bind_metric},
};
