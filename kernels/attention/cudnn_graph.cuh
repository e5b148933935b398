/* kernels/attention/cudnn_graph.cuh -- a graph of operations on (B, H, rows,
 * cols) for cuDNN 9, by descriptors and attributes. See cudnn.cu for the use.
 *
 * Everything is made through a struct dnn_graph, whose `status` is the first of
 * cuDNN's that was not 0: after it nothing more is done. dnn_free() gives all
 * descriptors back. */
#pragma once
#include "library/cudnn_exec.h"
#include "library/cudnn_entry.cuh"

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
