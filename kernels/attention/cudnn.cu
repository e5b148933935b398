/* kernels/attention/cudnn.cu -- what the vendor's library makes of it:
 * cuDNN 9's graph interface. Its engine for attention is one fused kernel.
 *
 * A graph names tensors and operations: the two products, and softmax spelt out
 * in largest, difference, exp, sum and quotient. Tensors between them are
 * virtual: they have a shape and no memory. cuDNN looks for an engine that
 * knows the whole pattern, and refuses what it does not know; the pattern wants
 * the rows' statistics (largest + log sum) as an output, as training would.
 * The mask is a comparison of the indices of row and column.
 *
 * What a size needs - descriptors, plan, workspace, statistics - is made by
 * prepare and given back by release: one size at a time. */
#include "attention/attention.cuh"
#include "library/cudnn_entry.cuh"
#include "library/cudnn_exec.h"

/* ---- a graph of operations on (B, H, rows, cols), by descriptors and attributes
 *
 * Everything is made through a struct dnn_graph. Its `status` is the first of
 * cuDNN's that was not 0: after it nothing more is done. dnn_free() gives all
 * descriptors back. */

/* Values of cudnnBackendDescriptorType_t, ...AttributeType_t, ...AttributeName_t
 * and of the modes, as cuDNN 9's cudnn_graph.h has them. */
enum dnn_kind {
    POINTWISE = 0,
    ENGINE_CONFIG = 3,
    HEURISTIC = 4,
    PLAN = 5,
    POINTWISE_OP = 13,
    GRAPH = 15,
    VARIANT_PACK = 16,
    TENSOR = 17,
    MATMUL = 18,
    MATMUL_OP = 19,
    REDUCTION = 21,
    REDUCTION_OP = 22
};
enum dnn_type {
    HANDLE = 0,
    DATA_TYPE = 1,
    BOOLEAN = 2,
    INT64 = 3,
    VOID_PTR = 6,
    HEUR_MODE = 8,
    POINTWISE_MODE = 14,
    DESCRIPTOR = 15,
    REDUCTION_MODE = 18
};
enum dnn_name {
    MODE = 0,
    MATH_TYPE = 1,
    AXIS = 9,
    HEUR_MODE_IS = 200,
    HEUR_GRAPH = 201,
    HEUR_RESULTS = 202,
    PLAN_HANDLE = 400,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    PW = 750,
    PW_X = 751,
    PW_B = 752,
    PW_Y = 753,
    PW_T = 758,
    GRAPH_HANDLE = 800,
    GRAPH_OPS = 801,
    ALIGNMENT = 900,
    TENSOR_TYPE = 901,
    DIMENSIONS = 902,
    STRIDES = 903,
    UNIQUE_ID = 906,
    IS_VIRTUAL = 907,
    IS_BY_VALUE = 908,
    PACK_IDS = 1000,
    PACK_POINTERS = 1001,
    PACK_WORKSPACE = 1003,
    MATMUL_TYPE = 1500,
    MATMUL_A = 1520,
    MATMUL_B = 1521,
    MATMUL_C = 1522,
    MATMUL_IS = 1523,
    REDUCE_MODE = 1600,
    REDUCE_TYPE = 1601,
    REDUCE_X = 1610,
    REDUCE_Y = 1611,
    REDUCE_IS = 1612
};
enum dnn_data { FLOAT = 0, HALF = 2, INT32 = 4, BFLOAT16 = 9, BOOL = 11 };
enum dnn_mode {
    ADD = 0,
    MUL = 1,
    DIV = 6,
    SUB = 9,
    EXP = 13,
    LOG = 15,
    GREATER_EQUAL = 303,
    INDEX = 501,
    SELECT = 601,
    SUM_OF = 0,
    LARGEST_OF = 3,
    HEURISTIC_A = 3
};
/* Tensors with memory, by their ids; then the virtual ones. */
enum { ID_Q = 1, ID_K, ID_V, ID_O, ID_STATS, ID_SCALE, ID_LOW, ID_INNER };

struct dnn_graph {
    const struct lab_cudnn *dnn;
    void *handle;
    int status;
    int64_t next; /* id of the next virtual tensor */
    int64_t B;
    int64_t H;
    int64_t T;
    int64_t D;
    void *made[96]; /* every descriptor */
    int n_made;
    void *op[16];
    int n_ops;
};

static void *make(dnn_graph *g, dnn_kind kind)
{
    void *d = nullptr;
    if (!g->status && g->n_made < (int)(sizeof(g->made) / sizeof(g->made[0])))
        g->status = g->dnn->graph_create(kind, &d);
    if (d)
        g->made[g->n_made++] = d;
    return d;
}

static void put(dnn_graph *g, void *d, dnn_name name, dnn_type type,
                int64_t count, const void *values)
{
    if (!g->status)
        g->status = g->dnn->graph_set(d, name, type, count, values);
}

static void put_one(dnn_graph *g, void *d, dnn_name name, void *other)
{
    if (other)
        put(g, d, name, DESCRIPTOR, 1, &other);
}

static void put_int(dnn_graph *g, void *d, dnn_name name, dnn_type type,
                    int value)
{
    put(g, d, name, type, 1, &value); /* an enum of cuDNN is an int */
}

static void finish(dnn_graph *g, void *d)
{
    if (!g->status)
        g->status = g->dnn->graph_finalize(d);
}

/* (B, H, rows, cols); `turned` lies as (B, H, cols, rows). */
static void *tensor(dnn_graph *g, int64_t id, dnn_data type, int64_t rows,
                    int64_t cols, bool turned = false)
{
    bool inner = id >= ID_INNER;
    bool scalar = id == ID_SCALE || id == ID_LOW;
    int64_t align = 16;
    int64_t dim[4] = {g->B, g->H, rows, cols};
    int64_t stride[4] = {g->H * rows * cols, rows * cols, turned ? 1 : cols,
                         turned ? rows : 1};
    void *d = make(g, TENSOR);
    for (int i = 0; i < 4 && scalar; i++)
        dim[i] = stride[i] = 1;
    put(g, d, UNIQUE_ID, INT64, 1, &id);
    put_int(g, d, TENSOR_TYPE, DATA_TYPE, type);
    put(g, d, DIMENSIONS, INT64, 4, dim);
    put(g, d, STRIDES, INT64, 4, stride);
    put(g, d, ALIGNMENT, INT64, 1, &align);
    put(g, d, IS_VIRTUAL, BOOLEAN, 1, &inner);
    if (scalar)
        put(g, d, IS_BY_VALUE, BOOLEAN, 1, &scalar);
    finish(g, d);
    return d;
}

/* Between operations: (B, H, T, cols). */
static void *between(dnn_graph *g, int64_t cols, dnn_data type = FLOAT)
{
    return tensor(g, g->next++, type, g->T, cols);
}

static void end_op(dnn_graph *g, void *op)
{
    finish(g, op);
    g->op[g->n_ops++] = op;
}

static void product(dnn_graph *g, void *a, void *b, void *c)
{
    void *how = make(g, MATMUL);
    put_int(g, how, MATMUL_TYPE, DATA_TYPE, FLOAT);
    finish(g, how);
    void *op = make(g, MATMUL_OP);
    put_one(g, op, MATMUL_IS, how);
    put_one(g, op, MATMUL_A, a);
    put_one(g, op, MATMUL_B, b);
    put_one(g, op, MATMUL_C, c);
    end_op(g, op);
}

/* y = mode(x, b), with `where` b or x; axis of INDEX. */
static void *pointwise(dnn_graph *g, dnn_mode mode, void *x, void *b, void *y,
                       void *where = nullptr, int64_t axis = -1)
{
    void *how = make(g, POINTWISE);
    put_int(g, how, MODE, POINTWISE_MODE, mode);
    put_int(g, how, MATH_TYPE, DATA_TYPE, FLOAT);
    if (axis >= 0)
        put(g, how, AXIS, INT64, 1, &axis);
    finish(g, how);
    void *op = make(g, POINTWISE_OP);
    put_one(g, op, PW, how);
    put_one(g, op, PW_X, x);
    put_one(g, op, PW_B, b);
    put_one(g, op, PW_T, where);
    put_one(g, op, PW_Y, y);
    end_op(g, op);
    return y;
}

static void *reduction(dnn_graph *g, dnn_mode mode, void *x)
{
    void *y = between(g, 1);
    void *how = make(g, REDUCTION);
    put_int(g, how, REDUCE_MODE, REDUCTION_MODE, mode);
    put_int(g, how, REDUCE_TYPE, DATA_TYPE, FLOAT);
    finish(g, how);
    void *op = make(g, REDUCTION_OP);
    put_one(g, op, REDUCE_IS, how);
    put_one(g, op, REDUCE_X, x);
    put_one(g, op, REDUCE_Y, y);
    end_op(g, op);
    return y;
}

/* The first of the engines that cuDNN proposes which can be had. */
static void *choose_plan(dnn_graph *g)
{
    enum { MOST = 8 };
    void *config[MOST];
    void *chosen = nullptr;
    int64_t found = 0;
    void *all = make(g, GRAPH);
    put(g, all, GRAPH_HANDLE, HANDLE, 1, &g->handle);
    put(g, all, GRAPH_OPS, DESCRIPTOR, g->n_ops, g->op);
    finish(g, all);
    void *heuristic = make(g, HEURISTIC);
    put_one(g, heuristic, HEUR_GRAPH, all);
    put_int(g, heuristic, HEUR_MODE_IS, HEUR_MODE, HEURISTIC_A);
    finish(g, heuristic);
    for (int i = 0; i < MOST; i++)
        config[i] = make(g, ENGINE_CONFIG);
    if (!g->status)
        g->status = g->dnn->graph_get(heuristic, HEUR_RESULTS, DESCRIPTOR, MOST,
                                      &found, config);
    for (int i = 0; i < found && i < MOST && !g->status && !chosen; i++) {
        void *plan = make(g, PLAN);
        put(g, plan, PLAN_HANDLE, HANDLE, 1, &g->handle);
        put_one(g, plan, PLAN_CONFIG, config[i]);
        if (!g->status && g->dnn->graph_finalize(plan) == 0)
            chosen = plan;
    }
    if (!g->status && !chosen)
        g->status = LAB_CUDNN_NOT_SUPPORTED;
    return chosen;
}

static void dnn_free(dnn_graph *g)
{
    while (g->n_made > 0)
        g->dnn->graph_destroy(g->made[--g->n_made]);
    if (g->handle)
        g->dnn->destroy(g->handle);
    *g = {};
}

/* ---- what a size needs ---- */

static struct {
    dnn_graph graph;
    void *plan;
    void *pack;
    void *stats;
    void *workspace;
    int64_t bytes; /* of both */
    const void *q; /* the call that it was made for */
    float scale;
    float low;
} kept;

/* ---- the graph ---- */

static void *masked(dnn_graph *g, void *scores)
{
    void *low = tensor(g, ID_LOW, FLOAT, 1, 1);
    void *row = between(g, g->T, INT32);
    void *col = between(g, g->T, INT32);
    void *seen = between(g, g->T, BOOL);
    pointwise(g, INDEX, scores, nullptr, row, nullptr, 2);
    pointwise(g, INDEX, scores, nullptr, col, nullptr, 3);
    pointwise(g, GREATER_EQUAL, row, col, seen);
    return pointwise(g, SELECT, scores, low, between(g, g->T), seen);
}

static void describe(dnn_graph *g, dnn_data io, bool causal)
{
    void *q = tensor(g, ID_Q, io, g->T, g->D);
    void *k = tensor(g, ID_K, io, g->D, g->T, true);
    void *v = tensor(g, ID_V, io, g->T, g->D);
    void *o = tensor(g, ID_O, io, g->T, g->D);
    void *stats = tensor(g, ID_STATS, FLOAT, g->T, 1);
    void *scale = tensor(g, ID_SCALE, FLOAT, 1, 1);
    void *s = between(g, g->T);
    product(g, q, k, s);
    s = pointwise(g, MUL, s, scale, between(g, g->T));
    if (causal)
        s = masked(g, s);
    void *top = reduction(g, LARGEST_OF, s);
    s = pointwise(g, SUB, s, top, between(g, g->T));
    s = pointwise(g, EXP, s, nullptr, between(g, g->T));
    void *sum = reduction(g, SUM_OF, s);
    void *log = pointwise(g, LOG, sum, nullptr, between(g, 1));
    pointwise(g, ADD, top, log, stats);
    s = pointwise(g, DIV, s, sum, between(g, g->T, io));
    product(g, s, v, o);
}

/* Memory, and the tensors' addresses. */
static enum lab_status bind(dnn_graph *g, const struct lab_call *call,
                            bool causal)
{
    int64_t room = 0;
    int64_t n = 0;
    int64_t rows = 4 * g->B * g->H * g->T;
    if (!g->status)
        g->status =
            g->dnn->graph_get(kept.plan, PLAN_WORKSPACE, INT64, 1, &n, &room);
    if (g->status)
        return LAB_OK; /* the caller reports it */
    if (cudaMalloc(&kept.stats, static_cast<size_t>(rows)) ||
        (room > 0 && cudaMalloc(&kept.workspace, static_cast<size_t>(room)))) {
        cudaGetLastError();
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cudnn-workspace] no memory for cuDNN's "
                        "workspace of %lld bytes",
                        static_cast<long long>(room + rows));
    }
    kept.bytes = room + rows;
    kept.q = call->in[0].data;
    int64_t id[] = {ID_Q, ID_K, ID_V, ID_O, ID_STATS, ID_SCALE, ID_LOW};
    void *at[] = {call->in[0].data,  call->in[1].data, call->in[2].data,
                  call->out[0].data, kept.stats,       &kept.scale,
                  &kept.low};
    kept.pack = make(g, VARIANT_PACK);
    put(g, kept.pack, PACK_IDS, INT64, causal ? 7 : 6, id);
    put(g, kept.pack, PACK_POINTERS, VOID_PTR, causal ? 7 : 6, at);
    put(g, kept.pack, PACK_WORKSPACE, VOID_PTR, 1, &kept.workspace);
    finish(g, kept.pack);
    return LAB_OK;
}

/* ---- host ---- */

enum lab_status lab_attention_cudnn_free(const struct lab_call *call)
{
    (void)call;
    dnn_free(&kept.graph);
    cudaFree(kept.stats);
    cudaFree(kept.workspace);
    kept = {};
    return LAB_OK;
}

static const char text[] = "attention cudnn";

static enum lab_status prepare(const struct lab_call *call, bool causal)
{
    const struct lab_view *q = &call->in[0];
    struct lab_cudnn *dnn = call->exec->cudnn;
    lab_attention_cudnn_free(call);
    if (!dnn || !dnn->graph_create || !dnn->graph_destroy || !dnn->graph_set ||
        !dnn->graph_get || !dnn->graph_finalize || !dnn->graph_execute)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            dnn ? "[launch.cudnn-graph] this cuDNN has no graph interface"
                : "cuDNN was not found");
    dnn_graph *g = &kept.graph;
    g->dnn = dnn;
    g->next = ID_INNER;
    g->B = q->dim[0];
    g->H = q->dim[1];
    g->T = q->dim[2];
    g->D = q->dim[3];
    kept.scale = static_cast<float>(1 / sqrt(static_cast<double>(g->D)));
    kept.low = -INFINITY;
    g->status = dnn->create(&g->handle);
    if (!g->status)
        g->status = dnn->set_stream(g->handle, lab_stream(call));
    describe(g, q->dtype == LAB_F16 ? HALF : BFLOAT16, causal);
    kept.plan = choose_plan(g);
    enum lab_status st = bind(g, call, causal);
    if (!st)
        st = cudnn_judge(call, g->status, text);
    if (st)
        lab_attention_cudnn_free(call);
    return st;
}

enum lab_status lab_attention_cudnn_make(const struct lab_call *call)
{
    return prepare(call, false);
}

enum lab_status lab_attention_causal_cudnn_make(const struct lab_call *call)
{
    return prepare(call, true);
}

/* The plan knows whether there is a mask. */
enum lab_status lab_attention_cudnn(const struct lab_call *call)
{
    if (!kept.pack || kept.q != call->in[0].data)
        return lab_fail(LAB_E_STATE,
                        "[launch.cudnn-plan] cuDNN's plan is not of this call");
    const dnn_graph *g = &kept.graph;
    return cudnn_judge(
        call, g->dnn->graph_execute(g->handle, kept.plan, kept.pack), text);
}

enum lab_status lab_attention_causal_cudnn(const struct lab_call *call)
{
    return lab_attention_cudnn(call);
}

void lab_attention_cudnn_note(const struct lab_call *call,
                              struct lab_variant_note *out)
{
    (void)call;
    out->workspace_bytes = kept.bytes;
}
