/* front.c -- common parts of the front matter: names, places, strings. */
#include "front.h"

#include <string.h>

#include "base/mem.h"

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

enum lab_status lab_front_string(struct lab_front *f,
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

const struct lab_node_spec *
lab_front_find_node(const struct lab_network_spec *spec, const char *name,
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

const char **lab_front_names(struct lab_front *f, bool nodes, bool tensors,
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
