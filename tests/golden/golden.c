/* Reads the files of golden values and compares tensors with them; golden.h has
 * the rules. */
#include "golden/golden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct reader {
    FILE *file;
    const char *path;
    struct golden *g;
};

static enum lab_status bad(const struct reader *r, const char *what)
{
    return lab_fail(LAB_E_PARSE, "%s: byte %ld: %s", r->path, ftell(r->file),
                    what);
}

static enum lab_status read_numbers(struct reader *r, struct golden_tensor *t)
{
    t->data = lab_alloc_array((size_t)t->count, sizeof(*t->data));
    if (!t->data)
        return lab_fail(LAB_E_NOMEM, "%s: tensor %s", r->path, t->name);
    for (int64_t i = 0; i < t->count; i++) {
        if (fscanf(r->file, "%lf", &t->data[i]) != 1)
            return bad(r, "a number is missing");
    }
    return LAB_OK;
}

/* `tensor NAME ROLE f64|i64 NDIM D.. COUNT` and its numbers */
static enum lab_status read_tensor(struct reader *r)
{
    struct golden *g = r->g;
    struct golden_tensor *grown =
        lab_realloc_array(g->tensors, (size_t)g->n_tensors + 1, sizeof(*grown));
    if (!grown)
        return lab_fail(LAB_E_NOMEM, "%s", r->path);
    g->tensors = grown;
    struct golden_tensor *t = &grown[g->n_tensors];
    *t = (struct golden_tensor){0};
    g->n_tensors++;
    char type[8];
    if (fscanf(r->file, "%31s %15s %7s %d", t->name, t->role, type, &t->rank) !=
            4 ||
        t->rank < 0 || t->rank > GOLDEN_MAX_RANK)
        return bad(r, "not a tensor line");
    t->is_int = strcmp(type, "i64") == 0;
    if (!t->is_int && strcmp(type, "f64") != 0)
        return bad(r, "neither f64 nor i64");
    int64_t product = 1;
    for (int d = 0; d < t->rank; d++) {
        long long dim;
        if (fscanf(r->file, "%lld", &dim) != 1 || dim < 0 || dim > 1000000)
            return bad(r, "not a dimension");
        t->dim[d] = dim;
        product *= dim;
    }
    long long count;
    if (fscanf(r->file, "%lld", &count) != 1 || count != product)
        return bad(r, "the count is not the product of the dimensions");
    t->count = count;
    return read_numbers(r, t);
}

static enum lab_status read_scalar(struct reader *r)
{
    struct golden *g = r->g;
    struct golden_scalar *grown =
        lab_realloc_array(g->scalars, (size_t)g->n_scalars + 1, sizeof(*grown));
    if (!grown)
        return lab_fail(LAB_E_NOMEM, "%s", r->path);
    g->scalars = grown;
    struct golden_scalar *s = &grown[g->n_scalars];
    if (fscanf(r->file, "%31s %lf", s->name, &s->value) != 2)
        return bad(r, "not a scalar line");
    g->n_scalars++;
    return LAB_OK;
}

static enum lab_status read_lines(struct reader *r)
{
    int version;
    if (fscanf(r->file, "golden %d", &version) != 1 || version != 1)
        return bad(r, "not a golden file of version 1");
    for (;;) {
        char word[16];
        enum lab_status st = LAB_OK;
        if (fscanf(r->file, "%15s", word) != 1)
            return bad(r, "no `end`");
        if (strcmp(word, "end") == 0)
            return LAB_OK;
        if (strcmp(word, "tensor") == 0)
            st = read_tensor(r);
        else if (strcmp(word, "scalar") == 0)
            st = read_scalar(r);
        else if (strcmp(word, "case") == 0)
            st = fscanf(r->file, "%63s", r->g->name) == 1 ? LAB_OK
                                                          : bad(r, "no case");
        else if (strcmp(word, "family") == 0)
            st = fscanf(r->file, "%15s", r->g->family) == 1
                     ? LAB_OK
                     : bad(r, "no family");
        else
            st = bad(r, "unknown word");
        if (st)
            return st;
    }
}

enum lab_status golden_load_file(const char *path, struct golden **out)
{
    struct reader r = {.path = path};
    r.file = fopen(path, "r");
    if (!r.file)
        return lab_fail(LAB_E_IO, "cannot open %s", path);
    r.g = lab_alloc(sizeof(*r.g));
    enum lab_status st =
        r.g ? read_lines(&r) : lab_fail(LAB_E_NOMEM, "%s", path);
    fclose(r.file);
    if (st)
        golden_free(r.g);
    else
        *out = r.g;
    return st;
}

enum lab_status golden_load(const char *name, struct golden **out)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.txt", LAB_GOLDEN_DIR, name);
    return golden_load_file(path, out);
}

void golden_free(struct golden *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->n_tensors; i++)
        lab_free(g->tensors[i].data);
    lab_free(g->tensors);
    lab_free(g->scalars);
    lab_free(g);
}

const struct golden_tensor *golden_tensor(const struct golden *g,
                                          const char *name)
{
    for (int i = 0; i < g->n_tensors; i++) {
        if (strcmp(g->tensors[i].name, name) == 0)
            return &g->tensors[i];
    }
    return NULL;
}

double golden_scalar(const struct golden *g, const char *name)
{
    for (int i = 0; i < g->n_scalars; i++) {
        if (strcmp(g->scalars[i].name, name) == 0)
            return g->scalars[i].value;
    }
    return NAN;
}
