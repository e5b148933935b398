/* Samples for word2vec out of a text: one line is one sentence.
 *
 * A bag of words (CBOW) has one sample for each word: the words around it, at
 * most `context` on each side, are x, the word itself is y. Where the sentence
 * ends there is 0, the padding. Skip-gram turns the question round and has
 * a sample for each pair: the word in the middle is x, one of its neighbours
 * y. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "data_priv.h"
#include "engine/vocabulary.h"

enum { DEFAULT_CONTEXT = 2, MOST_CONTEXT = 64 };
enum { MOST_WORDS = 1 << 24 /* exact in a float */ };

static enum lab_status check_text(const struct lab_str *text, const char *path)
{
    const char *bytes = lab_str_text(text);
    size_t bad = lab_utf8_check(bytes, text->len);
    const char *nul = memchr(bytes, '\0', text->len);
    if (nul && (size_t)(nul - bytes) < bad)
        bad = (size_t)(nul - bytes);
    if (bad == (size_t)-1)
        return LAB_OK;
    int64_t line = 1;
    for (size_t i = 0; i < bad; i++)
        line += bytes[i] == '\n';
    return lab_fail(LAB_E_PARSE, "%s:%lld: is not UTF-8 text", path,
                    (long long)line);
}

struct windows {
    struct lab_samples *t;
    int64_t context;
    bool skip_gram;
    bool fill; /* else count only */
    const struct lab_stop *stop;
    int64_t rows;
};

/* Words from, of n, that the word at `at` has around it. */
static int64_t first_of(const struct windows *w, int64_t at)
{
    return at < w->context ? 0 : at - w->context;
}

static int64_t end_of(const struct windows *w, int64_t at, int64_t n)
{
    return n - at <= w->context ? n : at + w->context + 1;
}

static void bag_row(struct windows *w, const int32_t *ids, int64_t n,
                    int64_t at)
{
    if (w->fill) {
        float *x = w->t->x + w->rows * w->t->features;
        int64_t k = 0;
        for (int64_t i = at - w->context; i <= at + w->context; i++) {
            if (i != at)
                x[k++] = i >= 0 && i < n ? (float)ids[i] : 0;
        }
        w->t->label[w->rows] = ids[at];
    }
    w->rows++;
}

static void pair_rows(struct windows *w, const int32_t *ids, int64_t n,
                      int64_t at)
{
    for (int64_t i = first_of(w, at); i < end_of(w, at, n); i++) {
        if (i == at)
            continue;
        if (w->fill) {
            w->t->x[w->rows] = (float)ids[at];
            w->t->label[w->rows] = ids[i];
        }
        w->rows++;
    }
}

/* The samples of one sentence; a word alone has no neighbours. */
static void sentence(struct windows *w, const int32_t *ids, int64_t n)
{
    for (int64_t at = 0; n > 1 && at < n; at++) {
        if (w->skip_gram)
            pair_rows(w, ids, n, at);
        else
            bag_row(w, ids, n, at);
    }
}

/* Walks over the lines; each ends in NUL. */
static enum lab_status each_line(struct windows *w,
                                 const struct lab_vocabulary *v,
                                 const struct lab_str *text)
{
    const char *end = text->data + text->len;
    for (const char *line = text->data; line < end; line += strlen(line) + 1) {
        int32_t *ids = NULL;
        int64_t n = 0;
        if (lab_stop_asked(w->stop))
            return lab_fail(LAB_E_CANCELLED, "reading was stopped");
        enum lab_status st = lab_encode(v, line, &ids, &n);
        if (st)
            return st;
        sentence(w, ids, n);
        lab_free(ids);
    }
    return LAB_OK;
}

static enum lab_status make_samples(struct windows *w,
                                    const struct lab_vocabulary *v,
                                    const struct lab_str *text,
                                    const char *path)
{
    struct lab_samples *t = w->t;
    enum lab_status st = each_line(w, v, text);
    if (!st && w->rows == 0)
        st = lab_fail(LAB_E_PARSE,
                      "%s: no line has two words: nothing to learn from", path);
    if (st)
        return st;
    t->rows = w->rows;
    t->features = w->skip_gram ? 1 : 2 * w->context;
    t->single = w->skip_gram;
    t->classes = v->n;
    st = lab_samples_alloc(t, true, path);
    w->rows = 0;
    w->fill = true;
    return st ? st : each_line(w, v, text);
}

/* One text to count in, many to number. */
static enum lab_status make_vocabulary(struct lab_vocabulary **out,
                                       struct lab_str *text, int64_t most,
                                       const char *path,
                                       const struct lab_stop *stop)
{
    struct lab_vocabulary_rule rule = {
        .unknown = true, .most = most, .stop = stop};
    const char *whole = lab_str_text(text);
    enum lab_status st = lab_vocabulary_make(out, &whole, 1, &rule);
    if (st == LAB_E_PARSE)
        return lab_fail(st, "%s: there is not one word in it", path);
    if (st)
        return st;
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] == '\n')
            text->data[i] = '\0';
    }
    if ((*out)->n <= MOST_WORDS)
        return LAB_OK;
    return lab_fail(LAB_E_RANGE, "%s: has %lld words; at most %d: give vocab",
                    path, (long long)(*out)->n, MOST_WORDS);
}

enum lab_status lab_vocabulary_read(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    struct windows w = {.t = &d->table,
                        .stop = d->stop,
                        .context = spec->data.context ? spec->data.context
                                                      : DEFAULT_CONTEXT,
                        .skip_gram = spec->data.skip_gram};
    struct lab_str text;
    if (!path)
        return lab_network_fail(spec, spec->data.place, LAB_E_PARSE,
                                "data: source words needs a path:");
    if (w.context > MOST_CONTEXT)
        return lab_network_fail(spec, spec->data.place, LAB_E_RANGE,
                                "context %lld: at most %d words on each side",
                                (long long)w.context, MOST_CONTEXT);
    lab_str_init(&text);
    enum lab_status st = lab_data_file_text(path, d->stop, &text);
    if (!st)
        st = check_text(&text, path);
    if (!st)
        st = make_vocabulary(&d->words, &text, spec->data.most_words, path,
                             d->stop);
    if (!st)
        st = make_samples(&w, d->words, &text, path);
    lab_str_release(&text);
    return st;
}
