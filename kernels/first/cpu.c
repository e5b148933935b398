/* kernels/first/cpu.c -- the first kernels simulated on one thread of a
 * CPU: block after block, thread after thread, with the same indices. */
#include <stdio.h>

#include "first/first.h"

#define SOURCE "kernels/first/cpu.c"

/* What a thread of a kernel knows of itself. */
struct thread {
    const struct lab_call *call;
    int64_t block;  /* its number: x first, then y, then z */
    int64_t thread; /* within the block, counted the same way */
    int64_t index;  /* block * threads of a block + thread */
};

static const struct lab_first_launch *launch_of(const struct lab_call *call)
{
    return call->params;
}

static void each_thread(const struct lab_call *call,
                        void (*kernel)(const struct thread *t))
{
    int64_t blocks = lab_first_count(launch_of(call)->grid);
    int64_t threads = lab_first_count(launch_of(call)->block);
    struct thread t = {.call = call};
    for (t.block = 0; t.block < blocks; t.block++) {
        for (t.thread = 0; t.thread < threads; t.thread++) {
            t.index = t.block * threads + t.thread;
            kernel(&t);
        }
    }
}

/* No device: the limits that every GPU has. */
static enum lab_status prepare(const struct lab_call *call)
{
    static const struct lab_first_limits limits = {
        .threads = 1024,
        .block = {1024, 1024, 64},
        .grid = {INT32_MAX, 65535, 65535}};
    return lab_first_fits(launch_of(call), &limits, "a GPU");
}

static void hello_thread(const struct thread *t)
{
    printf("Hello World from block %lld, thread %lld\n", (long long)t->block,
           (long long)t->thread);
}

static enum lab_status hello(const struct lab_call *call)
{
    each_thread(call, hello_thread);
    return LAB_OK;
}

static void scalar_add_thread(const struct thread *t)
{
    const int32_t *a = t->call->in[0].data;
    const int32_t *b = t->call->in[1].data;
    int32_t *c = t->call->out[0].data;
    *c = *a + *b;
}

static enum lab_status scalar_add(const struct lab_call *call)
{
    each_thread(call, scalar_add_thread);
    return LAB_OK;
}

static void vectors_thread(const struct thread *t)
{
    const float *a = t->call->in[0].data;
    const float *b = t->call->in[1].data;
    float *c = t->call->out[0].data;
    int32_t *idle = t->call->out[1].data;
    if (t->index < t->call->out[0].count)
        c[t->index] = a[t->index] + b[t->index];
    else
        (*idle)++;
}

static enum lab_status vectors(const struct lab_call *call)
{
    each_thread(call, vectors_thread);
    return LAB_OK;
}

static void index_thread(const struct thread *t)
{
    int32_t *hits = t->call->out[0].data;
    hits[t->index]++;
}

static enum lab_status index_hits(const struct lab_call *call)
{
    each_thread(call, index_thread);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_first[] = {
    {.name = "hello",
     .idea = "a line from every thread",
     .run = hello,
     .source = SOURCE,
     .prepare = prepare},
    {.name = "scalar_add",
     .idea = "2 + 7 on one thread",
     .run = scalar_add,
     .source = SOURCE,
     .prepare = prepare},
    {.name = "vectors",
     .idea = "a thread for each element",
     .run = vectors,
     .source = SOURCE,
     .prepare = prepare},
    {.name = "index",
     .idea = "every thread its own index",
     .run = index_hits,
     .source = SOURCE,
     .prepare = prepare},
    {0},
};
