/* sentence.c -- the wording of what the roofline and the advice state.
 *
 * A sentence is an id and numbers; sentences.def has the words, with a brace
 * for each number and its unit. Tests compare ids and numbers, one golden file
 * has the words. */
#include "profiler/sentence.h"

#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "engine/ceiling.h"
#include "profiler/occupancy.h"

static const char *const wordings[LAB_SENTENCE_COUNT] = {
#define LAB_SENTENCE(id, wording) [LAB_SENTENCE_##id] = wording,
#include "profiler/sentences.def"
#undef LAB_SENTENCE
};

/* `kind` is what a brace holds. */
static void add_value(struct lab_str *out, const char *kind, double v)
{
    char limits[128];
    int digits = atoi(kind);
    if (strcmp(kind, "time") == 0) {
        lab_str_add(out, LAB_NS_TEXT(v));
    } else if (strcmp(kind, "bytes") == 0) {
        lab_str_add(out, LAB_BYTES_TEXT(v));
    } else if (strcmp(kind, "B/s") == 0 || strcmp(kind, "FLOP/s") == 0) {
        lab_str_add(out, LAB_AMOUNT_TEXT(v, kind));
    } else if (strcmp(kind, "ceiling") == 0) {
        lab_str_add(out, lab_ceiling_name((enum lab_ceiling)v));
    } else if (strcmp(kind, "limits") == 0) {
        lab_occupancy_limit_text(limits, sizeof(limits), (int)v);
        lab_str_add(out, limits);
    } else if (strncmp(kind, "n ", 2) == 0) {
        lab_str_addf(out, "%.0f%s%s", v, kind + 1, v == 1 ? "" : "s");
    } else if (strchr(kind, 'g')) {
        lab_str_addf(out, "%.*g", digits, v);
    } else {
        lab_str_addf(out, "%.*f", digits, v);
    }
}

void lab_sentence_add(struct lab_str *out, const struct lab_sentence *s)
{
    const double *x = s->x;
    const char *p = wordings[s->id];
    for (;;) {
        size_t n = strcspn(p, "{");
        lab_str_add_bytes(out, p, n);
        p += n;
        if (!*p)
            return;
        char kind[16] = "";
        n = strcspn(p, "}");
        memcpy(kind, p + 1, n - 1);
        add_value(out, kind, *x++);
        p += n + 1;
    }
}

void lab_sentences_add(struct lab_str *out, const struct lab_sentences *s)
{
    for (int i = 0; i < s->n; i++) {
        if (i > 0)
            lab_str_add_char(out, ' ');
        lab_sentence_add(out, &s->list[i]);
    }
}
