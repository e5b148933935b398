/* What the training screen shows of a training: norms, dead units and classes
 * against the tensors and the data that they are of. */
#include "test.h"

#include "base/arena.h"
#include "base/mem.h"
#include "engine/inspect.h"
#include "unit/net.h"

static void open_digits(struct net *n)
{
    net_digits_of(n, 16, "sgd lr=0.1 momentum=0.9", "fc1 dense units=8",
                  "act relu", "fc2 dense units=10");
    net_walk(n, "cpu");
}

static double norm(struct net *n, const char *a, const char *b,
                   const double *less_a, const double *less_b)
{
    const char *const names[] = {a, b};
    const double *const less[] = {less_a, less_b};
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        double *v = net_read(n, names[k]);
        for (int64_t i = 0; i < net_at(n, names[k])->count; i++)
            sum += pow(v[i] - (less[k] ? less[k][i] : 0), 2);
        lab_free(v);
    }
    return sqrt(sum);
}

static void check_norms(struct net *n, const struct lab_node_figures *f,
                        const double *w, const double *b)
{
    assert_int_equal(f->parameters, 64 * 8 + 8);
    assert_float_equal(f->gradient, norm(n, "fc1.W.grad", "fc1.b.grad", 0, 0),
                       1e-9);
    assert_float_equal(f->parameter, norm(n, "fc1.W", "fc1.b", 0, 0), 1e-9);
    assert_float_equal(f->update, norm(n, "fc1.W", "fc1.b", w, b), 1e-9);
    assert_true(f->update > 0 && f->gradient > 0);
}

/* Around an iteration at speed, or from the copy of a walked one's start. */
NET_CASE(norms_and_dead_units_are_those_of_the_tensors)
{
    struct lab_inspector *i;
    struct lab_node_figures *f;
    int count;
    int64_t of;
    open_digits(n);
    assert_ok(lab_inspector_new(&i, n->walk));
    for (int around = 0; around < 2; around++) {
        struct lab_arena memory = {0};
        net_put(n, "fc1.b", 3, -1000); /* never above 0 */
        double *w = net_read(n, "fc1.W");
        double *b = net_read(n, "fc1.b");
        if (around)
            assert_ok(lab_inspector_before(i));
        assert_ok(around ? lab_walk_iterate(n->walk) : LAB_OK);
        if (!around)
            net_steps(n, net_steps_of(n));
        assert_ok(lab_walk_drain(n->walk));
        assert_ok(lab_inspector_after(i));
        lab_inspector_figures(i, &memory, &f, &count, &of);
        assert_int_equal(count, 3);
        assert_int_equal(of, lab_walk_iteration(n->walk));
        if (around)
            check_norms(n, &f[0], w, b);
        assert_true(f[0].update > 0 && isfinite(f[2].update));
        assert_true(isnan(f[1].gradient) && f[1].parameters == 0);
        assert_int_equal(f[1].units, 8);
        double *out = net_read(n, "act.out");
        int64_t dead = 0;
        for (int u = 0; u < 8; u++) {
            bool all = true;
            for (int r = 0; r < 16; r++)
                all = all && out[r * 8 + u] == 0;
            dead += all;
        }
        assert_true(dead >= 1);
        assert_int_equal(f[1].dead, dead);
        lab_free(out);
        lab_free(w);
        lab_free(b);
        lab_arena_release(&memory);
    }
    lab_inspector_free(i);
}

static void check_confusion(struct net *n, const struct lab_confusion *k,
                            double accuracy)
{
    struct lab_data_facts facts;
    int64_t sum = 0;
    int64_t right = 0;
    lab_data_get_facts(n->data, &facts);
    assert_int_equal(k->classes, 10);
    for (int i = 0; i < 100; i++) {
        sum += k->count[i];
        right += i / 10 == i % 10 ? k->count[i] : 0;
    }
    assert_int_equal(sum, facts.held_rows);
    assert_int_equal(k->total, facts.held_rows);
    assert_int_equal(k->right, right);
    assert_float_equal(accuracy, (double)right / (double)sum, 1e-12);
    assert_int_equal(k->rows, 8);
    assert_int_equal(k->cols, 8);
}

static void check_misread(struct net *n, const struct lab_confusion *k)
{
    const struct lab_tensor *x = net_at(n, "x");
    float *row = lab_alloc_array((size_t)x->count, sizeof(*row));
    assert_true(k->n_misread > 1);
    for (int i = 0; i < k->n_misread; i++) {
        const struct lab_misread *m = &k->misread[i];
        assert_true(m->label != m->answer);
        assert_int_equal(m->label, lab_data_held_label(n->data, m->row));
        assert_true(i == 0 || k->misread[i - 1].loss >= m->loss);
        lab_data_fill_held(n->data, n->plan, n->plan->x, m->row, row);
        for (int e = 0; e < 64; e++)
            assert_true(m->value[e] == (double)row[e]);
    }
    lab_free(row);
}

NET_CASE(classes_are_counted_and_the_worst_rows_are_kept)
{
    struct lab_inspector *i;
    struct lab_confusion k;
    double accuracy;
    double loss;
    open_digits(n);
    assert_ok(lab_inspector_new(&i, n->walk));
    for (int round = 0; round < 2; round++) {
        struct lab_arena memory = {0};
        net_iterate(n, 30);
        assert_ok(lab_walk_drain(n->walk));
        assert_ok(lab_inspector_evaluate(i, &accuracy, &loss));
        lab_inspector_confusion(i, &memory, &k);
        assert_int_equal(k.after, 30 * (round + 1));
        check_confusion(n, &k, accuracy);
        check_misread(n, &k);
        lab_arena_release(&memory);
    }
    lab_inspector_reset(i);
    struct lab_arena memory = {0};
    lab_inspector_confusion(i, &memory, &k);
    assert_int_equal(k.after, -1);
    lab_arena_release(&memory);
    lab_inspector_free(i);
}

RUN_TESTS()
