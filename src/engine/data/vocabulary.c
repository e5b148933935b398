/* vocabulary.c -- splits text into words and gives each a number, for the word
 * lessons. */
#include "engine/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- from text to words ---- */

enum { CURLY_APOSTROPHE = 0x2019 };

static bool is_letter(unsigned c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c >= '0' && c <= '9') || c == '\'';
    if (c < 0xC0) /* controls, spaces, signs and quotation marks */
        return c == 0xAA || c == 0xB5 || c == 0xBA;
    if (c == CURLY_APOSTROPHE)
        return true;
    return c != 0xD7 && c != 0xF7 && (c < 0x2000 || c > 0x2BFF) &&
           (c < 0x3000 || c > 0x3004) && (c < 0x3008 || c > 0x3020) &&
           c != 0xFEFF;
}

/* Apostrophes belong inside a word: the last ones were quotation marks. */
static size_t without_quotes(const char *word, size_t n)
{
    while (n > 0 && word[n - 1] == '\'')
        n--;
    return n;
}

/* The bytes of one letter, made small, go to the end of the word. */
static void add_letter(char *word, size_t *len, const char *bytes, size_t n,
                       unsigned code)
{
    if (code == CURLY_APOSTROPHE) {
        bytes = "'";
        n = 1;
    }
    if (*len + n > LAB_WORD_BYTES || (*len == 0 && bytes[0] == '\''))
        return;
    memcpy(word + *len, bytes, n);
    if (code >= 'A' && code <= 'Z')
        word[*len] = (char)(code - 'A' + 'a');
    else if (code >= 0xC0 && code <= 0xDE) /* never 0xD7: no letter */
        word[*len + 1] = (char)(bytes[1] + 0x20);
    *len += n;
}

enum lab_status lab_tokenize(const char *text, size_t len, lab_word_fn *fn,
                             void *user)
{
    char word[LAB_WORD_BYTES + 1];
    size_t n = 0;
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < len && !st;) {
        unsigned code = 0;
        size_t bytes = lab_utf8_next(text + i, len - i, &code);
        bool letter = bytes > 0 && is_letter(code);
        if (letter)
            add_letter(word, &n, text + i, bytes, code);
        i += bytes ? bytes : 1;
        if (n > 0 && (!letter || i >= len)) {
            n = without_quotes(word, n);
            word[n] = '\0';
            st = fn(user, word, n);
            n = 0;
        }
    }
    return st;
}

/* ---- the vocabulary ---- */

int64_t lab_vocabulary_find(const struct lab_vocabulary *v, const char *word)
{
    return lab_names_find(&v->ids, word);
}

const char *lab_vocabulary_word(const struct lab_vocabulary *v, int64_t id)
{
    return id >= 0 && id < v->n ? v->word[id] : "?";
}

struct counting {
    struct lab_vocabulary *v;
    size_t word_room;
    size_t times_room;
    const struct lab_stop *stop;
    int64_t counted;
};

/* All words but the padding can be found. */
static enum lab_status add_word(struct counting *c, const char *word)
{
    struct lab_vocabulary *v = c->v;
    size_t n = (size_t)v->n;
    enum lab_status st =
        lab_grow(&v->word, n, &c->word_room, sizeof(*v->word), "the words");
    if (!st)
        st = lab_grow(&v->times, n, &c->times_room, sizeof(*v->times),
                      "the words");
    if (st)
        return st;
    v->word[n] = n < INT32_MAX ? lab_strdup(word) : NULL;
    if (!v->word[n])
        return lab_no_memory("the words");
    v->times[n] = 0;
    v->n++;
    if (n > 0 && !lab_names_add(&v->ids, v->word[n], (int64_t)n))
        return lab_no_memory("the words");
    return LAB_OK;
}

static enum lab_status count_word(void *user, const char *word, size_t len)
{
    struct counting *c = user;
    enum { LOOK_EVERY = 1 << 12 };
    int64_t id = lab_vocabulary_find(c->v, word);
    (void)len;
    if (c->counted++ % LOOK_EVERY == 0 && lab_stop_asked(c->stop))
        return lab_fail(LAB_E_CANCELLED, "reading was stopped");
    if (id < 0) {
        enum lab_status st = add_word(c, word);
        if (st)
            return st;
        id = c->v->n - 1;
    }
    c->v->times[id]++;
    return LAB_OK;
}

struct counted {
    char *word;
    int64_t times;
    int64_t place; /* of the first time */
};

static int frequent_first(const void *a, const void *b)
{
    const struct counted *x = a;
    const struct counted *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static int as_they_come(const void *a, const void *b)
{
    const struct counted *x = a;
    const struct counted *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Puts the words from `first` on in order, and forgets the rarest. */
static enum lab_status arrange(struct lab_vocabulary *v, int64_t first,
                               const struct lab_vocabulary_rule *rule)
{
    size_t n = (size_t)(v->n - first);
    size_t kept =
        rule->most > 0 && (size_t)rule->most < n ? (size_t)rule->most : n;
    struct counted *list = lab_alloc_array(n, sizeof(*list));
    if (!list)
        return lab_no_memory("the words");
    for (size_t i = 0; i < n; i++)
        list[i] = (struct counted){v->word[(size_t)first + i],
                                   v->times[(size_t)first + i], (int64_t)i};
    if (rule->order == LAB_WORDS_FREQUENT_FIRST || kept < n)
        qsort(list, n, sizeof(*list), frequent_first);
    if (rule->order == LAB_WORDS_AS_THEY_COME)
        qsort(list, kept, sizeof(*list), as_they_come);
    for (size_t i = 0; i < kept; i++) {
        v->word[(size_t)first + i] = list[i].word;
        v->times[(size_t)first + i] = list[i].times;
    }
    for (size_t i = kept; i < n; i++) {
        if (v->unknown > 0)
            v->times[v->unknown] += list[i].times;
        lab_free(list[i].word);
    }
    v->n = first + (int64_t)kept;
    lab_free(list);
    lab_names_release(&v->ids);
    for (int64_t i = 1; i < v->n; i++) {
        if (!lab_names_add(&v->ids, v->word[i], i))
            return lab_no_memory("the words");
    }
    return LAB_OK;
}

enum lab_status lab_vocabulary_make(struct lab_vocabulary **out,
                                    const char *const *texts, size_t n_texts,
                                    const struct lab_vocabulary_rule *rule)
{
    struct counting c = {.v = lab_alloc(sizeof(*c.v)), .stop = rule->stop};
    if (!c.v)
        return lab_no_memory("the words");
    enum lab_status st = add_word(&c, "<pad>");
    if (!st && rule->unknown)
        st = add_word(&c, "<OOV>");
    c.v->unknown = rule->unknown ? 1 : -1;
    int64_t first = c.v->n;
    for (size_t i = 0; i < n_texts && !st; i++)
        st = lab_tokenize(texts[i], strlen(texts[i]), count_word, &c);
    if (!st && c.v->n == first)
        st = lab_fail(LAB_E_PARSE,
                      "[data.text.no-words] there is not one word in the text");
    if (!st)
        st = arrange(c.v, first, rule);
    if (st) {
        lab_vocabulary_free(c.v);
        return st;
    }
    *out = c.v;
    return LAB_OK;
}

/* ---- from words to numbers ---- */

struct numbering {
    const struct lab_vocabulary *v;
    int32_t *ids; /* NULL: count only */
    int64_t n;
};

static enum lab_status number_word(void *user, const char *word, size_t len)
{
    struct numbering *k = user;
    int64_t id = lab_vocabulary_find(k->v, word);
    (void)len;
    if (id < 0)
        id = k->v->unknown;
    if (id < 0)
        return LAB_OK;
    if (k->ids)
        k->ids[k->n] = (int32_t)id;
    k->n++;
    return LAB_OK;
}

enum lab_status lab_encode(const struct lab_vocabulary *v, const char *text,
                           int32_t **ids, int64_t *n)
{
    struct numbering k = {.v = v};
    size_t len = strlen(text);
    lab_tokenize(text, len, number_word, &k);
    k.ids = lab_alloc_array((size_t)k.n, sizeof(*k.ids));
    if (!k.ids)
        return lab_no_memory("the words");
    k.n = 0;
    lab_tokenize(text, len, number_word, &k);
    *ids = k.ids;
    *n = k.n;
    return LAB_OK;
}

void lab_vocabulary_pad(const int32_t *ids, int64_t n,
                        const struct lab_padding *pad, double *row)
{
    int64_t kept = n < pad->length ? n : pad->length;
    const int32_t *from = pad->cut_end ? ids : ids + (n - kept);
    int64_t at = pad->after ? 0 : pad->length - kept;
    for (int64_t i = 0; i < pad->length; i++) {
        bool word = i >= at && i < at + kept;
        row[i] = word ? from[i - at] : 0;
    }
}
