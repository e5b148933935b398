/* The CUDA module as the program meets it: loaded, asked for its table, opened.
 * Without a driver or a device it must report that, and what to do. */
#include <dlfcn.h>
#include <pthread.h>

#include "test.h"

#include "base/mem.h"
#include "engine/backend.h"

static void *library;
static const struct lab_backend_ops *ops;
static struct lab_backend *shared; /* NULL: no device */

static int load(void **state)
{
    (void)state;
    library = dlopen(LAB_CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        print_error("%s\n", dlerror());
        return -1;
    }
    lab_cuda_module_fn *entry;
    *(void **)&entry = dlsym(library, "lab_cuda_module");
    if (!entry)
        return -1;
    const struct lab_cuda_module *module = entry();
    if (module->abi != LAB_BACKEND_ABI)
        return -1;
    ops = module->backend;
    if (ops->open(&shared, 0))
        print_message("no GPU: %s\n", ops->error());
    return 0;
}

static int unload(void **state)
{
    (void)state;
    ops->close(shared);
    return dlclose(library);
}

TEST_CASE(shows_one_symbol_only)
{
    assert_null(dlsym(library, "lab_fail"));
    assert_null(dlsym(library, "lab_backend_cuda"));
    assert_null(dlsym(library, "lab_cuda_dense"));
    assert_null(dlsym(library, "cudaMalloc"));
}

TEST_CASE(without_a_device_the_error_has_a_remedy)
{
    if (shared)
        skip();
    struct lab_backend *untouched = (struct lab_backend *)&ops;
    struct lab_backend *be = untouched;
    assert_int_equal(ops->open(&be, 0), LAB_E_UNSUPPORTED);
    assert_ptr_equal(be, untouched);
    assert_non_null(strstr(ops->error(), "Remedy:"));
}

TEST_CASE(a_device_that_is_not_there_is_refused)
{
    struct lab_backend *be = NULL;
    assert_int_equal(ops->open(&be, 1000), LAB_E_UNSUPPORTED);
    assert_int_equal(ops->open(&be, -1), LAB_E_UNSUPPORTED);
    assert_null(be);
    if (shared)
        assert_non_null(strstr(ops->error(), "no CUDA device -1"));
}

TEST_CASE(closing_nothing_is_allowed)
{
    ops->close(NULL);
}

TEST_CASE(describes_the_device)
{
    struct lab_device_info info;
    if (!shared)
        skip();
    ops->info(shared, &info);
    assert_true(strlen(info.name) > 3);
    assert_int_equal(strlen(info.uuid), 40);
    assert_true(strncmp(info.uuid, "GPU-", 4) == 0);
    assert_true(info.driver[0] && info.runtime[0]);
    assert_true(info.compute_major >= 7);
    assert_int_equal(info.warp_size, 32);
    assert_int_equal(info.max_warps_per_sm * 32, info.max_threads_per_sm);
    assert_true(info.sm_count > 0 && info.l2_bytes > 0);
    assert_true(info.memory_bytes > INT64_C(1) << 30);
    assert_true(info.clock_hz > 500000000 && info.clock_hz < 5000000000);
    assert_true(info.peak_fp32_flops > 1e12 && info.peak_fp32_flops < 1e15);
    assert_true(info.peak_dram_bytes_s > 1e11 && info.peak_dram_bytes_s < 1e14);
}

TEST_CASE(new_memory_is_zero)
{
    enum { BYTES = 100003 };
    void *p = NULL;
    unsigned char *host = lab_alloc(BYTES);
    if (!shared) {
        lab_free(host);
        skip();
    }
    memset(host, 0x5A, BYTES);
    assert_ok(ops->alloc(shared, BYTES, &p));
    assert_ok(ops->download(shared, host, p, BYTES));
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(host[i], 0);
    ops->free(shared, p);
    assert_ok(ops->alloc(shared, 0, &p));
    assert_non_null(p);
    ops->free(shared, p);
    lab_free(host);
}

TEST_CASE(too_much_memory_is_refused)
{
    void *p = &ops;
    if (!shared)
        skip();
    assert_int_equal(ops->alloc(shared, (size_t)1 << 50, &p), LAB_E_NOMEM);
    assert_ptr_equal(p, &ops);
    assert_non_null(strstr(ops->error(), "1125899906842624 bytes"));
    /* and the backend goes on */
    assert_ok(ops->alloc(shared, 4096, &p));
    ops->free(shared, p);
}

/* Sizes on both sides of the staging buffer's; the source is overwritten at
 * once, as a batch is. */
TEST_CASE(what_goes_up_comes_down)
{
    static const size_t sizes[] = {1,       4,       4099,    1 << 20,
                                   2097152, 2097153, 4194304, 9000001};
    if (!shared)
        skip();
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        size_t n = sizes[k];
        unsigned char *from = lab_alloc(n);
        unsigned char *to = lab_alloc(n);
        void *a = NULL;
        void *b = NULL;
        assert_ok(ops->alloc(shared, n, &a));
        assert_ok(ops->alloc(shared, n, &b));
        for (size_t i = 0; i < n; i++)
            from[i] = (unsigned char)(i * 31 + k);
        assert_ok(ops->upload(shared, a, from, n));
        memset(from, 0, n);
        assert_ok(ops->copy(shared, b, a, n));
        assert_ok(ops->download(shared, to, b, n));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(to[i], (unsigned char)(i * 31 + k));
        ops->free(shared, a);
        ops->free(shared, b);
        lab_free(from);
        lab_free(to);
    }
}

/* Ten times around the staging buffer, without a sync in between. */
TEST_CASE(many_uploads_stay_apart)
{
    enum { PIECE = 300001, PIECES = 140 };
    void *all = NULL;
    if (!shared)
        skip();
    unsigned char *piece = lab_alloc(PIECE);
    unsigned char *back = lab_alloc((size_t)PIECE * PIECES);
    assert_ok(ops->alloc(shared, (size_t)PIECE * PIECES, &all));
    for (int k = 0; k < PIECES; k++) {
        memset(piece, k + 1, PIECE);
        assert_ok(ops->upload(shared, (unsigned char *)all + (size_t)k * PIECE,
                              piece, PIECE));
    }
    assert_ok(ops->download(shared, back, all, (size_t)PIECE * PIECES));
    for (size_t i = 0; i < (size_t)PIECE * PIECES; i++)
        assert_int_equal(back[i], i / PIECE + 1);
    ops->free(shared, all);
    lab_free(piece);
    lab_free(back);
}

static const struct lab_variant *find(const char *op, const char *step)
{
    int count = 0;
    const struct lab_kernel_set *const *sets =
        ops->sets(shared, LAB_F32, &count);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            if (strcmp(sets[i]->op, op) == 0 && v->step &&
                strcmp(v->step, step) == 0 && v->phase == LAB_FORWARD)
                return v;
        }
    }
    fail_msg("no %s.%s", op, step);
    return NULL;
}

static void run_one(struct lab_backend *be, float *result)
{
    float x[3] = {-1.5f, 0.0f, 2.5f};
    void *p = NULL;
    assert_ok(ops->alloc(be, sizeof(x), &p));
    assert_ok(ops->upload(be, p, x, sizeof(x)));
    struct lab_view v = {.data = p, .rank = 1, .dim = {3}, .count = 3};
    struct lab_call call = {.in = &v, .n_in = 1, .out = &v, .n_out = 1};
    assert_ok(ops->run(be, find("relu", "relu"), &call));
    assert_non_null(call.exec);
    assert_ok(ops->download(be, result, p, sizeof(x)));
    ops->free(be, p);
}

TEST_CASE(runs_a_kernel)
{
    float y[3];
    if (!shared)
        skip();
    run_one(shared, y);
    assert_true(y[0] == 0.0f && y[1] == 0.0f && y[2] == 2.5f);
}

TEST_CASE(offers_nothing_in_double)
{
    int count = -1;
    if (!shared)
        skip();
    ops->sets(shared, LAB_F64, &count);
    assert_int_equal(count, 0);
}

TEST_CASE(times_the_device)
{
    float y[3];
    int64_t ns = -1;
    if (!shared)
        skip();
    assert_ok(ops->time_begin(shared));
    run_one(shared, y);
    assert_ok(ops->time_end(shared, &ns));
    assert_true(ns > 100 && ns < INT64_C(10000000000));
}

static void *in_another_thread(void *result)
{
    run_one(shared, result);
    return NULL;
}

/* The current device belongs to a thread: the engine's is not the one that
 * opened the backend. */
TEST_CASE(may_be_handed_to_another_thread)
{
    pthread_t thread;
    float y[3] = {NAN, NAN, NAN};
    if (!shared)
        skip();
    assert_int_equal(pthread_create(&thread, NULL, in_another_thread, y), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(y[2] == 2.5f);
}

TEST_CASE(opens_twice)
{
    struct lab_backend *second = NULL;
    float y[3];
    if (!shared)
        skip();
    assert_ok(ops->open(&second, 0));
    run_one(second, y);
    ops->close(second);
    run_one(shared, y);
    assert_true(y[2] == 2.5f);
}

RUN_TESTS_IN(load, unload)
