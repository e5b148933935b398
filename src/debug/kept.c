/* kept.c -- a trained network as a safetensors file: reads and checks one,
 * begins a walk with it, and writes one beside its place, renamed when it is
 * whole. */
#include "debug/kept.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/export.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the format is little-endian, and tensors are written as they "
              "are");

/* The format's own limit of a header, and of what a header may name. */
enum { HEAD_BYTES = 8, MOST_HEADER = 100000000, MOST_TENSORS = 1 << 20 };

/* At a microsecond an iteration, almost three hours: no training here gets as
 * far, and beyond it the counts of epochs and rows make no sense. */
static const int64_t MOST_ITERATIONS = 10000000000;

static const char *const dtype_names[LAB_DTYPE_COUNT] = {[LAB_F32] = "F32",
                                                         [LAB_F64] = "F64",
                                                         [LAB_I32] = "I32",
                                                         [LAB_F16] = "F16",
                                                         [LAB_BFLOAT16] =
                                                             "BF16"};

struct kept_tensor {
    const char *name; /* the header's */
    const char *dtype;
    struct lab_shape shape;
    uint64_t from; /* bytes into `data` */
    uint64_t to;
};

struct lab_kept {
    char *path;
    int fd;       /* the file, for the values of tensors */
    int64_t data; /* bytes before the first of them */
    uint64_t data_bytes;
    json_t *header;
    struct kept_tensor *tensors;
    int n;
    struct lab_kept_facts facts;
};

static enum lab_status bad(const struct lab_kept *k, const char *fmt, ...)
    LAB_PRINTF(2, 3);
static enum lab_status bad(const struct lab_kept *k, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(LAB_E_PARSE, fmt, args);
    va_end(args);
    char text[512]; /* the file's names are in it */
    lab_visible_copy(text, sizeof(text), lab_error());
    return lab_fail_id(LAB_E_PARSE, lab_error_id(),
                       "%s: no network that can be read: %s", k->path, text);
}

/* ---- reading ---- */

/* The header alone: no memory is taken for more than the file has. */
static enum lab_status read_header(struct lab_kept *k)
{
    int64_t size;
    uint64_t n;
    json_error_t why;
    enum lab_status st = lab_file_open(k->path, &k->fd, &size);
    if (st)
        return st;
    if (size < HEAD_BYTES + 2)
        return bad(k, "[kept.short] %lld bytes are too few for a header",
                   (long long)size);
    st = lab_file_read(k->fd, k->path, 0, &n, sizeof(n));
    if (st)
        return st;
    if (n > MOST_HEADER)
        return bad(k,
                   "[kept.header-size] its header would have %" PRIu64
                   " bytes, and %d is the most: it is of another format",
                   n, MOST_HEADER);
    if (n > (uint64_t)size - HEAD_BYTES)
        return bad(k,
                   "[kept.header-cut] its header has %" PRIu64
                   " bytes and the file %lld: it is cut short",
                   n, (long long)size);
    char *text = lab_alloc((size_t)n + 1);
    if (!text)
        return lab_no_memory("a network's header");
    st = lab_file_read(k->fd, k->path, HEAD_BYTES, text, (size_t)n);
    if (!st)
        k->header = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &why);
    lab_free(text);
    if (st)
        return st;
    if (!json_is_object(k->header))
        return bad(k, "[kept.json] its header: %s",
                   k->header ? "it is no JSON object" : why.text);
    k->data = HEAD_BYTES + (int64_t)n;
    k->data_bytes = (uint64_t)(size - k->data);
    return LAB_OK;
}

/* A list of whole numbers from 0; -1: it is none, or longer than `most`. */
static int read_list(const json_t *list, int64_t *out, int most)
{
    int n = json_is_array(list) ? (int)json_array_size(list) : -1;
    for (int i = 0; i < n && i < most; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return -1;
        out[i] = json_integer_value(v);
    }
    return n <= most ? n : -1;
}

static enum lab_status read_entry(struct lab_kept *k, const char *name,
                                  const json_t *entry)
{
    struct kept_tensor *t = &k->tensors[k->n++];
    int64_t range[2] = {0, 0};
    t->name = name;
    t->dtype = json_string_value(json_object_get(entry, "dtype"));
    t->shape.rank =
        read_list(json_object_get(entry, "shape"), t->shape.dim, LAB_MAX_RANK);
    if (!t->dtype || t->shape.rank < 0)
        return bad(k,
                   "[kept.tensor-shape] %s has no dtype, or no shape of up to "
                   "%d whole numbers",
                   name, LAB_MAX_RANK);
    if (read_list(json_object_get(entry, "data_offsets"), range, 2) != 2)
        return bad(k, "[kept.tensor-offsets] %s has no two data_offsets", name);
    t->from = (uint64_t)range[0];
    t->to = (uint64_t)range[1];
    if (t->from > t->to || t->to > k->data_bytes)
        return bad(k,
                   "[kept.tensor-outside] %s would be bytes %" PRIu64
                   " to %" PRIu64 " of %" PRIu64
                   ": the file is cut short, or damaged",
                   name, t->from, t->to, k->data_bytes);
    return LAB_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct kept_tensor *x = a;
    const struct kept_tensor *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* As the format has it: one behind the other, without a gap, to the end. */
static enum lab_status check_places(const struct lab_kept *k)
{
    uint64_t at = 0;
    for (int i = 0; i < k->n; i++) {
        const struct kept_tensor *t = &k->tensors[i];
        if (t->from < at)
            return bad(k, "[kept.tensors-overlap] %s and %s overlap",
                       k->tensors[i - 1].name, t->name);
        if (t->from > at)
            return bad(k,
                       "[kept.tensors-gap] nothing is in the bytes before %s",
                       t->name);
        at = t->to;
    }
    if (at != k->data_bytes)
        return bad(k,
                   "[kept.bytes-left] %" PRIu64 " bytes behind the last tensor",
                   k->data_bytes - at);
    return LAB_OK;
}

static enum lab_status read_tensors(struct lab_kept *k)
{
    const char *name;
    json_t *entry;
    enum lab_status st = LAB_OK;
    size_t n = json_object_size(k->header);
    if (n > MOST_TENSORS)
        return bad(k, "[kept.tensor-count] %zu tensors", n);
    k->tensors = lab_alloc_array(n + 1, sizeof(*k->tensors));
    if (!k->tensors)
        return lab_no_memory("a network's tensors");
    json_object_foreach(k->header, name, entry)
    {
        if (!st && strcmp(name, "__metadata__") != 0)
            st = read_entry(k, name, entry);
    }
    if (st)
        return st;
    if (k->n > 1)
        qsort(k->tensors, (size_t)k->n, sizeof(*k->tensors), by_place);
    return check_places(k);
}

/* A whole number in a text of the metadata; false: it is none. */
static bool read_number(const json_t *meta, const char *key, uint64_t most,
                        uint64_t *out)
{
    const char *text = json_string_value(json_object_get(meta, key));
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && !*end && *out <= most;
}

static enum lab_status read_facts(struct lab_kept *k)
{
    const json_t *meta = json_object_get(k->header, "__metadata__");
    struct lab_kept_facts *f = &k->facts;
    uint64_t n[3];
    f->lr = NAN;
    if (!json_object_get(meta, "lesson"))
        return LAB_OK;
    f->lesson = json_string_value(json_object_get(meta, "lesson"));
    f->optimizer = json_string_value(json_object_get(meta, "optimizer"));
    const char *rate =
        json_string_value(json_object_get(meta, "learning_rate"));
    const struct {
        const char *key;
        bool read;
    } facts[] = {
        {"lesson", f->lesson != NULL},
        {"seed", read_number(meta, "seed", UINT64_MAX, &f->seed)},
        {"iteration", read_number(meta, "iteration", INT64_MAX, &n[0])},
        {"batch", read_number(meta, "batch", INT64_MAX, &n[1])},
        {"train_rows", read_number(meta, "train_rows", INT64_MAX, &n[2])},
        {"optimizer", f->optimizer != NULL},
        {"learning_rate", rate != NULL}};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const char *text =
            json_string_value(json_object_get(meta, facts[i].key));
        if (!facts[i].read && text)
            return bad(k,
                       "[kept.metadata-number] %s of its __metadata__ is "
                       "\"%.40s\": a whole number from 0 on was expected",
                       facts[i].key, text);
        if (!facts[i].read)
            return bad(k, "[kept.metadata] its __metadata__ lacks %s, a text",
                       facts[i].key);
    }
    if (strcmp(rate, "none") != 0 && lab_lr_read(rate, &f->lr))
        return bad(k, "[kept.learning-rate] learning_rate: %s", lab_error());
    f->iteration = (int64_t)n[0];
    if (f->iteration > MOST_ITERATIONS)
        return bad(k,
                   "[kept.iteration] iteration %" PRId64
                   " is after the last that can be continued, %" PRId64,
                   f->iteration, MOST_ITERATIONS);
    f->batch = (int64_t)n[1];
    f->train_rows = (int64_t)n[2];
    return LAB_OK;
}

enum lab_status lab_kept_open(struct lab_kept **out, const char *path)
{
    struct lab_kept *k = lab_alloc(sizeof(*k));
    if (k) {
        k->fd = -1;
        k->path = lab_strdup(path);
    }
    if (!k || !k->path) {
        lab_kept_free(k);
        return lab_no_memory("a network's file");
    }
    enum lab_status st = read_header(k);
    if (!st)
        st = read_tensors(k);
    if (!st)
        st = read_facts(k);
    if (st)
        lab_kept_free(k);
    else
        *out = k;
    return st;
}

void lab_kept_free(struct lab_kept *k)
{
    if (!k)
        return;
    json_decref(k->header);
    lab_free(k->tensors);
    if (k->fd >= 0)
        close(k->fd);
    lab_free(k->path);
    lab_free(k);
}

enum lab_status lab_kept_facts(const struct lab_kept *k, const char *lesson,
                               struct lab_kept_facts *out)
{
    if (!k->facts.lesson)
        return lab_fail(LAB_E_PARSE,
                        "[kept.foreign] %s: another program wrote it, and it "
                        "has no seed and no iteration to continue from: use "
                        "--load, which takes the parameters",
                        k->path);
    char of[64];
    lab_visible_copy(of, sizeof(of), k->facts.lesson);
    if (strcmp(k->facts.lesson, lesson) != 0)
        return lab_fail(
            LAB_E_PARSE,
            "[kept.lesson] %s: it is a network of the lesson %s, and this is "
            "%s: --load takes its parameters if all names and shapes fit",
            k->path, of, lesson);
    *out = k->facts;
    return LAB_OK;
}

/* ---- beginning a walk with it ---- */

struct taking {
    const struct lab_kept *kept;
    const struct lab_plan *plan;
    enum lab_kept_use use;
    struct lab_str *wrong; /* the values that are no finite numbers */
    int n_wrong;           /* tensors with such values */
};

/* "fc1.W.velocity": what an optimizer keeps of a parameter. */
static bool is_optimizer_state(const struct lab_plan *plan, const char *name)
{
    const char *dot = strrchr(name, '.');
    char *of = dot ? lab_strndup(name, (size_t)(dot - name)) : NULL;
    int t = of ? lab_plan_tensor(plan, of) : -1;
    lab_free(of);
    return t >= 0 && plan->tensors[t].role == LAB_TENSOR_PARAM;
}

static bool is_kept(const struct lab_tensor *t)
{
    return t->persistent && t->alias_of < 0;
}

static bool is_taken(const struct taking *how, const char *name)
{
    return how->use == LAB_KEPT_CONTINUE ||
           !is_optimizer_state(how->plan, name);
}

static const struct kept_tensor *find(const struct lab_kept *k,
                                      const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->tensors[i].name, name) == 0)
            return &k->tensors[i];
    return NULL;
}

/* One line of what does not fit; the first ones are named, all are counted. */
struct misfits {
    struct lab_str text;
    int n;
};

static void misfit(struct misfits *m, const char *fmt, ...) LAB_PRINTF(2, 3);
static void misfit(struct misfits *m, const char *fmt, ...)
{
    enum { NAMED = 10 };
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    lab_utf8_trim(text);
    if (m->n++ >= NAMED)
        return;
    lab_str_add(&m->text, m->n > 1 ? "; " : "");
    lab_str_add_visible(&m->text, text, strlen(text), false);
}

static void compare(struct misfits *m, const struct kept_tensor *has,
                    const struct lab_tensor *want)
{
    char a[LAB_SHAPE_TEXT];
    char b[LAB_SHAPE_TEXT];
    if (!has)
        misfit(m, "%s %s is not in it", want->name,
               lab_shape_text(&want->shape, a));
    else if (!lab_shape_equal(&has->shape, &want->shape))
        misfit(m, "%s is %s in it and %s here", want->name,
               lab_shape_text(&has->shape, a), lab_shape_text(&want->shape, b));
    else if (strcmp(has->dtype, dtype_names[want->dtype]) != 0)
        misfit(m, "%s is of %s in it and of %s here", want->name, has->dtype,
               dtype_names[want->dtype]);
    else if (has->to - has->from != lab_tensor_bytes(want))
        misfit(m, "%s %s has %" PRIu64 " bytes in it", want->name,
               lab_shape_text(&want->shape, a), has->to - has->from);
}

static void compare_tensors(struct misfits *m, const struct taking *how)
{
    const struct lab_plan *plan = how->plan;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (is_kept(t) && is_taken(how, t->name))
            compare(m, find(how->kept, t->name), t);
    }
    for (int i = 0; i < how->kept->n; i++) {
        const char *name = how->kept->tensors[i].name;
        int t = lab_plan_tensor(plan, name);
        if (is_taken(how, name) && (t < 0 || !is_kept(&plan->tensors[t])))
            misfit(m, "%s is in it and not in this network", name);
    }
}

static void compare_facts(struct misfits *m, const struct lab_walk *walk,
                          const struct lab_kept_facts *f)
{
    const struct lab_data *data = lab_walk_data(walk);
    const char *optimizer =
        lab_network_optimizer(lab_data_spec_of(data)).op->name;
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    if (strcmp(f->optimizer, optimizer) != 0)
        misfit(m, "its optimizer is %s and this one %s", f->optimizer,
               optimizer);
    if (f->batch != lab_walk_plan(walk)->batch)
        misfit(m, "its batch is %lld and this one %lld", (long long)f->batch,
               (long long)lab_walk_plan(walk)->batch);
    if (f->train_rows != facts.train_rows)
        misfit(m, "it was trained on %lld rows and here are %lld",
               (long long)f->train_rows, (long long)facts.train_rows);
}

/* All ones in the exponent: NaN or infinite. */
static bool is_finite(enum lab_dtype dtype, const void *data, int64_t i)
{
    if (dtype == LAB_F32)
        return isfinite(((const float *)data)[i]);
    if (dtype == LAB_F64)
        return isfinite(((const double *)data)[i]);
    int exponent = dtype == LAB_F16 ? 0x7c00 : 0x7f80;
    return (((const uint16_t *)data)[i] & exponent) != exponent;
}

/* The first tensors are named, with how many of their values and where the first is. */
static void count_wrong(struct taking *how, const struct lab_tensor *t,
                        const void *data)
{
    enum { NAMED = 4 };
    int64_t n = 0;
    int64_t first = 0;
    for (int64_t i = 0; i < t->count && t->dtype != LAB_I32; i++)
        if (!is_finite(t->dtype, data, i) && n++ == 0)
            first = i;
    if (n == 0 || how->n_wrong++ > NAMED)
        return;
    if (how->n_wrong > NAMED) {
        lab_str_add(how->wrong, "; and more");
        return;
    }
    char at[LAB_SHAPE_TEXT];
    struct lab_shape place = t->shape;
    lab_shape_unravel(&t->shape, first, place.dim);
    lab_str_addf(how->wrong, "%s%lld of %lld in %s, the first at %s",
                 how->n_wrong > 1 ? "; " : "", (long long)n,
                 (long long)t->count, t->name, lab_shape_text(&place, at));
}

static enum lab_status fill(void *user, const struct lab_tensor *t, void *out)
{
    struct taking *how = user;
    const struct kept_tensor *has =
        is_taken(how, t->name) ? find(how->kept, t->name) : NULL;
    if (!has)
        return LAB_OK;
    enum lab_status st = lab_file_read(how->kept->fd, how->kept->path,
                                       how->kept->data + (int64_t)has->from,
                                       out, lab_tensor_bytes(t));
    if (!st)
        count_wrong(how, t, out);
    return st;
}

enum lab_status lab_kept_take(const struct lab_kept *k, struct lab_walk *walk,
                              enum lab_kept_use use,
                              const struct lab_walk_ready *ready,
                              struct lab_str *notice)
{
    struct lab_str wrong;
    struct taking how = {k, lab_walk_plan(walk), use, &wrong, 0};
    struct lab_walk_start from = {.user = &how, .fill = fill};
    struct misfits m = {.n = 0};
    enum lab_status st = LAB_OK;
    if (ready)
        from.ready = *ready;
    lab_str_init(&m.text);
    lab_str_init(&wrong);
    if (use == LAB_KEPT_CONTINUE) {
        from.iteration = k->facts.iteration;
        compare_facts(&m, walk, &k->facts);
    }
    compare_tensors(&m, &how);
    if (m.n > 0) {
        char of[64];
        lab_visible_copy(of, sizeof(of), k->facts.lesson);
        st = lab_fail(LAB_E_SHAPE, "[kept.network] %s%s%s does not fit: %s%s",
                      k->path, *of ? ", a network of " : "", of,
                      lab_str_text(&m.text), m.n > 10 ? "; and more" : "");
    }
    lab_str_release(&m.text);
    if (!st)
        st = lab_walk_start_from(walk, &from);
    if (!st && how.n_wrong > 0)
        lab_str_addf(notice, "%s has NaN or infinite values: %s\n", k->path,
                     lab_str_text(&wrong));
    lab_str_release(&wrong);
    return st;
}

/* ---- writing ---- */

enum lab_status lab_kept_check_place(const char *path, const char *db,
                                     bool force)
{
    struct lab_export_file f;
    if (!path[0])
        return lab_fail(LAB_E_USAGE,
                        "[kept.place-empty] --save wants the name of a file");
    enum lab_status st = lab_export_open(&f, path, db, true, force);
    if (st)
        return st;
    st = lab_export_close(&f, LAB_E_CANCELLED); /* removed again */
    return st == LAB_E_CANCELLED ? LAB_OK : st;
}

static void add_fact(json_t *meta, const char *key, const char *fmt, ...)
    LAB_PRINTF(3, 4);
static void add_fact(json_t *meta, const char *key, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    json_object_set_new(meta, key, json_string(text));
}

static json_t *metadata_of(const struct lab_walk *walk, const char *lesson,
                           int64_t iterations)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    const struct lab_data *data = lab_walk_data(walk);
    double lr = lab_walk_lr(walk);
    struct lab_data_facts facts;
    json_t *meta = json_object();
    lab_data_get_facts(data, &facts);
    json_object_set_new(meta, "lesson", json_string(lesson));
    add_fact(meta, "optimizer", "%s",
             lab_network_optimizer(lab_data_spec_of(data)).op->name);
    if (isnan(lr))
        add_fact(meta, "learning_rate", "none");
    else
        add_fact(meta, "learning_rate", "%.17g", lr);
    add_fact(meta, "seed", "%" PRIu64, plan->seed);
    add_fact(meta, "iteration", "%" PRId64, iterations);
    add_fact(meta, "batch", "%" PRId64, plan->batch);
    add_fact(meta, "train_rows", "%" PRId64, facts.train_rows);
    return meta;
}

/* Filled up with blanks, so that the tensors begin at a multiple of 8. */
static enum lab_status write_header(FILE *to, const struct lab_walk *walk,
                                    const char *lesson, int64_t iterations)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    json_t *header = json_object();
    json_int_t at = 0;
    int n_kept = 0;
    json_object_set_new(header, "__metadata__",
                        metadata_of(walk, lesson, iterations));
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        json_int_t end = at + (json_int_t)lab_tensor_bytes(t);
        json_t *shape;
        if (!is_kept(t))
            continue;
        shape = json_array();
        for (int k = 0; k < t->shape.rank; k++)
            json_array_append_new(shape, json_integer(t->shape.dim[k]));
        json_object_set_new(header, t->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype",
                                      dtype_names[t->dtype], "shape", shape,
                                      "data_offsets", at, end));
        at = end;
        n_kept++;
    }
    bool whole_header = (int)json_object_size(header) == n_kept + 1;
    char *text = whole_header ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (!text)
        return lab_no_memory("a network's header");
    size_t n = strlen(text);
    uint64_t whole = (n + 7) / 8 * 8;
    bool done = fwrite(&whole, sizeof(whole), 1, to) == 1 &&
                fprintf(to, "%s%*s", text, (int)(whole - n), "") >= 0;
    free(text);
    return done
               ? LAB_OK
               : lab_fail(LAB_E_IO, "[kept.write] cannot write the network: %s",
                          strerror(errno));
}

static enum lab_status write_tensors(FILE *to, struct lab_walk *walk, bool old)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    enum lab_status st = LAB_OK;
    for (int i = 0; i < plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        size_t n = lab_tensor_bytes(t);
        if (!is_kept(t))
            continue;
        void *data = lab_alloc(n);
        st = data ? lab_walk_read(walk, i, old, data)
                  : lab_fail(LAB_E_NOMEM, "no memory to keep %s", t->name);
        if (!st && fwrite(data, 1, n, to) != n)
            st =
                lab_fail(LAB_E_IO, "[kept.create] cannot write the network: %s",
                         strerror(errno));
        lab_free(data);
    }
    return st;
}

enum lab_status lab_kept_save(struct lab_walk *walk, const char *lesson,
                              const char *path, const char *db, bool force,
                              int64_t *iterations)
{
    struct lab_export_file f;
    bool within = lab_walk_position(walk) > 0 && !lab_walk_at_end(walk);
    int64_t n = lab_walk_iteration(walk) + lab_walk_at_end(walk);
    enum lab_status st = lab_walk_drain(walk);
    if (!st)
        st = lab_export_open(&f, path, db, true, force);
    if (st)
        return st;
    st = write_header(f.stream, walk, lesson, n);
    if (!st)
        st = write_tensors(f.stream, walk, within);
    st = lab_export_close(&f, st);
    if (!st)
        *iterations = n;
    return st;
}
