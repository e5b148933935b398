/* A TENSOR out of words: the texts of a lesson, numbered. */
#include <string.h>

#include "base/mem.h"
#include "engine/vocabulary.h"
#include "front.h"

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

enum lab_status lab_front_words(struct lab_front *f,
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
