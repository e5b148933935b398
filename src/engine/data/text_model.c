/* text_model.c -- the model that counts: which characters followed which three.
 *
 * The baseline of the lessons about text: bits a character of a table of
 * counts, on the held-back end. `run` and the screen of a training show it
 * beside the network's. */
#include <math.h>

#include "base/mem.h"
#include "engine/text.h"

enum { ORDER = 3, ROOT = 0, NONE = -1 };

/* A node is a string of up to ORDER + 1 characters. */
struct node {
    int32_t count; /* how often it occurred */
    int32_t total; /* how often some character followed it */
    int32_t kinds; /* how many different ones */
};

struct counts {
    struct node *node;
    int64_t n;
    uint64_t *key;  /* a hash table: (string, character) + 1; 0: free */
    int32_t *child; /* ... is the longer string */
    uint64_t mask;
};

static enum lab_status open_counts(struct counts *c, int64_t characters)
{
    int64_t most = characters * (ORDER + 1) + 1;
    uint64_t slots = 1024;
    while (slots < (uint64_t)most * 2)
        slots *= 2;
    c->n = 1;
    c->mask = slots - 1;
    c->node = lab_alloc_array((size_t)most, sizeof(*c->node));
    c->key = lab_alloc_array(slots, sizeof(*c->key));
    c->child = lab_alloc_array(slots, sizeof(*c->child));
    if (c->node && c->key && c->child)
        return LAB_OK;
    return lab_fail(LAB_E_NOMEM, "no memory to count the text");
}

static void close_counts(struct counts *c)
{
    lab_free(c->node);
    lab_free(c->key);
    lab_free(c->child);
}

/* The slot of a key, or the free one where it belongs. */
static uint64_t find(const struct counts *c, int32_t node, int32_t id)
{
    uint64_t key = (((uint64_t)node << 32) | (uint32_t)id) + 1;
    uint64_t at = (key * 0x9E3779B97F4A7C15u) >> 20;
    while (c->key[at & c->mask] && c->key[at & c->mask] != key)
        at++;
    return at & c->mask;
}

static int32_t follow(const struct counts *c, int32_t node, int32_t id)
{
    uint64_t at = find(c, node, id);
    return c->key[at] ? c->child[at] : NONE;
}

static int32_t grow(struct counts *c, int32_t node, int32_t id)
{
    uint64_t at = find(c, node, id);
    if (!c->key[at]) {
        c->key[at] = (((uint64_t)node << 32) | (uint32_t)id) + 1;
        c->child[at] = (int32_t)c->n++;
        c->node[node].kinds++;
    }
    c->node[node].total++;
    c->node[c->child[at]].count++;
    return c->child[at];
}

/* context[k]: the string of the last k characters, NONE where it never
 * occurred. */
static void learn(struct counts *c, const struct lab_text *t,
                  int32_t context[ORDER + 1])
{
    for (int64_t i = 0; i < t->train_count; i++) {
        for (int k = ORDER; k >= 0; k--) {
            int32_t longer = NONE;
            if (context[k] != NONE)
                longer = grow(c, context[k], t->id[i]);
            if (k < ORDER)
                context[k + 1] = longer;
        }
    }
}

static double share(const struct counts *c, const int32_t context[ORDER + 1],
                    int32_t id, double least)
{
    double p = least;
    for (int k = 0; k <= ORDER && context[k] != NONE; k++) {
        const struct node *h = &c->node[context[k]];
        int32_t longer = follow(c, context[k], id);
        double count = longer == NONE ? 0 : c->node[longer].count;
        if (h->total > 0)
            p = (count + h->kinds * p) / ((double)h->total + h->kinds);
    }
    return p;
}

static double measure(const struct counts *c, const struct lab_text *t,
                      int32_t context[ORDER + 1])
{
    double bits = 0;
    for (int64_t i = t->train_count; i < t->count; i++) {
        bits -= log2(share(c, context, t->id[i], 1.0 / (double)t->vocab));
        for (int k = ORDER - 1; k >= 0; k--)
            context[k + 1] =
                context[k] == NONE ? NONE : follow(c, context[k], t->id[i]);
    }
    return bits / (double)(t->count - t->train_count);
}

enum lab_status lab_text_order3_bits(const struct lab_text *t, double *bits)
{
    struct counts c = {0};
    int32_t context[ORDER + 1] = {ROOT, NONE, NONE, NONE};
    *bits = NAN;
    if (t->count == t->train_count)
        return LAB_OK;
    if (t->train_count > (int64_t)1 << 29)
        return lab_fail(LAB_E_RANGE,
                        "[data.text.long] the text is too long to be counted");
    enum lab_status st = open_counts(&c, t->train_count);
    if (!st) {
        learn(&c, t, context);
        *bits = measure(&c, t, context);
    }
    close_counts(&c);
    return st;
}
