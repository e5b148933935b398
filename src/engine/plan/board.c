/* board.c -- the tensors of a step as one writes them, by the index notation of
 * its formula: where each is drawn, which of its axes run down and across, and
 * which of its elements belong to the chosen one.
 *
 * Every letter of the formula has a span. The chosen element narrows the spans
 * of the letters in its indices, and so does the end of each axis: what padding
 * reads outside is left out. What an index can then reach is lit. */
#include "engine/board.h"

#include <string.h>

#include "base/mem.h"
#include "engine/formula.h"

enum { DEPTH = 3 }; /* outputs that are computed from outputs of the step */

/* A box in the coordinates of one tensor. */
struct box {
    struct lab_reach at[LAB_MAX_RANK];
};

struct board_maker {
    const struct lab_plan *plan;
    const struct lab_step *step;
    const struct lab_board_choice *choice;
    struct lab_formula *f;
    struct lab_board *out;
};

/* The letters of one statement. A letter under a sum may be free outside it:
 * these are two. */
struct spans {
    unsigned bound[LAB_FORMULA_REFS];
    struct lab_reach free[LAB_FORMULA_LETTERS];
    struct lab_reach summed[LAB_FORMULA_LETTERS];
};

/* ---- how a tensor opens ---- */

bool lab_holds_pictures(const struct lab_plan *plan, const struct lab_tensor *t)
{
    return t->shape.rank == 4 &&
           (t->node < 0 || plan->nodes[t->node].op->n_axes == 0);
}

int64_t lab_show_room(int64_t elements)
{
    const int64_t n = LAB_PLANE_ELEMENTS / (elements > 0 ? elements : 1);
    return n > LAB_SHEET_TILES ? LAB_SHEET_TILES : n;
}

void lab_show_first(const struct lab_plan *plan, int tensor,
                    struct lab_show *show)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    *show = (struct lab_show){.tensor = tensor};
    while (t->gradient_of >= 0)
        t = &plan->tensors[t->gradient_of];
    int rank = t->shape.rank;
    show->row_axis = rank >= 2 ? rank - 2 : -1;
    show->col_axis = rank >= 1 ? rank - 1 : -1;
    /* Channels are last: [N,H,W,C] or, of filters, [H,W,C,M]. */
    if (plan->layout == LAB_NHWC && lab_holds_pictures(plan, t)) {
        bool filter =
            t->role == LAB_TENSOR_PARAM || t->role == LAB_TENSOR_STATE;
        show->row_axis = filter ? 0 : 1;
        show->col_axis = show->row_axis + 1;
    }
}

/* ---- spans ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static bool is_empty(struct lab_reach s)
{
    return s.last < s.first;
}

static struct lab_reach meet(struct lab_reach a, struct lab_reach b)
{
    a.first = a.first > b.first ? a.first : b.first;
    a.last = a.last < b.last ? a.last : b.last;
    return a;
}

static struct lab_reach join(struct lab_reach a, struct lab_reach b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    a.first = a.first < b.first ? a.first : b.first;
    a.last = a.last > b.last ? a.last : b.last;
    return a;
}

static struct lab_reach times(struct lab_reach s, int64_t coef)
{
    struct lab_reach a = {s.first * coef, s.last * coef};
    struct lab_reach b = {a.last, a.first};
    return coef < 0 ? b : a;
}

/* The statement's left side is a tensor that is read where it is. */
static const struct lab_formula_ref *indexed(const struct lab_formula *f,
                                             int statement, int ref)
{
    const struct lab_formula_ref *r = &f->refs[ref];
    return r->flat ? &f->refs[f->statements[statement].left] : r;
}

static struct lab_reach *span_of(struct spans *s, int ref, int letter)
{
    return s->bound[ref] >> letter & 1 ? &s->summed[letter] : &s->free[letter];
}

/* What an index can reach, without the letter number `without`. */
static struct lab_reach reach(struct spans *s, const struct lab_formula_ref *r,
                              int ref, int axis, int without)
{
    struct lab_reach sum = {r->index[axis].constant, r->index[axis].constant};
    for (int k = 0; k < r->index[axis].n; k++) {
        if (k == without)
            continue;
        struct lab_reach part = *span_of(s, ref, r->index[axis].letter[k]);
        if (is_empty(part))
            return part;
        part = times(part, r->index[axis].coef[k]);
        sum.first += part.first;
        sum.last += part.last;
    }
    return sum;
}

/* Narrows the letters of the tensor's indices to what reaches into the box. */
static void narrow(struct spans *s, const struct lab_formula_ref *r, int ref,
                   const struct box *box)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < r->n; i++) {
            for (int k = 0; k < r->index[i].n; k++) {
                struct lab_reach rest = reach(s, r, ref, i, k);
                if (is_empty(rest))
                    continue;
                struct lab_reach to = {box->at[i].first - rest.last,
                                       box->at[i].last - rest.first};
                int64_t coef = r->index[i].coef[k];
                if (coef < 0)
                    to = times(to, -1);
                coef = coef < 0 ? -coef : coef;
                to.first = -floor_div(-to.first, coef);
                to.last = floor_div(to.last, coef);
                struct lab_reach *mine = span_of(s, ref, r->index[i].letter[k]);
                *mine = meet(*mine, to);
            }
        }
    }
}

static void refs_of(const struct lab_formula *f, int statement, int *from,
                    int *end)
{
    *from = f->statements[statement].left;
    *end = statement + 1 < f->n_statements ? f->statements[statement + 1].left
                                           : f->n_refs;
}

/* All letters run, within the tensors. */
static void spans_first(struct spans *s, const struct lab_formula *f,
                        int statement)
{
    int from;
    int end;
    lab_formula_bound(f, statement, s->bound);
    for (int i = 0; i < f->n_letters; i++) {
        int64_t n = f->letters[i].extent;
        s->free[i] = s->summed[i] = (struct lab_reach){0, n > 0 ? n - 1 : 0};
    }
    refs_of(f, statement, &from, &end);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = from; i < end; i++) {
            struct box all = {0};
            for (int k = 0; k < f->refs[i].n; k++)
                all.at[k].last = f->refs[i].index[k].dim - 1;
            if (!f->refs[i].flat)
                narrow(s, &f->refs[i], i, &all);
        }
    }
}

static void spans_box(struct spans *s, const struct lab_formula *f,
                      int statement, int ref, struct box *out)
{
    const struct lab_formula_ref *r = indexed(f, statement, ref);
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < r->n; i++)
        out->at[i] = meet(reach(s, r, ref, i, -1),
                          (struct lab_reach){0, r->index[i].dim - 1});
}

/* ---- tensors ---- */

static int tensor_of_ref(const struct board_maker *m,
                         const struct lab_formula_ref *r)
{
    if (r->slot >= (r->out ? m->step->n_out : m->step->n_in))
        return -1;
    return r->out ? m->step->out[r->slot] : m->step->in[r->slot];
}

static struct lab_board_part *part_of(struct board_maker *m, int tensor)
{
    struct lab_board *b = m->out;
    if (tensor < 0)
        return NULL;
    for (int i = 0; i < b->n; i++)
        if (b->part[i].tensor == tensor)
            return &b->part[i];
    if (b->n == LAB_BOARD_PARTS)
        return NULL;
    struct lab_board_part *p = &b->part[b->n++];
    *p = (struct lab_board_part){.tensor = tensor, .place = LAB_BOARD_BESIDE};
    lab_show_first(m->plan, tensor, &p->show);
    if (m->choice->look)
        m->choice->look(m->choice->user, tensor, &p->show);
    return p;
}

static bool same_shape(const struct board_maker *m, int a, int b)
{
    return lab_shape_equal(&m->plan->tensors[a].shape,
                           &m->plan->tensors[b].shape);
}

/* ---- which axes ---- */

static unsigned letters_at(const struct lab_formula_ref *r, int axis)
{
    unsigned mask = 0;
    for (int k = 0; axis >= 0 && axis < r->n && k < r->index[axis].n; k++)
        mask |= 1u << r->index[axis].letter[k];
    return mask;
}

/* Those of them that a step along the axis changes: columns h * 8 + f, of 8 for each
 * head, are read along f. */
static unsigned letters_along(const struct lab_formula_ref *r, int axis)
{
    unsigned mask = 0;
    int64_t least = INT64_MAX;
    for (int k = 0; axis >= 0 && axis < r->n && k < r->index[axis].n; k++) {
        const int64_t coef = r->index[axis].coef[k];
        const int64_t size = coef < 0 ? -coef : coef;
        if (size < least)
            mask = 0;
        if (size <= least)
            mask |= 1u << r->index[axis].letter[k];
        least = size < least ? size : least;
    }
    return mask;
}

/* The axes of one input in terms of the result's. */
struct axes {
    int row; /* shares the result's rows; -1: none does */
    int col;
    int sum;     /* the longest axis that only a sum runs over */
    bool window; /* an index that moves with the result, and is summed over */
};

static struct axes axes_of(const struct lab_formula *f,
                           const struct lab_formula_ref *r, unsigned bound,
                           unsigned rows, unsigned cols)
{
    struct axes a = {-1, -1, -1, false};
    int64_t most = 0;
    for (int i = 0; i < r->n; i++) {
        unsigned all = letters_at(r, i);
        unsigned mine = all & ~bound;
        bool shared = mine & (rows | cols);
        if (mine & rows && a.row < 0)
            a.row = i;
        else if (mine & cols && a.col < 0)
            a.col = i;
        a.window = a.window || (shared && all & bound);
        /* A tie goes to the letter that was written first: operands that meet
         * in two letters choose the same. */
        if (shared || !(all & bound))
            continue;
        int letter = __builtin_ctz(all & bound);
        int64_t n = f->letters[letter].extent;
        if (a.sum < 0 || n > most) {
            most = n;
            a.sum = i;
        }
    }
    return a;
}

/* Bound letters that move a window over another tensor: they are the rows and
 * columns of a kernel. */
static unsigned window_letters(const struct lab_formula *f, int statement,
                               const unsigned *bound, unsigned shown)
{
    unsigned mask = 0;
    int from;
    int end;
    refs_of(f, statement, &from, &end);
    for (int i = from + 1; i < end; i++) {
        for (int k = 0; k < f->refs[i].n; k++) {
            unsigned all = letters_at(&f->refs[i], k);
            if (all & ~bound[i] & shown)
                mask |= all & bound[i];
        }
    }
    return mask;
}

static void place_part(struct lab_board_part *p, const struct lab_formula *f,
                       const struct lab_formula_ref *r, unsigned bound,
                       const unsigned shown[2], unsigned windows)
{
    struct axes a = axes_of(f, r, bound, shown[0], shown[1]);
    bool both = a.row >= 0 && a.col >= 0;
    int found[2] = {-1, -1};
    int n = 0;
    for (int i = 0; i < r->n && n < 2; i++)
        if (letters_at(r, i) & bound & windows && i != a.row && i != a.col)
            found[n++] = i;
    p->summed = a.sum >= 0 || a.window;
    if (both && a.sum >= 0 && !a.window) {
        p->place = LAB_BOARD_ABOVE; /* each column of the result is a sum */
        p->show.row_axis = a.sum;
        p->show.col_axis = a.col;
    } else if (both) {
        p->show.row_axis = a.row;
        p->show.col_axis = a.col;
    } else if (n == 2) {
        p->show.row_axis = found[0];
        p->show.col_axis = found[1];
    } else if (a.row >= 0) {
        p->place = LAB_BOARD_LEFT;
        p->show.row_axis = a.row;
        p->show.col_axis = a.sum;
    } else if (a.col >= 0) {
        p->place = LAB_BOARD_ABOVE;
        p->show.row_axis = a.sum;
        p->show.col_axis = a.col;
    }
}

/* A result of one axis is a column where that comes before what is summed. */
static void turn_vector(struct lab_show *show, const struct lab_formula *f,
                        int statement, const unsigned *bound)
{
    int from;
    int end;
    refs_of(f, statement, &from, &end);
    unsigned mine = letters_at(&f->refs[from], 0);
    for (int i = from + 1; i < end; i++) {
        int at = -1;
        int sum = -1;
        for (int k = 0; k < f->refs[i].n; k++) {
            unsigned all = letters_at(&f->refs[i], k);
            at = all & ~bound[i] & mine ? k : at;
            sum = all & bound[i] ? k : sum;
        }
        if (at < 0 || sum < 0)
            continue;
        show->row_axis = at < sum ? 0 : -1;
        show->col_axis = at < sum ? -1 : 0;
        return;
    }
}

/* ---- what is lit ---- */

/* Whether the hull of two ranges holds nothing but their elements. */
static bool is_one_range(const struct lab_reach *a, const struct lab_reach *b)
{
    int differ = 0;
    bool in_a = true;
    bool in_b = true;
    bool touch = true;
    for (int i = 0; i < LAB_MAX_RANK; i++) {
        differ += a[i].first != b[i].first || a[i].last != b[i].last;
        in_a = in_a && a[i].first <= b[i].first && b[i].last <= a[i].last;
        in_b = in_b && b[i].first <= a[i].first && a[i].last <= b[i].last;
        touch =
            touch && a[i].first <= b[i].last + 1 && b[i].first <= a[i].last + 1;
    }
    return in_a || in_b || (touch && differ <= 1);
}

static void join_range(struct lab_reach *to, const struct lab_reach *from)
{
    for (int i = 0; i < LAB_MAX_RANK; i++)
        to[i] = join(to[i], from[i]);
}

static void light(struct lab_board_part *p, const struct box *box)
{
    struct box all = *box;
    for (int i = 0; i < LAB_MAX_RANK; i++)
        if (!p || is_empty(box->at[i]))
            return;
    for (int i = 0; i < p->n_lit;) {
        if (is_one_range(p->lit[i], all.at)) {
            join_range(all.at, p->lit[i]);
            memcpy(p->lit[i], p->lit[--p->n_lit], sizeof(p->lit[i]));
            i = 0;
        } else {
            i++;
        }
    }
    if (p->n_lit < LAB_BOARD_RANGES)
        memcpy(p->lit[p->n_lit++], all.at, sizeof(all.at));
    else
        join_range(p->lit[p->n_lit - 1], all.at);
}

static void visit(struct board_maker *m, int statement, struct spans *spans,
                  int depth);

/* From an element of an output: all that it is computed from. */
static void visit_box(struct board_maker *m, int statement,
                      const struct box *left, int depth)
{
    struct spans *s = depth < DEPTH ? lab_alloc(sizeof(*s)) : NULL;
    int ref = m->f->statements[statement].left;
    if (!s)
        return;
    spans_first(s, m->f, statement);
    narrow(s, &m->f->refs[ref], ref, left);
    visit(m, statement, s, depth);
    lab_free(s);
}

static void visit(struct board_maker *m, int statement, struct spans *spans,
                  int depth)
{
    const struct lab_formula *f = m->f;
    struct box box;
    int from;
    int end;
    refs_of(f, statement, &from, &end);
    int result = tensor_of_ref(m, &f->refs[from]);
    const struct lab_board_part *shown = part_of(m, result);
    unsigned axes[2] = {0, 0};
    if (shown) {
        axes[0] = letters_along(&f->refs[from], shown->show.row_axis);
        axes[1] = letters_along(&f->refs[from], shown->show.col_axis);
    }
    unsigned windows =
        window_letters(f, statement, spans->bound, axes[0] | axes[1]);
    for (int turn = 0; turn < 2; turn++) /* ends of axes, then what follows */
        for (int i = from; i < end; i++) {
            spans_box(spans, f, statement, i, &box);
            if (!f->refs[i].flat)
                narrow(spans, &f->refs[i], i, &box);
        }
    for (int i = from + 1; i < end; i++) {
        const struct lab_formula_ref *r = &f->refs[i];
        int tensor = tensor_of_ref(m, r);
        if (tensor < 0 || tensor == result ||
            (r->flat && !same_shape(m, tensor, result)))
            continue;
        int known = m->out->n;
        struct lab_board_part *p = part_of(m, tensor);
        if (p && m->out->n > known)
            place_part(p, f, indexed(f, statement, i),
                       r->flat ? 0 : spans->bound[i], axes, windows);
        spans_box(spans, f, statement, i, &box);
        light(p, &box);
        int other = r->out ? lab_formula_statement(f, r->slot) : -1;
        if (other >= 0 && other != statement)
            visit_box(m, other, &box, depth + 1);
    }
}

/* From an element of any tensor to the elements of the result that it reaches:
 * the spans of the statement's letters then. false: it reaches none. */
static bool find(struct board_maker *m, int statement, int tensor,
                 const struct box *at, struct spans *out, int depth)
{
    const struct lab_formula *f = m->f;
    int from;
    int end;
    int best = -1;
    int most = -1;
    refs_of(f, statement, &from, &end);
    spans_first(out, f, statement);
    for (int i = from; i < end; i++) {
        /* Read twice, once under a sum: that reaches more. */
        int n = __builtin_popcount(out->bound[i]);
        if (tensor_of_ref(m, &f->refs[i]) == tensor && n > most) {
            best = i;
            most = n;
        }
    }
    if (best >= 0) {
        narrow(out, indexed(f, statement, best), best, at);
        return true;
    }
    for (int i = from + 1; i < end && depth < DEPTH; i++) {
        int other =
            f->refs[i].out ? lab_formula_statement(f, f->refs[i].slot) : -1;
        struct spans *inner =
            other >= 0 && other != statement ? lab_alloc(sizeof(*inner)) : NULL;
        struct box box;
        bool found = inner && find(m, other, tensor, at, inner, depth + 1);
        if (found) {
            spans_box(inner, f, other, f->statements[other].left, &box);
            narrow(out, indexed(f, statement, i), i, &box);
        }
        lab_free(inner);
        if (found)
            return true;
    }
    return false;
}

static struct box box_of(const struct lab_plan *plan, struct lab_element e)
{
    int64_t at[LAB_MAX_RANK] = {0};
    struct box box = {0};
    const struct lab_shape *shape = &plan->tensors[e.tensor].shape;
    lab_shape_unravel(shape, e.index, at);
    for (int i = 0; i < shape->rank; i++)
        box.at[i] = (struct lab_reach){at[i], at[i]};
    return box;
}

static void light_by_formula(struct board_maker *m, int statement,
                             struct spans *s)
{
    struct lab_element e = m->choice->cursor;
    int left = m->f->statements[statement].left;
    struct box box;
    if (e.tensor >= 0) {
        box = box_of(m->plan, e);
        if (!find(m, statement, e.tensor, &box, s, 0))
            e.tensor = -1;
    }
    struct lab_board_part *result =
        part_of(m, tensor_of_ref(m, &m->f->refs[left]));
    result->place = LAB_BOARD_RESULT;
    if (m->plan->tensors[result->tensor].shape.rank == 1)
        turn_vector(&result->show, m->f, statement, s->bound);
    visit(m, statement, s, 0);
    spans_box(s, m->f, statement, left, &box);
    result = part_of(m, result->tensor);
    light(result, &box);
    struct lab_board_part *own = part_of(m, e.tensor);
    if (own && e.tensor >= 0) {
        box = box_of(m->plan, e);
        own->n_lit = 0;
        light(own, &box);
    }
    for (int i = 0; e.tensor < 0 && i < m->out->n; i++)
        m->out->part[i].n_lit = 0; /* no element is chosen */
}

/* ---- hidden axes ---- */

/* The first range that the shown slice meets, else the first; NULL: there is none. */
static const struct lab_reach *range_shown(const struct lab_board_part *p)
{
    struct lab_reach rows;
    struct lab_reach cols;
    for (int i = 0; i < p->n_lit; i++)
        if (lab_board_lit_range(p, i, &rows, &cols))
            return p->lit[i];
    return p->n_lit > 0 ? p->lit[0] : NULL;
}

/* A part shows the slice that the reader chose if it is lit, else one that is;
 * a letter that two parts hide has one value in both. */
static void pin(struct board_maker *m, struct lab_board_part *p,
                const struct lab_formula_ref *r, int64_t *pinned)
{
    const struct lab_shape *shape = &m->plan->tensors[p->tensor].shape;
    const struct lab_reach *lit = range_shown(p);
    for (int i = 0; i < shape->rank; i++) {
        int64_t *at = &p->show.fixed[i];
        int64_t *letter = r && i < r->n && r->index[i].n == 1 &&
                                  r->index[i].coef[0] == 1 &&
                                  r->index[i].constant == 0
                              ? &pinned[r->index[i].letter[0]]
                              : NULL;
        if (i == p->show.row_axis || i == p->show.col_axis) {
            *at = 0;
            continue;
        }
        if (lit && *at < lit[i].first)
            *at = lit[i].first;
        if (lit && *at > lit[i].last)
            *at = lit[i].last;
        if (letter && *letter >= 0 && *letter < shape->dim[i])
            *at = *letter;
        else if (letter)
            *letter = *at;
    }
}

static const struct lab_formula_ref *ref_of(const struct board_maker *m,
                                            int statement, int tensor)
{
    int from;
    int end;
    refs_of(m->f, statement, &from, &end);
    for (int i = from; i < end; i++)
        if (tensor_of_ref(m, &m->f->refs[i]) == tensor)
            return indexed(m->f, statement, i);
    return NULL;
}

static void pin_all(struct board_maker *m, int statement, int result)
{
    int64_t pinned[LAB_FORMULA_LETTERS];
    for (int i = 0; i < LAB_FORMULA_LETTERS; i++)
        pinned[i] = -1;
    for (int turn = 0; turn < 3; turn++) { /* the cursor's goes first */
        for (int i = 0; i < m->out->n; i++) {
            struct lab_board_part *p = &m->out->part[i];
            int when = p->tensor == m->choice->cursor.tensor ? 0
                       : p->tensor == result                 ? 1
                                                             : 2;
            if (when == turn)
                pin(m, p, ref_of(m, statement, p->tensor), pinned);
        }
    }
}

/* ---- formulas in words ---- */

/* The sources of the explained element, as a box in each tensor. */
static void light_by_terms(struct board_maker *m)
{
    const struct lab_explanation *e = m->choice->explanation;
    struct box box;
    if (!e || e->tensor < 0)
        return;
    for (int i = 0; i < m->out->n; i++) {
        struct lab_board_part *p = &m->out->part[i];
        if (p->tensor == e->tensor) {
            box = box_of(m->plan, (struct lab_element){e->tensor, e->index});
            light(p, &box);
        }
        for (int64_t t = 0; t < e->n_terms; t++) {
            for (int k = 0; k < e->terms[t].n_sources; k++) {
                if (e->terms[t].source[k].tensor != p->tensor)
                    continue;
                box = box_of(m->plan, e->terms[t].source[k]);
                light(p, &box);
            }
        }
    }
}

static void board_of_words(struct board_maker *m, int result)
{
    const struct lab_step *step = m->step;
    for (int i = 0; i < step->n_in; i++)
        if (step->in[i] != result)
            part_of(m, step->in[i]);
    struct lab_board_part *p = part_of(m, result);
    if (p)
        p->place = LAB_BOARD_RESULT;
    light_by_terms(m);
    for (int i = 0; i < m->out->n; i++)
        pin(m, &m->out->part[i], NULL, NULL);
}

/* ---- the board ---- */

/* Inputs in their order, outputs, and the result last. */
static void sort_parts(struct board_maker *m)
{
    struct lab_board sorted = {.cross = m->out->cross};
    const struct lab_step *step = m->step;
    for (int turn = 0; turn < 3; turn++) {
        int n = turn == 0 ? step->n_in : turn == 1 ? step->n_out : 1;
        const int *id = turn == 0   ? step->in
                        : turn == 1 ? step->out
                                    : &step->out[m->choice->out_slot];
        for (int k = 0; k < n; k++) {
            bool last = id[k] == step->out[m->choice->out_slot];
            for (int i = 0; i < m->out->n; i++) {
                bool seen = false;
                for (int j = 0; j < sorted.n; j++)
                    seen = seen || sorted.part[j].tensor == id[k];
                if (m->out->part[i].tensor == id[k] && !seen &&
                    last == (turn == 2))
                    sorted.part[sorted.n++] = m->out->part[i];
            }
        }
    }
    *m->out = sorted;
}

enum lab_status lab_board_make(struct lab_board *out,
                               const struct lab_plan *plan,
                               const struct lab_step *step,
                               const struct lab_board_choice *choice)
{
    struct board_maker m = {plan, step, choice, NULL, out};
    int slot = choice->out_slot;
    memset(out, 0, sizeof(*out));
    if (slot < 0 || slot >= step->n_out || step->out[slot] < 0)
        return LAB_OK;
    int result = step->out[slot];
    m.f = lab_alloc(sizeof(*m.f));
    struct spans *s = lab_alloc(sizeof(*s));
    if (!m.f || !s) {
        lab_free(m.f);
        lab_free(s);
        return lab_no_memory("a step's board");
    }
    bool parsed = lab_formula_of(m.f, plan, step) == LAB_OK;
    int statement = parsed ? lab_formula_statement(m.f, slot) : -1;
    if (statement >= 0) {
        spans_first(s, m.f, statement);
        light_by_formula(&m, statement, s);
        pin_all(&m, statement, result);
        for (int i = 0; i < out->n; i++)
            out->cross =
                out->cross || (out->part[i].summed &&
                               (out->part[i].place == LAB_BOARD_LEFT ||
                                out->part[i].place == LAB_BOARD_ABOVE));
    } else {
        board_of_words(&m, result);
    }
    sort_parts(&m);
    lab_free(m.f);
    lab_free(s);
    return LAB_OK;
}

bool lab_board_lit_range(const struct lab_board_part *p, int range,
                         struct lab_reach *rows, struct lab_reach *cols)
{
    const struct lab_show *show = &p->show;
    const struct lab_reach *lit = p->lit[range];
    *rows = *cols = (struct lab_reach){0, 0};
    for (int i = 0; i < LAB_MAX_RANK; i++) {
        bool shown = i == show->row_axis || i == show->col_axis;
        if (!shown &&
            (show->fixed[i] < lit[i].first || show->fixed[i] > lit[i].last))
            return false;
    }
    if (show->row_axis >= 0)
        *rows = lit[show->row_axis];
    if (show->col_axis >= 0)
        *cols = lit[show->col_axis];
    return true;
}

bool lab_board_lit(const struct lab_board_part *p, struct lab_reach *rows,
                   struct lab_reach *cols)
{
    struct lab_reach down;
    struct lab_reach across;
    *rows = *cols = (struct lab_reach){0, -1};
    for (int i = 0; i < p->n_lit; i++) {
        if (!lab_board_lit_range(p, i, &down, &across))
            continue;
        *rows = join(*rows, down);
        *cols = join(*cols, across);
    }
    return !is_empty(*rows);
}
