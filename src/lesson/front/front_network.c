/* front_network.c -- the key `network` of the front matter: nodes and their
 * inputs. */
#include "front.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

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
        st = lab_front_string(f, id, LAB_FRONT_NAME_BYTES, &out->id);
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
    const char **names = lab_front_names(f, true, true, &count);
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
        enum lab_status st = lab_front_string(f, c, LAB_FRONT_NAME_BYTES, slot);
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
