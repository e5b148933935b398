/* variant_words.c -- the variants of a run shortened to a column. */
#include "store/variant_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Operations have fewer; of a file from elsewhere the first ones are shown. */
enum { VARIANTS = 16 };

struct tally {
    const char *name; /* not ended */
    int length;
    int nodes;
};

static void count(struct tally *list, int *n, const char *name, int length)
{
    int i = 0;
    while (i < *n && (list[i].length != length ||
                      strncmp(list[i].name, name, (size_t)length) != 0))
        i++;
    if (i == VARIANTS)
        return;
    if (i == *n)
        list[(*n)++] = (struct tally){name, length, 0};
    list[i].nodes++;
}

static int count_all(struct tally *list, const char *text)
{
    int n = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        const char *equals = memchr(text, '=', word);
        if (equals && equals + 1 < text + word)
            count(list, &n, equals + 1, (int)(text + word - equals - 1));
        text += word + strspn(text + word, " ");
    }
    return n;
}

static struct tally *commonest(struct tally *list, int n)
{
    struct tally *best = NULL;
    for (int i = 0; i < n; i++)
        if (list[i].nodes > 0 && (!best || list[i].nodes > best->nodes))
            best = &list[i];
    return best;
}

static void write_words(struct tally *list, int n, char *out)
{
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        struct tally *t = commonest(list, n);
        int wrote = snprintf(out + used, LAB_VARIANT_WORDS - used, "%s%.*s",
                             used ? ", " : "", t->length, t->name);
        if (used + (size_t)wrote >= LAB_VARIANT_WORDS) {
            strcpy(out + LAB_VARIANT_WORDS - 4, "...");
            return;
        }
        used += (size_t)wrote;
        t->nodes = 0;
    }
}

void lab_variant_words_of(const char *variants, char out[LAB_VARIANT_WORDS])
{
    struct tally list[VARIANTS];
    int n = count_all(list, variants);
    snprintf(out, LAB_VARIANT_WORDS, "%s", n ? "" : "naive");
    write_words(list, n, out);
}

const char *lab_variant_words(const struct lab_run_row *run,
                              char out[LAB_VARIANT_WORDS])
{
    if (!run->variants && (!run->kind || strcmp(run->kind, "lesson") != 0))
        return NULL;
    char words[LAB_VARIANT_WORDS];
    lab_variant_words_of(run->variants ? run->variants : "", words);
    if (!lab_run_lr_was_set(run))
        strcpy(out, words);
    else if (snprintf(out, LAB_VARIANT_WORDS, "lr %g, %s", run->learning_rate,
                      words) >= LAB_VARIANT_WORDS)
        strcpy(out + LAB_VARIANT_WORDS - 4, "...");
    return out;
}

/* From the node on at which they begin to differ. */
static const char *from_difference(const char *text, const char *other)
{
    size_t i = 0;
    while (text[i] && text[i] == other[i])
        i++;
    while (i > 0 && text[i - 1] != ' ')
        i--;
    return text + i;
}

void lab_variant_words_beside(const char *kept[2],
                              char words[2][LAB_VARIANT_WORDS])
{
    const char *a = kept[0] ? kept[0] : "";
    const char *b = kept[1] ? kept[1] : "";
    lab_variant_words_of(a, words[0]);
    lab_variant_words_of(b, words[1]);
    bool same = *a && *b && strcmp(words[0], words[1]) == 0;
    kept[0] = same ? from_difference(a, b) : words[0];
    kept[1] = same ? from_difference(b, a) : words[1];
}
