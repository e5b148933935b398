/* kernels/attention/cudnn.cu -- what the vendor's library makes of it:
 * cuDNN 9's graph interface, whose engine for attention is one fused kernel.
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
#include "attention/cudnn_graph.cuh"

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
        return LAB_OK; /* told by the caller */
    if (cudaMalloc(&kept.stats, static_cast<size_t>(rows)) ||
        (room > 0 && cudaMalloc(&kept.workspace, static_cast<size_t>(room)))) {
        cudaGetLastError();
        return lab_fail(LAB_E_UNSUPPORTED,
                        "no memory for cuDNN's workspace of %lld bytes",
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
        return lab_fail(LAB_E_UNSUPPORTED,
                        dnn ? "this cuDNN has no graph interface"
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
        return lab_fail(LAB_E_STATE, "cuDNN's plan is not of this call");
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
