/* Holds the tensors of a test and runs single kernels on them by name;
 * kernel_rig.h has the form of a call. */
#include "ops/kernel_rig.h"

#include "test.h"

#include "base/mem.h"
#include "backend/cpu/cpu_sets.h"
#include "common/random.h"
#include "cpu/vector_sets.h"
#include "library/blas.h"

enum { MAX_TENSORS = 32, NAME_BYTES = 24, GUARD_BYTES = 64, MAX_ARGS = 16 };
static const unsigned char GUARD = 0xA5;

struct rig_tensor {
    char name[NAME_BYTES];
    struct lab_view view;
    unsigned char *block; /* guard, data, guard */
    size_t bytes;
};

struct rig {
    enum rig_kind kind;
    struct lab_call call;
    struct lab_view out[MAX_ARGS];
    struct lab_view in[MAX_ARGS];
    int n;
    struct rig_tensor tensors[MAX_TENSORS];
};

#define LAB_OP(id)                                                             \
    extern const struct lab_kernel_set lab_ref_f32_##id;                       \
    extern const struct lab_kernel_set lab_ref_f64_##id;
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP

static const struct lab_kernel_set *const ref_f32[] = {
#define LAB_OP(id) &lab_ref_f32_##id,
#include "ops.def"
#undef LAB_OP
};
static const struct lab_kernel_set *const ref_f64[] = {
#define LAB_OP(id) &lab_ref_f64_##id,
#include "ops.def"
#undef LAB_OP
};
enum { N_REF = sizeof(ref_f32) / sizeof(ref_f32[0]) };

const char *rig_name(enum rig_kind kind)
{
    static const char *const name[RIG_COUNT] = {"naive f32", "naive f64",
                                                "vector", "blas", "onednn"};
    return name[kind];
}

bool rig_available(enum rig_kind kind)
{
    const struct lab_kernel_set *const *sets;
    int count;
    return kind != RIG_ONEDNN || lab_onednn_open(&sets, &count) == LAB_OK;
}

static const struct lab_variant *find_row(const struct lab_kernel_set *set,
                                          const char *op, const char *step,
                                          enum lab_phase phase)
{
    if (strcmp(set->op, op) != 0)
        return NULL;
    for (int i = 0; i < set->count; i++) {
        const struct lab_variant *row = &set->variants[i];
        bool same = step && row->step ? strcmp(row->step, step) == 0
                                      : !step && !row->step;
        if (same && row->phase == phase)
            return row;
    }
    return NULL;
}

static const struct lab_variant *own_row(enum rig_kind kind, const char *op,
                                         const char *step, enum lab_phase phase)
{
    const struct lab_kernel_set *const *sets = NULL;
    int count = 0;
    if (kind == RIG_VECTOR)
        sets = lab_vector_sets(&count);
    else if (kind == RIG_BLAS)
        sets = lab_blas_sets(&count);
    else if (kind == RIG_ONEDNN)
        lab_onednn_open(&sets, &count);
    const struct lab_variant *row = NULL;
    for (int i = 0; !row && i < count; i++)
        row = find_row(sets[i], op, step, phase);
    return row;
}

bool rig_has(enum rig_kind kind, const char *op, const char *step,
             enum lab_phase phase)
{
    return own_row(kind, op, step, phase) != NULL;
}

static const struct lab_variant *find_variant(enum rig_kind kind,
                                              const char *op, const char *step,
                                              enum lab_phase phase)
{
    const struct lab_kernel_set *const *ref =
        kind == RIG_REF_F64 ? ref_f64 : ref_f32;
    const struct lab_variant *row = own_row(kind, op, step, phase);
    for (int i = 0; !row && i < N_REF; i++)
        row = find_row(ref[i], op, step, phase);
    if (!row)
        fail_msg("no kernel for %s.%s %s", op, step ? step : "(group)",
                 lab_phase_name(phase));
    return row;
}

struct rig *rig_new(enum rig_kind kind)
{
    struct rig *r = lab_alloc(sizeof(*r));
    assert_non_null(r);
    r->kind = kind;
    r->call = (struct lab_call){.training = true, .seed = 7, .node = 3};
    return r;
}

void rig_free(struct rig *r)
{
    for (int i = 0; r && i < r->n; i++)
        lab_free(r->tensors[i].block);
    lab_free(r);
}

struct lab_call *rig_call(struct rig *r)
{
    return &r->call;
}

static struct rig_tensor *find(const struct rig *r, const char *name)
{
    size_t n = strcspn(name, ":");
    for (int i = 0; i < r->n; i++) {
        const char *own = r->tensors[i].name;
        if (strncmp(own, name, n) == 0 && own[n] == '\0')
            return (struct rig_tensor *)&r->tensors[i];
    }
    return NULL;
}

static struct rig_tensor *must_find(const struct rig *r, const char *name)
{
    struct rig_tensor *t = find(r, name);
    if (!t)
        fail_msg("the rig has no tensor %s", name);
    return t;
}

static void poison(struct rig_tensor *t)
{
    for (int64_t i = 0; i < t->view.count; i++) {
        if (t->view.dtype == LAB_F64)
            ((double *)t->view.data)[i] = NAN;
        else if (t->view.dtype == LAB_F32)
            ((float *)t->view.data)[i] = NAN;
        else
            ((int32_t *)t->view.data)[i] = INT32_MIN;
    }
}

static void add(struct rig *r, const char *name, enum lab_dtype dtype, int rank,
                const int64_t *dim)
{
    struct rig_tensor *t = find(r, name);
    if (!t) {
        assert_true(r->n < MAX_TENSORS);
        t = &r->tensors[r->n];
        r->n++;
    }
    lab_free(t->block);
    *t = (struct rig_tensor){.view = {.dtype = dtype, .rank = rank}};
    assert_true(strlen(name) < sizeof(t->name));
    memcpy(t->name, name, strlen(name) + 1);
    t->view.count = 1;
    for (int d = 0; d < rank; d++) {
        t->view.dim[d] = dim[d];
        t->view.count *= dim[d];
    }
    t->bytes = (size_t)t->view.count * lab_dtype_bytes(dtype);
    t->block = lab_alloc_aligned(t->bytes + 2 * GUARD_BYTES);
    assert_non_null(t->block);
    memset(t->block, GUARD, t->bytes + 2 * GUARD_BYTES);
    t->view.data = t->block + GUARD_BYTES;
    poison(t);
}

void rig_add(struct rig *r, const char *name, int rank, const int64_t *dim)
{
    add(r, name, r->kind == RIG_REF_F64 ? LAB_F64 : LAB_F32, rank, dim);
}

void rig_add_labels(struct rig *r, const char *name, int64_t count)
{
    add(r, name, LAB_I32, 1, &count);
}

void rig_put(struct rig *r, const char *name, int64_t i, double value)
{
    struct rig_tensor *t = must_find(r, name);
    assert_true(i >= 0 && i < t->view.count);
    if (t->view.dtype == LAB_F64)
        ((double *)t->view.data)[i] = value;
    else if (t->view.dtype == LAB_F32)
        ((float *)t->view.data)[i] = (float)value;
    else
        ((int32_t *)t->view.data)[i] = (int32_t)value;
}

double rig_get(const struct rig *r, const char *name, int64_t i)
{
    const struct rig_tensor *t = must_find(r, name);
    assert_true(i >= 0 && i < t->view.count);
    if (t->view.dtype == LAB_F64)
        return ((const double *)t->view.data)[i];
    if (t->view.dtype == LAB_F32)
        return (double)((const float *)t->view.data)[i];
    return ((const int32_t *)t->view.data)[i];
}

void rig_set(struct rig *r, const char *name, const double *values)
{
    for (int64_t i = 0; i < rig_size(r, name); i++)
        rig_put(r, name, i, values[i]);
}

int64_t rig_size(const struct rig *r, const char *name)
{
    return must_find(r, name)->view.count;
}

const struct lab_view *rig_view(const struct rig *r, const char *name)
{
    return &must_find(r, name)->view;
}

void rig_random(struct rig *r, const char *name, uint64_t seed, double low,
                double high)
{
    bool whole = rig_view(r, name)->dtype == LAB_I32;
    for (int64_t i = 0; i < rig_size(r, name); i++) {
        float u = lab_random_unit(lab_random_word(seed, 1, 2, (uint64_t)i));
        double value = low + (high - low) * (double)u;
        rig_put(r, name, i, whole ? floor(value) : (double)(float)value);
    }
}

/* Splits "dW dx" into views; returns how many. */
static int gather(struct rig *r, struct lab_view *views, const char *names,
                  bool outputs)
{
    int n = 0;
    char word[NAME_BYTES];
    int used;
    while (sscanf(names, " %23s%n", word, &used) == 1) {
        assert_true(n < MAX_ARGS);
        names += used;
        bool keep = word[0] == '+';
        if (strcmp(word, "-") == 0) {
            views[n] = (struct lab_view){0};
        } else {
            struct rig_tensor *t = must_find(r, word + keep);
            if (outputs && !keep)
                poison(t);
            views[n] = t->view;
        }
        n++;
    }
    return n;
}

static void check_guards(const struct rig *r, const char *what)
{
    for (int i = 0; i < r->n; i++) {
        const struct rig_tensor *t = &r->tensors[i];
        for (int k = 0; k < GUARD_BYTES; k++) {
            if (t->block[k] != GUARD ||
                t->block[GUARD_BYTES + t->bytes + (size_t)k] != GUARD)
                fail_msg("%s wrote outside %s", what, t->name);
        }
    }
}

void rig_run(struct rig *r, const char *op, const char *step,
             enum lab_phase phase, const char *outs, const char *ins,
             const void *params)
{
    const struct lab_variant *row = find_variant(r->kind, op, step, phase);
    r->call.n_out = gather(r, r->out, outs, true);
    r->call.n_in = gather(r, r->in, ins, false);
    r->call.out = r->out;
    r->call.in = r->in;
    r->call.params = params;
    if (row->prepare && row->prepare(&r->call) == LAB_E_UNSUPPORTED)
        row = find_variant(RIG_REF_F32, op, step, phase);
    enum lab_status st = row->run(&r->call);
    if (st)
        fail_msg("%s %s.%s: %s", rig_name(r->kind), op, step ? step : "(group)",
                 lab_error());
    check_guards(r, row->symbol);
}

void rig_run_all(struct rig *r, const char *op, enum lab_phase phase,
                 const char *steps, const void *params)
{
    char step[40];
    char outs[40];
    char ins[40];
    int used;
    while (sscanf(steps, " %39s %39[^<]< %39[^,]%n", step, outs, ins, &used) ==
           3) {
        char *dot = strchr(step, '.');
        if (dot)
            *dot = '\0';
        rig_run(r, dot ? step : op, dot ? dot + 1 : step, phase, outs, ins,
                params);
        steps += used + (steps[used] == ',');
    }
    assert_string_equal(steps, "");
}

void rig_compare(const char *what, const struct rig *r, const char *name,
                 const double *ref, int64_t count, double tolerance)
{
    double largest = 0;
    double worst = -1;
    int64_t at = 0;
    assert_int_equal(rig_size(r, name), count);
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(ref[i]) && fabs(ref[i]) > largest)
            largest = fabs(ref[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        double got = rig_get(r, name, i);
        double off = fabs(got - ref[i]);
        if (got == ref[i] || (isnan(got) && isnan(ref[i])))
            off = 0; /* equal infinities too, whose difference is NaN */
        else if (isnan(off))
            off = INFINITY;
        if (off > worst) {
            worst = off;
            at = i;
        }
    }
    if (worst > tolerance * (1 + largest))
        fail_msg("%s: %s: %s[%lld] is %.9g, reference %.9g: off by %.3g, "
                 "allowed %.3g",
                 rig_name(r->kind), what, name, (long long)at,
                 rig_get(r, name, at), ref[at], worst,
                 tolerance * (1 + largest));
}

void rig_compare_rigs(const char *what, const struct rig *got,
                      const struct rig *ref, const char *name, double tolerance)
{
    int64_t count = rig_size(ref, name);
    double *values = lab_alloc_array((size_t)count, sizeof(*values));
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = rig_get(ref, name, i);
    rig_compare(what, got, name, values, count, tolerance);
    lab_free(values);
}
