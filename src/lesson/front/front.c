/* front.c -- a lesson's front matter, key by key: its data, network, run, what is
 * printed, and a lab with its slides. */
#include "front.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/vocabulary.h"
#include "base/str.h"
#include "engine/ladder.h"
#include "lesson/lesson.h"
#include "labs/cpu_rungs.h"

enum lab_status lab_front_pass(enum lab_status st)
{
    return st == LAB_E_NOMEM ? st : LAB_OK;
}

struct lab_place lab_front_place(const struct lab_ynode *node)
{
    return (struct lab_place){node->line, node->column};
}

struct lab_place lab_front_key_place(const struct lab_ynode *node)
{
    if (!node->key)
        return lab_front_place(node);
    return (struct lab_place){node->key_line, node->key_column};
}

static enum lab_status front_string(struct lab_front *f,
                                    const struct lab_ynode *node, size_t most,
                                    char **out)
{
    const char *text = NULL;
    struct lab_reader scratch = *f->r;
    scratch.arena = f->tree;
    enum lab_status st = lab_y_text(&scratch, node, most, &text);
    if (st)
        return st;
    char *copy = lab_strdup(text);
    if (!copy)
        return lab_y_nomem(f->r);
    lab_free(*out);
    *out = copy;
    return LAB_OK;
}

static const struct lab_node_spec *
front_find_node(const struct lab_network_spec *spec, const char *name,
                bool prefix)
{
    const struct lab_node_spec *best = NULL;
    size_t longest = 0;
    for (int i = 0; i < spec->n_nodes; i++) {
        const char *id = spec->nodes[i].id;
        size_t len = id ? strlen(id) : 0;
        bool fits = len > longest && strncmp(name, id, len) == 0 &&
                    (name[len] == '\0' || (prefix && name[len] == '.'));
        if (fits) {
            best = &spec->nodes[i];
            longest = len;
        }
    }
    return best;
}

static const char **front_names(struct lab_front *f, bool nodes, bool tensors,
                                size_t *count)
{
    const struct lab_network_spec *s = f->spec;
    size_t n = 0;
    const char **names = lab_arena_array(
        f->tree, (size_t)s->n_nodes + (size_t)s->data.n_tensors + 2,
        sizeof(*names));
    if (!names) {
        lab_y_nomem(f->r);
        return NULL;
    }
    for (int i = 0; nodes && i < s->n_nodes; i++) {
        if (s->nodes[i].id)
            names[n++] = s->nodes[i].id;
    }
    for (int i = 0; tensors && i < s->data.n_tensors; i++) {
        if (s->data.tensors[i].name)
            names[n++] = s->data.tensors[i].name;
    }
    if (tensors && s->data.source != LAB_DATA_INLINE)
        names[n++] = "x";
    if (tensors && lab_data_source_more(s->data.source))
        names[n++] = lab_data_source_more(s->data.source);
    *count = n;
    return names;
}

/* Reading nested lists: the shape is that of the first elements, and every
 * other list must have the same length at its depth. */
struct nest {
    struct lab_front *f;
    const char *name;
    struct lab_shape shape;
    double *values;
    int64_t filled;
    int64_t at[LAB_MAX_RANK];
    bool integers;
};

static enum lab_status take_number(struct lab_front *f,
                                   const struct lab_ynode *node, double *out,
                                   bool *integers)
{
    double value = 0;
    bool whole = false;
    enum lab_status st = lab_y_number(f->r, node, &value, &whole);
    if (st)
        return st;
    if (fabs(value) > FLT_MAX)
        return lab_y_fail(f->r, node, LAB_E_RANGE,
                          "%s is Inf in single precision: at most 3.4e38",
                          node->text);
    *integers = *integers && whole;
    *out = value;
    return LAB_OK;
}

static const char *position(const struct nest *n, int depth, char *buf,
                            size_t size)
{
    size_t len =
        (size_t)snprintf(buf, size, "%.*s", LAB_FRONT_NAME_BYTES * 2, n->name);
    for (int i = 0; i < depth && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "[%lld]",
                                (long long)n->at[i]);
    return buf;
}

static enum lab_status first_shape(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_shape *shape)
{
    for (; node && node->kind == LAB_Y_LIST; node = node->first) {
        if (node->count == 0)
            return lab_y_fail(f->r, node, LAB_E_SHAPE,
                              "an empty list: a tensor has at least one "
                              "element");
        if (shape->rank == LAB_MAX_RANK)
            return lab_y_fail(f->r, node, LAB_E_SHAPE,
                              "more than %d dimensions", LAB_MAX_RANK);
        shape->dim[shape->rank++] = node->count;
    }
    return LAB_OK;
}

static enum lab_status fill_nest(struct nest *n, const struct lab_ynode *node,
                                 int depth)
{
    char where[320];
    struct lab_reader *r = n->f->r;
    if (depth == n->shape.rank) {
        if (node->kind == LAB_Y_LIST)
            return lab_y_fail(r, node, LAB_E_SHAPE,
                              "ragged: a list at %s, where the first element "
                              "is a number",
                              position(n, depth, where, sizeof(where)));
        return take_number(n->f, node, &n->values[n->filled++], &n->integers);
    }
    if (node->kind != LAB_Y_LIST)
        return lab_y_fail(r, node, LAB_E_SHAPE,
                          "ragged: %s is no list, the first one is a list of "
                          "%lld",
                          position(n, depth, where, sizeof(where)),
                          (long long)n->shape.dim[depth]);
    if (node->count != n->shape.dim[depth])
        return lab_y_fail(r, node, LAB_E_SHAPE,
                          "ragged: %s is %lld long, the first "
                          "one %lld",
                          position(n, depth, where, sizeof(where)),
                          (long long)node->count,
                          (long long)n->shape.dim[depth]);
    n->at[depth] = 0;
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        enum lab_status st = fill_nest(n, c, depth + 1);
        if (st)
            return st;
        n->at[depth]++;
    }
    return LAB_OK;
}

static enum lab_status take_nested(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    struct nest n = {.f = f, .name = node->key, .integers = true};
    int64_t count = 0;
    enum lab_status st = first_shape(f, node, &n.shape);
    if (st)
        return st;
    st = lab_shape_count(&n.shape, &count);
    if (st)
        return lab_y_fail(f->r, node, st, "%s", lab_error());
    /* Ragged lists may promise far more than the file holds. */
    if (count > LAB_SOURCE_MAX_BYTES)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "ragged: the first lists promise %lld elements",
                          (long long)count);
    n.values = lab_alloc_array((size_t)count, sizeof(double));
    if (!n.values)
        return lab_y_nomem(f->r);
    st = fill_nest(&n, node, 0);
    if (st) {
        lab_free(n.values);
        return st;
    }
    out->shape = n.shape;
    out->count = count;
    out->values = n.values;
    out->integers = n.integers;
    return LAB_OK;
}

static enum lab_status front_shape(struct lab_front *f,
                                   const struct lab_ynode *node, int64_t least,
                                   struct lab_shape *out)
{
    struct lab_shape shape = {0};
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of whole numbers");
    if (st)
        return st;
    if (node->count < 1 || node->count > LAB_MAX_RANK)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "%lld numbers: a tensor has 1 to %d dimensions",
                          (long long)node->count, LAB_MAX_RANK);
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        st = lab_y_int(f->r, c, least, INT64_MAX, &shape.dim[shape.rank]);
        if (st)
            return st;
        shape.rank++;
    }
    *out = shape;
    return LAB_OK;
}

/* A tensor that cannot be held is refused before anything is taken for it. */
static enum lab_status check_memory(struct lab_front *f,
                                    const struct lab_ynode *node, int64_t count)
{
    double need = (double)count * sizeof(float);
    double has = (double)lab_host_memory();
    if (has == 0 || need <= has)
        return LAB_OK;
    return lab_y_fail(f->r, node, LAB_E_SHAPE,
                      "%lld elements take %.3g GiB; this machine has %.3g "
                      "GiB: make the tensor smaller",
                      (long long)count, need / 1073741824.0,
                      has / 1073741824.0);
}

static enum lab_status take_values(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    char text[LAB_SHAPE_TEXT];
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_LIST, "a flat list");
    if (st)
        return st;
    if (node->count != out->count)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "%lld values for the shape %s, which has %lld "
                          "elements",
                          (long long)node->count,
                          lab_shape_text(&out->shape, text),
                          (long long)out->count);
    double *values = lab_alloc_array((size_t)out->count, sizeof(double));
    if (!values)
        return lab_y_nomem(f->r);
    int64_t i = 0;
    out->integers = true;
    for (const struct lab_ynode *c = node->first; c && !st; c = c->next)
        st = take_number(f, c, &values[i++], &out->integers);
    if (st)
        lab_free(values);
    else
        out->values = values;
    return st;
}

struct shaped {
    const struct lab_ynode *shape;
    const struct lab_ynode *values;
    const struct lab_ynode *fill;
};

static enum lab_status keep_shape(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->shape = node;
    return LAB_OK;
}

static enum lab_status keep_values(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->values = node;
    return LAB_OK;
}

static enum lab_status keep_fill(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->fill = node;
    return LAB_OK;
}

static enum lab_status take_shaped(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    static const struct lab_ykey keys[] = {
        {"shape", keep_shape}, {"values", keep_values}, {"fill", keep_fill}};
    struct shaped part = {0};
    enum lab_status st = lab_y_keys(f->r, node, keys, 3, &part);
    if (st)
        return st;
    if (!part.shape || !part.values == !part.fill)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "a tensor has a shape and either values or fill");
    st = front_shape(f, part.shape, 1, &out->shape);
    if (st)
        return st;
    st = lab_shape_count(&out->shape, &out->count);
    if (st)
        return lab_y_fail(f->r, part.shape, st, "%s", lab_error());
    st = check_memory(f, part.shape, out->count);
    if (st)
        return st;
    if (part.values)
        return take_values(f, part.values, out);
    out->integers = true;
    return take_number(f, part.fill, &out->fill, &out->integers);
}

static enum lab_status front_tensor(struct lab_front *f,
                                    const struct lab_ynode *node,
                                    struct lab_tensor_spec *out)
{
    out->place = lab_front_key_place(node);
    out->name = lab_strdup(node->key);
    if (!out->name)
        return lab_y_nomem(f->r);
    if (node->kind == LAB_Y_LIST)
        return take_nested(f, node, out);
    if (node->kind == LAB_Y_MAP)
        return take_shaped(f, node, out);
    return lab_y_want(f->r, node, LAB_Y_LIST,
                      "a tensor (nested lists, or shape with values or fill)");
}

/* A TENSOR out of words: the texts of a lesson, numbered. */

enum form { FORM_IDS, FORM_ONE_HOT, FORM_COUNTS, FORM_COUNT };
enum { MOST_PLACES = 1 << 16 };

struct wording {
    struct lab_front *f;
    const char **texts;
    int64_t n;
    size_t form;
    struct lab_padding pad;
    struct lab_vocabulary_rule rule;
    const struct lab_ynode *of_rule; /* a key that belongs to the vocabulary */
    const struct lab_ynode *of_ids;  /* one that only ids have */
};

static enum lab_status take_texts(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct wording *w = user;
    enum lab_status st =
        lab_y_want(r, node, LAB_Y_LIST, "a list of texts in quotes");
    if (st)
        return st;
    if (node->count == 0)
        return lab_y_fail(r, node, LAB_E_SHAPE,
                          "an empty list: at least one text is needed");
    struct lab_reader scratch = *r;
    scratch.arena = w->f->tree;
    w->texts =
        lab_arena_array(w->f->tree, (size_t)node->count, sizeof(*w->texts));
    if (!w->texts)
        return lab_y_nomem(r);
    for (const struct lab_ynode *c = node->first; c && !st; c = c->next)
        st = lab_y_text(&scratch, c, LAB_SOURCE_MAX_BYTES, &w->texts[w->n++]);
    return st;
}

static enum lab_status take_form(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    static const char *const names[FORM_COUNT] = {"ids", "one_hot", "counts"};
    struct wording *w = user;
    return lab_y_choice(r, node, "form", names, FORM_COUNT, &w->form);
}

static enum lab_status take_maxlen(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct wording *w = user;
    w->of_ids = node;
    return lab_y_int(r, node, 1, MOST_PLACES, &w->pad.length);
}

static enum lab_status take_side(struct lab_reader *r,
                                 const struct lab_ynode *node, bool *post)
{
    static const char *const names[] = {"pre", "post"};
    size_t which = 0;
    enum lab_status st = lab_y_choice(r, node, node->key, names, 2, &which);
    if (!st)
        *post = which == 1;
    return st;
}

static enum lab_status take_padding(struct lab_reader *r,
                                    const struct lab_ynode *node, void *user)
{
    struct wording *w = user;
    w->of_ids = node;
    return take_side(r, node, &w->pad.after);
}

static enum lab_status take_truncating(struct lab_reader *r,
                                       const struct lab_ynode *node, void *user)
{
    struct wording *w = user;
    w->of_ids = node;
    return take_side(r, node, &w->pad.cut_end);
}

static enum lab_status take_oov(struct lab_reader *r,
                                const struct lab_ynode *node, void *user)
{
    struct wording *w = user;
    w->of_rule = node;
    return lab_y_bool(r, node, &w->rule.unknown);
}

static enum lab_status take_order(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    static const char *const names[] = {"frequency", "appearance"};
    struct wording *w = user;
    size_t which = 0;
    enum lab_status st = lab_y_choice(r, node, "order", names, 2, &which);
    w->of_rule = node;
    if (!st)
        w->rule.order =
            which ? LAB_WORDS_AS_THEY_COME : LAB_WORDS_FREQUENT_FIRST;
    return st;
}

static enum lab_status read_keys(struct wording *w,
                                 const struct lab_ynode *node)
{
    static const struct lab_ykey keys[] = {{"texts", take_texts},
                                           {"form", take_form},
                                           {"maxlen", take_maxlen},
                                           {"padding", take_padding},
                                           {"truncating", take_truncating},
                                           {"oov", take_oov},
                                           {"order", take_order}};
    enum lab_status st = lab_y_keys(w->f->r, node, keys, 7, w);
    if (st)
        return st;
    if (w->of_ids && w->form != FORM_IDS)
        return lab_y_fail_key(w->f->r, w->of_ids, LAB_E_PARSE,
                              "%s goes with form: ids", w->of_ids->key);
    if (w->of_rule && w->f->spec->data.words)
        return lab_y_fail_key(w->f->r, w->of_rule, LAB_E_PARSE,
                              "%s belongs to the first tensor with texts, "
                              "which makes the vocabulary",
                              w->of_rule->key);
    return LAB_OK;
}

/* The numbers of every text; `longest` of them in one. */
static enum lab_status number_all(const struct wording *w, int32_t **ids,
                                  int64_t *n, int64_t *longest)
{
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < w->n && !st; i++) {
        st = lab_encode(w->f->spec->data.words, w->texts[i], &ids[i], &n[i]);
        if (!st && n[i] > *longest)
            *longest = n[i];
    }
    return st;
}

/* A column for every number but that of the padding. */
static void fill_columns(const struct wording *w, const int32_t *ids, int64_t n,
                         double *row)
{
    for (int64_t k = 0; k < n; k++) {
        double *cell = &row[ids[k] - 1];
        *cell = w->form == FORM_COUNTS ? *cell + 1 : 1;
    }
}

static enum lab_status fill(struct wording *w, const struct lab_ynode *node,
                            int32_t **ids, const int64_t *n, int64_t longest,
                            struct lab_tensor_spec *out)
{
    struct lab_reader *r = w->f->r;
    int64_t columns = w->f->spec->data.words->n - 1;
    if (w->pad.length == 0)
        w->pad.length = longest > 0 ? longest : 1;
    if (w->form == FORM_IDS)
        columns = w->pad.length;
    out->shape = (struct lab_shape){2, {w->n, columns}};
    enum lab_status st = lab_shape_count(&out->shape, &out->count);
    if (!st && out->count > LAB_SOURCE_MAX_BYTES * 8)
        st = lab_fail(LAB_E_SHAPE, "%lld texts of %lld numbers are too many",
                      (long long)w->n, (long long)columns);
    if (st)
        return lab_y_fail(r, node, st, "%s", lab_error());
    out->values = lab_alloc_array((size_t)out->count, sizeof(double));
    if (!out->values)
        return lab_y_nomem(r);
    for (int64_t i = 0; i < w->n; i++) {
        double *row = out->values + i * columns;
        if (w->form == FORM_IDS)
            lab_vocabulary_pad(ids[i], n[i], &w->pad, row);
        else
            fill_columns(w, ids[i], n[i], row);
    }
    out->integers = true;
    out->words = w->form == FORM_IDS ? LAB_WORD_IDS : LAB_WORD_COLUMNS;
    return LAB_OK;
}

static enum lab_status number_and_fill(struct wording *w,
                                       const struct lab_ynode *node,
                                       struct lab_tensor_spec *out)
{
    int32_t **ids = lab_alloc_array((size_t)w->n, sizeof(*ids));
    int64_t *n = lab_alloc_array((size_t)w->n, sizeof(*n));
    int64_t longest = 0;
    enum lab_status st = LAB_E_NOMEM;
    if (ids && n)
        st = number_all(w, ids, n, &longest);
    if (st)
        st = lab_y_nomem(w->f->r);
    else
        st = fill(w, node, ids, n, longest, out);
    for (int64_t i = 0; ids && i < w->n; i++)
        lab_free(ids[i]);
    lab_free(ids);
    lab_free(n);
    return st;
}

static enum lab_status front_words(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    struct lab_data_spec *d = &f->spec->data;
    struct wording w = {.f = f, .rule = {.unknown = true}};
    out->place = lab_front_key_place(node);
    out->name = lab_strdup(node->key);
    if (!out->name)
        return lab_y_nomem(f->r);
    enum lab_status st = read_keys(&w, node);
    if (!st && !d->words) {
        st = lab_vocabulary_make(&d->words, w.texts, (size_t)w.n, &w.rule);
        if (st == LAB_E_NOMEM)
            return lab_y_nomem(f->r);
        if (st)
            return lab_y_fail(f->r, node, st, "%s", lab_error());
    }
    return st ? st : number_and_fill(&w, node, out);
}

/* Which sources take which keys: bits by enum lab_data_source. */
enum {
    INLINE = 1 << LAB_DATA_INLINE,
    CSV = 1 << LAB_DATA_CSV,
    TEXT = 1 << LAB_DATA_TEXT,
    FIBONACCI = 1 << LAB_DATA_FIBONACCI,
    WORDS = 1 << LAB_DATA_WORDS,
    REVERSE = 1 << LAB_DATA_REVERSE,
    OTHERS = ((1 << LAB_DATA_SOURCE_COUNT) - 1) & ~INLINE
};

struct data_key {
    const char *name;
    unsigned sources;
    enum lab_status (*take)(struct lab_front *f, const struct lab_ynode *node);
};

static enum lab_status take_source(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const char *names[LAB_DATA_SOURCE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_DATA_SOURCE_COUNT; i++)
        names[i] = lab_data_source_name((enum lab_data_source)i);
    enum lab_status st = lab_y_choice(f->r, node, "source", names,
                                      LAB_DATA_SOURCE_COUNT, &which);
    if (!st)
        f->spec->data.source = (enum lab_data_source)which;
    return st;
}

/* Does a path lead out of the directory that it is looked up in? */
static bool leaves(const char *path)
{
    int depth = 0;
    for (const char *p = path; *p && depth >= 0;) {
        size_t n = strcspn(p, "/");
        bool up = n == 2 && strncmp(p, "..", 2) == 0;
        bool here = n == 0 || (n == 1 && *p == '.');
        depth += up ? -1 : !here;
        p += n + strspn(p + n, "/");
    }
    return path[0] == '/' || depth < 0;
}

static enum lab_status take_path(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    char *path = NULL;
    enum lab_status st = front_string(f, node, 4000, &path);
    if (st)
        return st;
    f->spec->data.path_leaves = leaves(path);
    if (path[0] != '/' && f->dir && f->dir[0]) {
        struct lab_str joined;
        lab_str_init(&joined);
        lab_str_addf(&joined, "%s/%s", f->dir, path);
        lab_free(path);
        path = lab_str_detach(&joined);
        if (!path)
            return lab_y_nomem(f->r);
    }
    lab_free(f->spec->data.path);
    f->spec->data.path = path;
    return LAB_OK;
}

static enum lab_status take_batch(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.batch);
}

static enum lab_status take_split(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    double share = 0;
    enum lab_status st = lab_y_number(f->r, node, &share, NULL);
    if (!st && !(share > 0 && share <= 1))
        st = lab_y_fail(f->r, node, LAB_E_RANGE,
                        "split: %s is not above 0 and at most 1: it is the "
                        "share that trains",
                        node->text);
    if (!st)
        f->spec->data.split = share;
    return st;
}

static enum lab_status take_shuffle(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.shuffle);
}

static enum lab_status take_context(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.context);
}

static enum lab_status take_length(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.length);
}

static enum lab_status take_alphabet(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.alphabet);
}

static enum lab_status take_rows(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.rows);
}

static enum lab_status take_label(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, -1, 1 << 20, &f->spec->data.label_column);
}

static enum lab_status take_header(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.header);
}

static enum lab_status take_scale(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_number(f->r, node, &f->spec->data.scale, NULL);
}

static enum lab_status take_gradient(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.gradient);
}

static enum lab_status take_model(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    static const char *const names[] = {"cbow", "skip_gram"};
    size_t which = 0;
    enum lab_status st = lab_y_choice(f->r, node, "model", names, 2, &which);
    if (!st)
        f->spec->data.skip_gram = which == 1;
    return st;
}

static enum lab_status take_vocab(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.most_words);
}

static const struct data_key data_keys[] = {
    {"source", INLINE | OTHERS, take_source},
    {"gradient", INLINE, take_gradient},
    {"path", OTHERS & ~FIBONACCI & ~REVERSE, take_path},
    {"batch", OTHERS, take_batch},
    {"split", OTHERS, take_split},
    {"shuffle", OTHERS, take_shuffle},
    {"context", TEXT | FIBONACCI | WORDS, take_context},
    {"length", REVERSE, take_length},
    {"alphabet", REVERSE, take_alphabet},
    {"rows", REVERSE, take_rows},
    {"label", CSV, take_label},
    {"header", CSV, take_header},
    {"scale", CSV, take_scale},
    {"model", WORDS, take_model},
    {"vocab", WORDS, take_vocab},
};
enum { KEY_COUNT = sizeof(data_keys) / sizeof(*data_keys) };

static const struct data_key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(data_keys[i].name, name) == 0)
            return &data_keys[i];
    }
    return NULL;
}

static enum lab_status unknown_key(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const char *names[KEY_COUNT + 2];
    size_t n = 0;
    unsigned source = 1u << f->spec->data.source;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (data_keys[i].sources & source)
            names[n++] = data_keys[i].name;
    }
    if (f->spec->data.source == LAB_DATA_INLINE) {
        names[n++] = "x";
        names[n++] = "y";
    }
    return lab_y_fail_unknown(f->r, node, "key", node->key, names, n);
}

/* A key of inline data that is not one of ours is a tensor's name. */
static enum lab_status check_tensor_name(struct lab_front *f,
                                         const struct lab_ynode *node)
{
    const char *s = node->key;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    if (!strchr(letters, s[0]) || s[strspn(s, rest)] != '\0' ||
        strlen(s) > LAB_FRONT_NAME_BYTES)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "%.40s cannot name a tensor: a letter, then "
                              "letters, digits, - and _, at most %d",
                              s, LAB_FRONT_NAME_BYTES);
    if (strcmp(s, "loss") == 0)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "loss is the name of the loss: give this "
                              "tensor another");
    return LAB_OK;
}

static enum lab_status take_other(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    struct lab_data_spec *d = &f->spec->data;
    bool tensor = node->kind != LAB_Y_SCALAR;
    bool known = strcmp(node->key, "x") == 0 || strcmp(node->key, "y") == 0;
    if (d->source != LAB_DATA_INLINE && known)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "%s goes with source: inline; %s brings its own",
                              node->key, lab_data_source_name(d->source));
    if (d->source != LAB_DATA_INLINE || (!tensor && !known))
        return unknown_key(f, node);
    enum lab_status st = check_tensor_name(f, node);
    if (st)
        return st;
    struct lab_tensor_spec *t = &d->tensors[d->n_tensors++];
    if (node->kind == LAB_Y_MAP && lab_y_get(node, "texts"))
        return front_words(f, node, t);
    return front_tensor(f, node, t);
}

static enum lab_status take_key(struct lab_front *f,
                                const struct lab_ynode *node)
{
    const struct data_key *key = find_key(node->key);
    unsigned source = 1u << f->spec->data.source;
    if (!key)
        return take_other(f, node);
    if (!(key->sources & source)) {
        struct lab_str list;
        lab_str_init(&list);
        for (int i = 0; i < LAB_DATA_SOURCE_COUNT; i++) {
            if (key->sources & (1u << i))
                lab_str_addf(&list, "%s%s", list.len ? ", " : "",
                             lab_data_source_name((enum lab_data_source)i));
        }
        enum lab_status st = LAB_E_PARSE;
        if (list.failed)
            st = lab_y_nomem(f->r);
        else
            lab_y_fail_key(f->r, node, st,
                           "%s does not go with source: %s; it goes with %s",
                           node->key,
                           lab_data_source_name(f->spec->data.source),
                           lab_str_text(&list));
        lab_str_release(&list);
        return st;
    }
    return key->take == take_source ? LAB_OK : key->take(f, node);
}

static enum lab_status check_whole(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const struct lab_data_spec *d = &f->spec->data;
    bool wrong = f->r->found->errors > 0;
    bool has_y = d->source != LAB_DATA_INLINE;
    for (int i = 0; i < d->n_tensors; i++)
        has_y = has_y || strcmp(d->tensors[i].name, "y") == 0;
    if (!has_y && !wrong)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "inline data has no y, which the loss compares "
                          "with: add y");
    if ((d->source == LAB_DATA_CSV || d->source == LAB_DATA_WORDS) &&
        !d->path && !wrong)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "source: %s needs the path of its file",
                          lab_data_source_name(d->source));
    return LAB_OK;
}

enum lab_status lab_front_data(struct lab_front *f,
                               const struct lab_ynode *node)
{
    struct lab_data_spec *d = &f->spec->data;
    d->place = lab_front_key_place(node);
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP, "a mapping");
    const struct lab_ynode *source = lab_y_get(node, "source");
    if (!st && source)
        st = take_source(f, source);
    if (st)
        return lab_front_pass(st); /* the other keys hang on the source */
    d->tensors = lab_alloc_array((size_t)node->count, sizeof(*d->tensors));
    if (!d->tensors)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_key(f, n);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return lab_front_pass(check_whole(f, node));
}

/* ---- values of an op's keys ---- */

static enum lab_status take_choice(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   const struct lab_key_def *def,
                                   struct lab_attr *attr)
{
    size_t count = 0;
    size_t which = 0;
    while (def->choices[count])
        count++;
    enum lab_status st =
        lab_y_choice(f->r, node, def->name, def->choices, count, &which);
    if (!st)
        attr->choice = (int)which;
    return st;
}

static int64_t limit(double x)
{
    return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : (int64_t)x;
}

static int64_t most_of(const struct lab_key_def *def)
{
    return def->max > def->min ? limit(def->max) : INT64_MAX;
}

static enum lab_status take_real(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_key_def *def,
                                 struct lab_attr *attr)
{
    double value = 0;
    enum lab_status st = lab_y_number(f->r, node, &value, NULL);
    if (st)
        return st;
    bool bounded = def->max > def->min;
    bool above = def->open_max ? value >= def->max : value > def->max;
    if (value < def->min || (bounded && above)) {
        if (!bounded)
            return lab_y_fail(f->r, node, LAB_E_RANGE, "%s: %s is below %g",
                              def->name, node->text, def->min);
        return lab_y_fail(f->r, node, LAB_E_RANGE,
                          "%s: %s is not between %g and %g%s", def->name,
                          node->text, def->min, def->max,
                          def->open_max ? " (without it)" : "");
    }
    attr->f = value;
    return LAB_OK;
}

static enum lab_status take_ints(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_key_def *def,
                                 struct lab_attr *attr)
{
    int64_t least = limit(def->min);
    if (node->kind == LAB_Y_SCALAR) {
        int64_t one = 0;
        enum lab_status st = lab_y_int(f->r, node, least, most_of(def), &one);
        if (st)
            return st;
        attr->n = def->max_items;
        for (int i = 0; i < attr->n; i++)
            attr->list[i] = one;
        return LAB_OK;
    }
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a whole number or a list of them");
    if (st)
        return st;
    if (node->count != def->max_items && def->min_items == def->max_items)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "%s: a list of %lld; it takes %d numbers", def->name,
                          (long long)node->count, def->max_items);
    if (node->count < def->min_items || node->count > def->max_items)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "%s: a list of %lld; it takes %d to %d numbers",
                          def->name, (long long)node->count, def->min_items,
                          def->max_items);
    attr->n = 0;
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        st = lab_y_int(f->r, c, least, most_of(def), &attr->list[attr->n]);
        if (st)
            return st;
        attr->n++;
    }
    return LAB_OK;
}

static enum lab_status take_attr(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_key_def *def,
                                 struct lab_attr *attr)
{
    enum lab_status st = LAB_OK;
    attr->set = true;
    attr->line = node->line;
    attr->column = node->column;
    switch (def->type) {
    case LAB_KEY_INT:
        st = lab_y_int(f->r, node, limit(def->min), most_of(def), &attr->i);
        break;
    case LAB_KEY_FLOAT:
        st = take_real(f, node, def, attr);
        break;
    case LAB_KEY_BOOL:
        st = lab_y_bool(f->r, node, &attr->b);
        break;
    case LAB_KEY_CHOICE:
        st = take_choice(f, node, def, attr);
        break;
    case LAB_KEY_INTS:
        st = take_ints(f, node, def, attr);
        break;
    case LAB_KEY_PADDING:
        if (!lab_y_is_number(node))
            return take_choice(f, node, def, attr);
        attr->choice = -1;
        st = lab_y_int(f->r, node, 0, 1 << 20, &attr->i);
        break;
    }
    return st;
}

/* ---- a node's op and its keys ---- */

static const char *kind_place(enum lab_op_kind kind)
{
    static const char *const names[] = {"network", "loss", "optimizer"};
    return names[kind];
}

static enum lab_status unknown_op(struct lab_front *f,
                                  const struct lab_ynode *node,
                                  enum lab_op_kind kind)
{
    int count = 0;
    size_t n = 0;
    const struct lab_op_def *const *table = lab_op_table(&count);
    for (int i = 0; i < count; i++) {
        if (!table[i]->internal && table[i]->kind != kind &&
            strcmp(table[i]->name, node->text) == 0)
            return lab_y_fail(f->r, node, LAB_E_PARSE, "%s belongs under %s",
                              node->text, kind_place(table[i]->kind));
    }
    const char **names =
        lab_arena_array(f->tree, (size_t)count, sizeof(*names));
    if (!names)
        return lab_y_nomem(f->r);
    for (int i = 0; i < count; i++) {
        if (!table[i]->internal && table[i]->kind == kind)
            names[n++] = table[i]->name;
    }
    struct lab_ynode value = *node;
    value.key = NULL;
    return lab_y_fail_unknown(f->r, &value, "op", node->text, names, n);
}

static enum lab_status take_op(struct lab_front *f,
                               const struct lab_ynode *node,
                               enum lab_op_kind kind, struct lab_node_spec *out)
{
    const struct lab_ynode *op = lab_y_get(node, "op");
    if (!op)
        return lab_y_fail(f->r, node, LAB_E_PARSE, "no op: say which, as in %s",
                          kind == LAB_KIND_LAYER  ? "{op: relu}"
                          : kind == LAB_KIND_LOSS ? "{op: mse}"
                                                  : "{op: sgd}");
    const char *word = NULL;
    struct lab_reader scratch = *f->r;
    scratch.arena = f->tree;
    enum lab_status st = lab_y_text(&scratch, op, LAB_FRONT_NAME_BYTES, &word);
    if (st)
        return st;
    const struct lab_op_def *def = lab_op_find(word, kind);
    if (!def || def->internal)
        return unknown_op(f, op, kind);
    out->op = def;
    lab_op_defaults(def, out->attr);
    return LAB_OK;
}

static enum lab_status unknown_node_key(struct lab_front *f,
                                        const struct lab_ynode *node,
                                        const struct lab_op_def *op)
{
    const char *names[LAB_MAX_KEYS + 3];
    size_t n = 0;
    for (int i = 0; i < op->n_keys; i++)
        names[n++] = op->keys[i].name;
    names[n++] = "op";
    if (op->kind == LAB_KIND_LAYER) {
        names[n++] = "id";
        names[n++] = "from";
    }
    struct lab_str what;
    lab_str_init(&what);
    lab_str_addf(&what, "key of %s:", op->name);
    enum lab_status st = LAB_E_PARSE;
    if (what.failed)
        st = lab_y_nomem(f->r);
    else
        lab_y_fail_unknown(f->r, node, lab_str_text(&what), node->key, names,
                           n);
    lab_str_release(&what);
    return st;
}

/* The op's own keys; id, op and from are read by others. */
static enum lab_status take_keys(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 struct lab_node_spec *out)
{
    bool layer = out->op->kind == LAB_KIND_LAYER;
    bool strange = false; /* a misspelt key may be the one that is missing */
    enum lab_status st;
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        bool general = strcmp(n->key, "op") == 0 ||
                       (layer && (strcmp(n->key, "id") == 0 ||
                                  strcmp(n->key, "from") == 0));
        if (general)
            continue;
        int key = lab_op_key(out->op, n->key);
        strange = strange || key < 0;
        st = key < 0 ? unknown_node_key(f, n, out->op)
                     : take_attr(f, n, &out->op->keys[key], &out->attr[key]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    for (int i = 0; i < out->op->n_keys; i++) {
        const struct lab_key_def *def = &out->op->keys[i];
        if (def->required && !out->attr[i].set && !strange)
            lab_y_fail(f->r, node, LAB_E_PARSE, "%s needs %s", out->op->name,
                       def->name);
    }
    return LAB_OK;
}

enum lab_status lab_front_single(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 enum lab_op_kind kind,
                                 struct lab_node_spec *out)
{
    out->place = lab_front_place(node);
    enum lab_status st = lab_y_want(
        f->r, node, LAB_Y_MAP,
        kind == LAB_KIND_LOSS ? "a mapping, as in {op: mse}"
                              : "a mapping, as in {op: sgd, lr: 0.1}");
    if (!st)
        st = take_op(f, node, kind, out);
    if (!st)
        st = take_keys(f, node, out);
    return lab_front_pass(st);
}

/* ---- ids ---- */

static bool is_id(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.";
    size_t n = strlen(s);
    return n > 0 && strchr(letters, s[0]) && strspn(s, rest) == n &&
           s[n - 1] != '.' && !strstr(s, "..");
}

static bool is_tensor(const struct lab_network_spec *spec, const char *name)
{
    const char *more = lab_data_source_more(spec->data.source);
    if (strcmp(name, "x") == 0 || strcmp(name, "y") == 0 ||
        (more && strcmp(name, more) == 0))
        return true;
    for (int i = 0; i < spec->data.n_tensors; i++) {
        if (strcmp(spec->data.tensors[i].name, name) == 0)
            return true;
    }
    return false;
}

/* `node` is where the id is written, or the node when it was made up. */
static enum lab_status check_id(struct lab_front *f,
                                const struct lab_ynode *node, int index)
{
    const struct lab_network_spec *s = f->spec;
    const char *id = s->nodes[index].id;
    if (!is_id(id))
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "%.40s cannot be an id: a letter, then letters, "
                          "digits, -, _ and single dots",
                          id);
    if (strcmp(id, "loss") == 0 || is_tensor(s, id))
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "the id %s is the name of a tensor already: choose "
                          "another",
                          id);
    for (int i = 0; i < index; i++) {
        if (s->nodes[i].id && strcmp(s->nodes[i].id, id) == 0)
            return lab_y_fail(f->r, node, LAB_E_PARSE,
                              "two nodes have the id %s, here and in line %d, "
                              "column %d",
                              id, s->nodes[i].place.line,
                              s->nodes[i].place.column);
    }
    return LAB_OK;
}

/* "relu2" for the second relu of the network, named or not. */
static enum lab_status make_id(struct lab_front *f, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    int ordinal = 1;
    for (int i = 0; i < index; i++)
        ordinal += f->spec->nodes[i].op == out->op;
    struct lab_str id;
    lab_str_init(&id);
    lab_str_addf(&id, "%s%d", out->op->name, ordinal);
    out->id = lab_str_detach(&id);
    return out->id ? LAB_OK : lab_y_nomem(f->r);
}

static enum lab_status take_id(struct lab_front *f,
                               const struct lab_ynode *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    const struct lab_ynode *id = lab_y_get(node, "id");
    enum lab_status st = LAB_OK;
    if (id)
        st = front_string(f, id, LAB_FRONT_NAME_BYTES, &out->id);
    else if (out->op)
        st = make_id(f, index);
    if (!st && out->id)
        st = check_id(f, id ? id : node, index);
    return st;
}

/* ---- from ---- */

static enum lab_status check_from(struct lab_front *f,
                                  const struct lab_ynode *node,
                                  const char *name, int index)
{
    const struct lab_network_spec *s = f->spec;
    struct lab_ynode value = *node;
    size_t count = 0;
    value.key = NULL;
    for (int i = 0; i < index; i++) {
        if (s->nodes[i].id && strcmp(s->nodes[i].id, name) == 0)
            return LAB_OK;
    }
    for (int i = index; i < s->n_nodes; i++) {
        if (s->nodes[i].id && strcmp(s->nodes[i].id, name) == 0)
            return lab_y_fail(f->r, node, LAB_E_PARSE,
                              "%s does not stand before this node: a node "
                              "reads what earlier ones made",
                              name);
    }
    const char **names = front_names(f, true, true, &count);
    if (!names)
        return LAB_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return LAB_OK;
    }
    return lab_y_fail_unknown(f->r, &value, "node or tensor", name, names,
                              count);
}

static enum lab_status take_from(struct lab_front *f,
                                 const struct lab_ynode *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    bool list = node->kind == LAB_Y_LIST;
    int64_t count = list ? node->count : 1;
    out->from_place = lab_front_place(node);
    if (count < 1 || count > LAB_STEP_IN)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "from: a list of %lld; it takes 1 to %d names",
                          (long long)count, LAB_STEP_IN);
    out->from = lab_alloc_array((size_t)count, sizeof(*out->from));
    if (!out->from)
        return lab_y_nomem(f->r);
    const struct lab_ynode *c = list ? node->first : node;
    for (int64_t i = 0; i < count; i++, c = c->next) {
        char **slot = &out->from[out->n_from];
        enum lab_status st = front_string(f, c, LAB_FRONT_NAME_BYTES, slot);
        if (st)
            return st;
        out->n_from++;
        st = check_from(f, c, *slot, index);
        if (st)
            return st;
    }
    return LAB_OK;
}

static enum lab_status check_inputs(struct lab_front *f,
                                    const struct lab_ynode *node, int index)
{
    const struct lab_node_spec *out = &f->spec->nodes[index];
    const struct lab_op_def *op = out->op;
    int n = out->from ? out->n_from : 1;
    if (n < op->min_inputs || n > op->max_inputs) {
        char range[48];
        if (op->min_inputs == op->max_inputs)
            snprintf(range, sizeof(range), "%d", op->max_inputs);
        else
            snprintf(range, sizeof(range), "%d to %d", op->min_inputs,
                     op->max_inputs);
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "%s takes %s input%s, not %d: name them in from",
                          op->name, range, op->max_inputs == 1 ? "" : "s", n);
    }
    if (!out->from && index == 0 && !f->r->found->errors &&
        f->spec->data.source == LAB_DATA_INLINE) {
        bool has_x = false;
        for (int i = 0; i < f->spec->data.n_tensors; i++)
            has_x |= strcmp(f->spec->data.tensors[i].name, "x") == 0;
        if (!has_x)
            return lab_y_fail(f->r, node, LAB_E_PARSE,
                              "the first node reads x, and the data has "
                              "none: add x, or say from");
    }
    return LAB_OK;
}

/* First round: what every node is and how it is called, so that the second
 * can tell an unknown name from one that comes too late. */
static enum lab_status take_name(struct lab_front *f,
                                 const struct lab_ynode *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    out->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP,
                   "a mapping, as in {id: fc1, op: dense, units: 3}");
    if (st)
        return st;
    st = take_op(f, node, LAB_KIND_LAYER, out);
    return st == LAB_E_NOMEM ? st : take_id(f, node, index);
}

static enum lab_status take_node(struct lab_front *f,
                                 const struct lab_ynode *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    const struct lab_ynode *from = lab_y_get(node, "from");
    enum lab_status from_st = from ? take_from(f, from, index) : LAB_OK;
    if (from_st == LAB_E_NOMEM || !out->op)
        return from_st;
    enum lab_status st = take_keys(f, node, out);
    return st || from_st ? st : check_inputs(f, node, index);
}

enum lab_status lab_front_network(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum { MOST = 4096 };
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_LIST, "a list of nodes");
    if (st)
        return lab_front_pass(st);
    if (node->count < 1 || node->count > MOST) {
        lab_y_fail(f->r, node, LAB_E_PARSE, "%lld nodes: a network has 1 to %d",
                   (long long)node->count, MOST);
        return LAB_OK;
    }
    s->nodes = lab_alloc_array((size_t)node->count, sizeof(*s->nodes));
    if (!s->nodes)
        return lab_y_nomem(f->r);
    s->n_nodes = (int)node->count;
    int index = 0;
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        if (take_name(f, n, index++) == LAB_E_NOMEM)
            return LAB_E_NOMEM;
    }
    index = 0;
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        if (take_node(f, n, index++) == LAB_E_NOMEM)
            return LAB_E_NOMEM;
    }
    return LAB_OK;
}

/* parameters, variants, watches, breakpoints, printed values. */

/* A tensor or step name: what stands before its last part must be a node. */
static enum lab_status check_owner(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   const char *name, bool key)
{
    const struct lab_node_spec *owner = front_find_node(f->spec, name, true);
    size_t count = 0;
    if (owner || f->spec->n_nodes == 0)
        return LAB_OK;
    const char **names = front_names(f, true, false, &count);
    if (!names)
        return LAB_E_NOMEM;
    size_t len = strcspn(name, ".");
    const char *id = lab_arena_text(f->tree, name, len);
    if (!id)
        return lab_y_nomem(f->r);
    struct lab_ynode value = *node;
    if (!key)
        value.key = NULL;
    return lab_y_fail_unknown(f->r, &value, "node", id, names, count);
}

static bool is_input_or_loss(const struct lab_network_spec *s, const char *name)
{
    size_t len = strcspn(name, ".");
    if ((len == 1 && (*name == 'x' || *name == 'y')) ||
        (len == 4 && strncmp(name, "loss", 4) == 0))
        return true;
    for (int i = 0; i < s->data.n_tensors; i++) {
        const char *own = s->data.tensors[i].name;
        if (strlen(own) == len && strncmp(own, name, len) == 0)
            return true;
    }
    return false;
}

enum lab_status lab_front_parameters(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP,
                                    "a mapping from parameters to tensors");
    if (st)
        return lab_front_pass(st);
    s->parameters =
        lab_alloc_array((size_t)node->count, sizeof(*s->parameters));
    if (!s->parameters)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = check_owner(f, n, n->key, true);
        if (st != LAB_E_NOMEM)
            st = front_tensor(f, n, &s->parameters[s->n_parameters++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

static enum lab_status check_target(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    const struct lab_network_spec *s = f->spec;
    if (strcmp(node->key, "*") == 0 || strcmp(node->key, "loss") == 0 ||
        s->n_nodes == 0)
        return LAB_OK;
    if (lab_op_find(node->key, LAB_KIND_LAYER) ||
        lab_op_find(node->key, LAB_KIND_LOSS) ||
        lab_op_find(node->key, LAB_KIND_OPTIMIZER))
        return LAB_OK;
    return check_owner(f, node, node->key, true);
}

enum lab_status lab_front_variants(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP,
                                    "a mapping from nodes or ops to variants");
    if (st)
        return lab_front_pass(st);
    s->variants = lab_alloc_array((size_t)node->count, sizeof(*s->variants));
    if (!s->variants)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        struct lab_variant_spec *out = &s->variants[s->n_variants];
        st = check_target(f, n);
        if (!st)
            st = front_string(f, n, LAB_FRONT_NAME_BYTES, &out->variant);
        if (!st) {
            s->n_variants++;
            out->place = lab_front_key_place(n);
            out->target = lab_strdup(n->key);
            if (!out->target)
                return lab_y_nomem(f->r);
        }
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

enum lab_status lab_front_watch(struct lab_front *f,
                                const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of tensor names");
    if (st)
        return lab_front_pass(st);
    s->watch = lab_alloc_array((size_t)node->count, sizeof(*s->watch));
    f->watch_places = lab_arena_array(f->r->arena, (size_t)node->count,
                                      sizeof(*f->watch_places));
    if (!s->watch || !f->watch_places)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        char **slot = &s->watch[s->n_watch];
        st = front_string(f, n, 2 * LAB_FRONT_NAME_BYTES, slot);
        if (!st) {
            f->watch_places[s->n_watch++] = lab_front_place(n);
            if (!is_input_or_loss(s, *slot))
                st = check_owner(f, n, *slot, false);
        }
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

/* ---- breakpoints ---- */

struct taking {
    struct lab_front *f;
    void *out;
    bool has_when;
    bool has_step;
    bool has_phase;
    bool has_tensor;
    bool has_values;
    const struct lab_ynode *at;
};

static enum lab_status take_step(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    (void)r;
    t->has_step = true;
    enum lab_status st =
        front_string(t->f, node, 2 * LAB_FRONT_NAME_BYTES, &b->step);
    /* Update steps are named like parameters, loss steps begin with loss. */
    if (!st && !is_input_or_loss(t->f->spec, b->step))
        st = check_owner(t->f, node, b->step, false);
    return st;
}

static enum lab_status take_phase(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    const char *names[LAB_PHASE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        names[i] = lab_phase_name((enum lab_phase)i);
    t->has_phase = true;
    enum lab_status st =
        lab_y_choice(r, node, "phase", names, LAB_PHASE_COUNT, &which);
    if (!st)
        b->phase = (int)which;
    return st;
}

/* The bound of "loss > 2.5" as a scalar of its own, so that it is read like
 * every other number. */
static enum lab_status take_loss_bound(struct lab_reader *r,
                                       const struct lab_ynode *node,
                                       struct lab_break_spec *b)
{
    const char *s = node->text + strlen("loss");
    s += strspn(s, " ");
    struct lab_ynode number = *node;
    if (*s != '>')
        return lab_y_fail(r, node, LAB_E_PARSE,
                          "when: expected nan, inf or loss > NUMBER");
    number.text = s + 1 + strspn(s + 1, " ");
    number.len = strlen(number.text);
    number.plain = true;
    number.key = NULL;
    b->kind = LAB_BREAK_LOSS_ABOVE;
    return lab_y_number(r, &number, &b->value, NULL);
}

static enum lab_status take_when(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    static const char *const names[] = {"nan", "inf", "loss > NUMBER"};
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    size_t which = 0;
    t->has_when = true;
    if (node->kind == LAB_Y_SCALAR && strncmp(node->text, "loss", 4) == 0)
        return take_loss_bound(r, node, b);
    enum lab_status st = lab_y_choice(r, node, "condition", names, 3, &which);
    if (!st)
        b->kind = which == 0 ? LAB_BREAK_NAN : LAB_BREAK_INF;
    return st;
}

static enum lab_status take_break(struct lab_front *f,
                                  const struct lab_ynode *node,
                                  struct lab_break_spec *b)
{
    static const struct lab_ykey keys[] = {
        {"step", take_step}, {"phase", take_phase}, {"when", take_when}};
    struct taking t = {.f = f, .out = b};
    b->phase = -1;
    b->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP, "a mapping with step, phase or when");
    if (!st)
        st = lab_y_keys(f->r, node, keys, 3, &t);
    if (st)
        return st;
    if (t.has_when ? t.has_step || t.has_phase : !t.has_step && !t.has_phase)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "a breakpoint has a step, a phase, both, or when "
                          "alone");
    if (!t.has_when)
        b->kind = t.has_step ? LAB_BREAK_STEP : LAB_BREAK_PHASE;
    return LAB_OK;
}

enum lab_status lab_front_breaks(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of breakpoints");
    if (st)
        return lab_front_pass(st);
    s->breaks = lab_alloc_array((size_t)node->count, sizeof(*s->breaks));
    if (!s->breaks)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_break(f, n, &s->breaks[s->n_breaks++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

/* ---- printed values ---- */

static enum lab_status take_tensor(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    t->has_tensor = true;
    enum lab_status st =
        front_string(t->f, node, 2 * LAB_FRONT_NAME_BYTES, &p->tensor);
    if (!st && !is_input_or_loss(t->f->spec, p->tensor))
        st = check_owner(t->f, node, p->tensor, false);
    return st;
}

static enum lab_status take_at(struct lab_reader *r,
                               const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return front_shape(t->f, node, 0, &p->at);
}

static enum lab_status take_run_values(struct lab_reader *r,
                                       const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    t->has_values = true;
    enum lab_status st =
        lab_y_want(r, node, LAB_Y_LIST, "a flat list of numbers");
    if (!st && node->count == 0)
        st = lab_y_fail(r, node, LAB_E_PARSE, "values: an empty list");
    if (st)
        return st;
    p->values = lab_alloc_array((size_t)node->count, sizeof(*p->values));
    if (!p->values)
        return lab_y_nomem(r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = lab_y_number(r, n, &p->values[p->n_values++], NULL);
        if (st)
            return st;
    }
    return LAB_OK;
}

static enum lab_status take_tolerance(struct lab_reader *r,
                                      const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    enum lab_status st = lab_y_number(r, node, &p->tolerance, NULL);
    if (!st && p->tolerance < 0)
        st = lab_y_fail(r, node, LAB_E_RANGE, "tolerance: %s is below 0",
                        node->text);
    return st;
}

static enum lab_status take_printed_phase(struct lab_reader *r,
                                          const struct lab_ynode *node,
                                          void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    const char *names[LAB_PHASE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        names[i] = lab_phase_name((enum lab_phase)i);
    enum lab_status st =
        lab_y_choice(r, node, "phase", names, LAB_PHASE_COUNT, &which);
    p->updated = which == LAB_UPDATE;
    return st;
}

static enum lab_status take_where(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return front_string(t->f, node, LAB_FRONT_TEXT_BYTES, &p->where);
}

static enum lab_status take_note(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return front_string(t->f, node, LAB_FRONT_TEXT_BYTES, &p->note);
}

static enum lab_status take_printed(struct lab_front *f,
                                    const struct lab_ynode *node,
                                    struct lab_course_values_spec *p)
{
    static const struct lab_ykey keys[] = {
        {"tensor", take_tensor},      {"at", take_at},
        {"values", take_run_values},  {"tolerance", take_tolerance},
        {"where", take_where},        {"note", take_note},
        {"phase", take_printed_phase}};
    struct taking t = {.f = f, .out = p};
    p->tolerance = NAN; /* not given */
    p->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP, "a mapping with tensor and values");
    if (!st)
        st = lab_y_keys(f->r, node, keys, sizeof(keys) / sizeof(*keys), &t);
    if (!st && (!t.has_tensor || !t.has_values))
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "a printed value needs a tensor and values");
    return st;
}

enum lab_status lab_front_printed(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of printed values");
    if (st)
        return lab_front_pass(st);
    s->printed = lab_alloc_array((size_t)node->count, sizeof(*s->printed));
    if (!s->printed)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_printed(f, n, &s->printed[s->n_printed++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

/* figures of a lab that course material prints: `slide`. */

enum { SHOWN_BYTES = 40, LABEL_BYTES = 80 };

/* Rates of arithmetic and of memory, times of one call, and its workspace. */
static const char *const units[] = {
    "GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "ns", "us", "ms", "s", "MB", "MiB"};

struct slide_taking {
    struct lab_front *f;
    const struct lab_operation *ladder;
    struct lab_lesson_slide *out;
};

static enum lab_status
slide_take_label(struct lab_reader *r, const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    return lab_y_text(r, node, LABEL_BYTES, &t->out->label);
}

static enum lab_status take_size(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    struct lab_ladder_size size;
    enum lab_status st = lab_y_text(r, node, LABEL_BYTES, &t->out->size);
    if (!st && t->ladder &&
        lab_ladder_size(t->ladder, node->text, node->len, &size))
        st = lab_y_fail(r, node, LAB_E_RANGE, "%s", lab_error());
    return st;
}

static enum lab_status take_value(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    enum lab_status st = lab_y_number(r, node, &t->out->value, NULL);
    if (!st && t->out->value < 0)
        st = lab_y_fail(r, node, LAB_E_RANGE, "value: %.*s is below 0",
                        SHOWN_BYTES, node->text);
    return st;
}

static enum lab_status take_unit(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    size_t which = 0;
    enum lab_status st = lab_y_choice(r, node, "unit", units,
                                      sizeof(units) / sizeof(*units), &which);
    if (!st)
        t->out->unit = units[which];
    return st;
}

static enum lab_status take_machine(struct lab_reader *r,
                                    const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    return lab_y_text(r, node, LABEL_BYTES, &t->out->machine);
}

static enum lab_status slide_take_source(struct lab_reader *r,
                                         const struct lab_ynode *node,
                                         void *user)
{
    struct slide_taking *t = user;
    return lab_y_text(r, node, LAB_FRONT_TEXT_BYTES, &t->out->source);
}

static enum lab_status take_rung(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct slide_taking *t = user;
    return lab_y_text(r, node, LAB_FRONT_NAME_BYTES, &t->out->rung);
}

static enum lab_status take_slide_precision(struct lab_reader *r,
                                            const struct lab_ynode *node,
                                            void *user)
{
    struct slide_taking *t = user;
    const char *names[LAB_PRECISION_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PRECISION_COUNT; i++)
        names[i] = lab_precision_name((enum lab_precision)i);
    enum lab_status st =
        lab_y_choice(r, node, "precision", names, LAB_PRECISION_COUNT, &which);
    if (!st)
        t->out->precision = lab_precision_name((enum lab_precision)which);
    return st;
}

static enum lab_status read_row(struct lab_front *f,
                                const struct lab_ynode *node,
                                const struct lab_operation *ladder,
                                struct lab_lesson_slide *out)
{
    static const struct lab_ykey keys[] = {
        {"label", slide_take_label}, {"size", take_size},
        {"value", take_value},       {"unit", take_unit},
        {"machine", take_machine},   {"source", slide_take_source},
        {"rung", take_rung},         {"precision", take_slide_precision}};
    enum { MUST = 6 }; /* all but the last two */
    struct slide_taking t = {.f = f, .ladder = ladder, .out = out};
    out->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP,
                   "a mapping with label, size, value, unit, machine, source");
    if (!st)
        st = lab_y_keys(f->r, node, keys, sizeof(keys) / sizeof(*keys), &t);
    for (size_t i = 0; i < MUST && st != LAB_E_NOMEM; i++) {
        if (node->kind == LAB_Y_MAP && !lab_y_get(node, keys[i].name))
            st = lab_y_fail(f->r, node, LAB_E_PARSE,
                            "a row of slide has no %s: add it", keys[i].name);
    }
    return st;
}

static enum lab_status front_slides(struct lab_front *f,
                                    const struct lab_ynode *node,
                                    const struct lab_operation *ladder,
                                    struct lab_lesson_lab *out)
{
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_LIST, "a list of rows");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "slide: an empty list: leave it out, or add a row");
    if (st)
        return lab_front_pass(st);
    struct lab_lesson_slide *rows =
        lab_arena_array(f->r->arena, (size_t)node->count, sizeof(*rows));
    if (!rows)
        return lab_y_nomem(f->r);
    out->slides = rows;
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        struct lab_lesson_slide *row = &rows[out->n_slides];
        *row = (struct lab_lesson_slide){.value = NAN};
        st = read_row(f, n, ladder, row);
        if (st == LAB_E_NOMEM)
            return st;
        out->n_slides++;
    }
    return LAB_OK;
}

/* the front matter of a lab: a ladder, its sizes and rungs. */

bool lab_front_is_lab(const struct lab_ynode *root)
{
    const struct lab_ynode *kind = lab_y_get(root, "kind");
    return kind && kind->kind == LAB_Y_SCALAR && strcmp(kind->text, "lab") == 0;
}

static const char *const measures[LAB_MEASURES] = {
    [LAB_MEASURE_LADDER] = "ladder",        [LAB_MEASURE_TUNE] = "tune",
    [LAB_MEASURE_CALLS] = "calls",          [LAB_MEASURE_BATCH] = "batch-size",
    [LAB_MEASURE_NETWORK] = "network-size", [LAB_MEASURE_PRODUCTS] = "products",
    [LAB_MEASURE_BACKWARD] = "backward",
};

const char *lab_measure_name(enum lab_measure m)
{
    return (unsigned)m < LAB_MEASURES ? measures[m] : "?";
}

bool lab_front_is_sweep(const struct lab_ynode *root)
{
    const struct lab_ynode *node = lab_y_get(root, "measures");
    if (!node || node->kind != LAB_Y_SCALAR)
        return false;
    for (int m = LAB_MEASURE_BATCH; m < LAB_MEASURES; m++) {
        if (strcmp(node->text, measures[m]) == 0)
            return true;
    }
    return false;
}

/* `measures`, and the lesson that it is about. */
static enum lab_status read_measure(struct lab_front *f,
                                    const struct lab_ynode *root,
                                    struct lab_lesson_lab *out)
{
    const struct lab_ynode *node = lab_y_get(root, "measures");
    const struct lab_ynode *of = lab_y_get(root, "of");
    const struct lab_ynode *lab = lab_y_get(root, "lab");
    size_t which = LAB_MEASURE_LADDER;
    enum lab_status st = LAB_OK;
    if (node)
        st = lab_y_choice(f->r, node, "measures", measures, LAB_MEASURES,
                          &which);
    out->measures = (enum lab_measure)which;
    bool network = which >= LAB_MEASURE_BATCH;
    if (!st && network && !of)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "%s is of a lesson: name it with of:", measures[which]);
    if (!st && network && lab)
        st = lab_y_fail(f->r, lab, LAB_E_PARSE,
                        "%s is of a lesson, not of a ladder: leave lab out",
                        measures[which]);
    if (!st && !network && of)
        st = lab_y_fail(f->r, of, LAB_E_PARSE,
                        "of: belongs to measures: batch-size, network-size, "
                        "products or backward");
    if (!st && of)
        st = lab_y_want(f->r, of, LAB_Y_SCALAR, "the id of a lesson");
    if (!st && of) {
        out->of = lab_arena_text(f->r->arena, of->text, of->len);
        out->of_place = lab_front_place(of);
        st = out->of ? LAB_OK : lab_y_nomem(f->r);
    }
    return lab_front_pass(st);
}

static enum lab_status read_ladder(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_lesson_lab *out,
                                   const struct lab_operation **ladder)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    size_t which = 0;
    for (; n < MOST && lab_operation_at((int)n); n++)
        names[n] = lab_operation_at((int)n)->name;
    size_t ladders = n;
    const struct lab_variant *first;
    for (int i = 0; n < MOST && (first = lab_cpu_rung("first", i)); i++)
        names[n++] = first->name;
    enum lab_status st = lab_y_choice(f->r, node, "lab", names, n, &which);
    if (st)
        return st;
    *ladder = which < ladders ? lab_operation_at((int)which) : NULL;
    out->ladder = names[which];
    return LAB_OK;
}

/* One of the first kernels (first/first.h) has no ladder to climb. */
static enum lab_status refuse_ladder_keys(struct lab_front *f,
                                          const struct lab_ynode *root,
                                          const char *name)
{
    static const char *const keys[] = {"sizes", "cpu_sizes", "variants",
                                       "repeat"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct lab_ynode *node = lab_y_get(root, keys[i]);
        if (node)
            return lab_front_pass(
                lab_y_fail(f->r, node, LAB_E_PARSE,
                           "%s is one kernel, not a ladder: leave `%s` out",
                           name, keys[i]));
    }
    return LAB_OK;
}

/* A batch or a width. */
static bool is_count(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' &&
           strspn(text, "0123456789") == strlen(text) && strlen(text) < 11 &&
           strtoll(text, NULL, 10) <= LAB_COUNT_MAX;
}

/* A scalar as the command line writes it; a size is checked. */
static enum lab_status read_item(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of,
                                 bool counts)
{
    struct lab_ladder_size size;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_SCALAR, sizes_of ? "a size" : "a name");
    if (!st && strchr(node->text, ','))
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "'%s' holds a comma: make two of it", node->text);
    if (!st && counts && !is_count(node->text))
        st = lab_y_fail(f->r, node, LAB_E_RANGE,
                        "'%s' is no whole number from 1 to %d", node->text,
                        LAB_COUNT_MAX);
    if (!st && sizes_of &&
        lab_ladder_size(sizes_of, node->text, node->len, &size))
        st = lab_y_fail(f->r, node, LAB_E_RANGE, "%s", lab_error());
    return st;
}

/* A list as one text with commas. `sizes_of` NULL: names of variants, or with
 * `counts` whole numbers. */
static enum lab_status read_list(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of,
                                 bool counts, const char **out)
{
    struct lab_str text;
    enum lab_status st = LAB_OK;
    if (!node)
        return LAB_OK;
    st = lab_y_want(f->r, node, LAB_Y_LIST, "a list");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "an empty list: leave it out, or name one");
    if (st)
        return lab_front_pass(st);
    lab_str_init(&text);
    for (const struct lab_ynode *n = node->first; n && !st; n = n->next) {
        st = read_item(f, n, sizes_of, counts);
        if (!st && text.len)
            lab_str_add_char(&text, ',');
        if (!st)
            lab_str_add(&text, n->text);
    }
    if (!st && text.failed)
        st = lab_y_nomem(f->r);
    if (!st)
        *out = lab_arena_text(f->r->arena, text.data, text.len);
    if (!st && !*out)
        st = lab_y_nomem(f->r);
    lab_str_release(&text);
    return lab_front_pass(st);
}

static enum lab_status read_precisions(struct lab_front *f,
                                       const struct lab_ynode *node,
                                       unsigned *out)
{
    const char *names[LAB_PRECISION_COUNT];
    enum lab_status st = LAB_OK;
    if (!node)
        return LAB_OK;
    for (int i = 0; i < LAB_PRECISION_COUNT; i++)
        names[i] = lab_precision_name((enum lab_precision)i);
    st = lab_y_want(f->r, node, LAB_Y_LIST, "a list");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "an empty list: leave it out, or name one");
    for (const struct lab_ynode *n = node->first; n && !st; n = n->next) {
        size_t which = 0;
        st = lab_y_choice(f->r, n, "precision", names, LAB_PRECISION_COUNT,
                          &which);
        if (!st)
            *out |= 1u << which;
    }
    return lab_front_pass(st);
}

enum lab_status lab_front_lab(struct lab_front *f, const struct lab_ynode *root,
                              struct lab_lesson_lab *out)
{
    const struct lab_operation *ladder = NULL;
    const struct lab_ynode *lab = lab_y_get(root, "lab");
    const struct lab_ynode *repeat = lab_y_get(root, "repeat");
    const struct lab_ynode *variants = lab_y_get(root, "variants");
    enum lab_status st = read_measure(f, root, out);
    if (!st && lab)
        st = lab_front_pass(read_ladder(f, lab, out, &ladder));
    if (!st && out->ladder && !ladder)
        return refuse_ladder_keys(f, root, out->ladder);
    bool counts = out->measures >= LAB_MEASURE_BATCH;
    if (!st && (ladder || counts))
        st =
            read_list(f, lab_y_get(root, "sizes"), ladder, counts, &out->sizes);
    if (!st && (ladder || counts))
        st = read_list(f, lab_y_get(root, "cpu_sizes"), ladder, counts,
                       &out->cpu_sizes);
    if (!st)
        st = read_list(f, variants, NULL, false, &out->variants);
    if (!st && variants)
        out->variants_place = lab_front_place(variants);
    if (!st)
        st =
            read_precisions(f, lab_y_get(root, "precisions"), &out->precisions);
    if (!st && repeat)
        st = lab_front_pass(lab_y_int(f->r, repeat, LAB_LADDER_REPEATS_MIN,
                                      LAB_LADDER_REPEATS_MAX, &out->repeat));
    if (!st && lab_y_get(root, "slide"))
        st = front_slides(f, lab_y_get(root, "slide"), ladder, out);
    return st;
}
