/* The blackboard of a step: where its tensors are, and what is lit in each of
 * them for one chosen element, by the index notation of the formula alone. */
#include "test.h"

#include "engine/board.h"
#include "unit/net.h"

static int setup(void **state)
{
    struct net *n = test_malloc(sizeof(*n));
    net_init(n);
    *state = n;
    return 0;
}

static int teardown(void **state)
{
    net_free(*state);
    test_free(*state);
    return 0;
}

static struct lab_board board_at(const struct net *n, const char *step,
                                 enum lab_phase phase, int slot,
                                 const char *tensor, int64_t index)
{
    struct lab_board b;
    const struct lab_board_choice choice = {
        .out_slot = slot, .cursor = {net_id(n, tensor), index}};
    assert_ok(lab_board_make(&b, n->plan, net_step(n, step, phase), &choice));
    return b;
}

/* "left fc1.x 0/1 rows 1-1 columns 0-3": place, name, axes, what is lit. */
static void expect(const struct net *n, const struct lab_board *b,
                   const char *want)
{
    static const char *const places[] = {"result", "left", "above", "beside"};
    char have[1024] = "";
    size_t used = 0;
    for (int i = 0; i < b->n; i++) {
        const struct lab_board_part *p = &b->part[i];
        struct lab_reach rows;
        struct lab_reach cols;
        bool lit = lab_board_lit(p, &rows, &cols);
        used += (size_t)snprintf(
            have + used, sizeof(have) - used, "%s%s %s %d,%d", i ? "; " : "",
            places[p->place], n->plan->tensors[p->tensor].name,
            p->show.row_axis, p->show.col_axis);
        if (lit)
            used += (size_t)snprintf(have + used, sizeof(have) - used,
                                     " %d-%d %d-%d", (int)rows.first,
                                     (int)rows.last, (int)cols.first,
                                     (int)cols.last);
    }
    assert_string_equal(have, want);
}

static void dense(struct net *n)
{
    net_tensor(n, "x 5,4", NULL);
    net_labels(n, "y 5", 3);
    net_nodes(n, "fc1 dense units=6", "act relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    assert_ok(net_build(n));
}

#define FIXTURE_CASE(name) TEST_CASE_OF(name, setup, teardown, struct net *n)

FIXTURE_CASE(a_product_has_its_operands_left_and_above)
{
    dense(n);
    struct lab_board b =
        board_at(n, "fc1.matmul", LAB_FORWARD, 0, "fc1.xW", 2 * 6 + 5);
    assert_true(b.cross);
    expect(n, &b,
           "left x 0,1 2-2 0-3; above fc1.W 0,1 0-3 5-5; "
           "result fc1.xW 0,1 2-2 5-5");
}

FIXTURE_CASE(a_weight_gradient_turns_its_left_operand)
{
    dense(n);
    struct lab_board b =
        board_at(n, "fc2.matmul", LAB_BACKWARD, 0, "fc2.W.grad", 4 * 3 + 1);
    expect(n, &b,
           "above fc2.xW.grad 0,1 0-4 1-1; left act.out 1,0 4-4 0-4; "
           "result fc2.W.grad 0,1 4-4 1-1");
    b = board_at(n, "fc2.matmul", LAB_BACKWARD, 1, "act.out.grad", 6 + 2);
    expect(n, &b,
           "left fc2.xW.grad 0,1 1-1 0-2; above fc2.W 1,0 0-2 2-2; "
           "result act.out.grad 0,1 1-1 2-2");
}

/* x[2,3] reaches row 2 of the product, through row 3 of W. */
FIXTURE_CASE(an_input_lights_what_it_reaches)
{
    dense(n);
    struct lab_board b =
        board_at(n, "fc1.matmul", LAB_FORWARD, 0, "x", 2 * 4 + 3);
    expect(n, &b,
           "left x 0,1 2-2 3-3; above fc1.W 0,1 3-3 0-5; "
           "result fc1.xW 0,1 2-2 0-5");
}

FIXTURE_CASE(a_value_and_its_neighbours)
{
    dense(n);
    struct lab_board b =
        board_at(n, "fc1.bias", LAB_FORWARD, 0, "fc1.out", 6 + 2);
    assert_false(b.cross);
    expect(n, &b,
           "beside fc1.xW 0,1 1-1 2-2; above fc1.b -1,0 0-0 2-2; "
           "result fc1.out 0,1 1-1 2-2");
    b = board_at(n, "fc1.bias", LAB_BACKWARD, 0, "fc1.b.grad", 3);
    expect(n, &b,
           "above fc1.out.grad 0,1 0-4 3-3; "
           "result fc1.b.grad -1,0 0-0 3-3");
}

/* Without a formula the step's tensors are beside each other. */
FIXTURE_CASE(words_have_their_tensors_in_order)
{
    dense(n);
    struct lab_board b = board_at(n, "loss.sample", LAB_LOSS, 0, "fc2.out", 0);
    assert_int_equal(b.part[b.n - 1].place, LAB_BOARD_RESULT);
    assert_string_equal(n->plan->tensors[b.part[0].tensor].name, "fc2.out");
    assert_false(b.cross);
}

static void conv(struct net *n)
{
    net_tensor(n, "x 2,1,6,6", NULL);
    net_labels(n, "y 2", 3);
    net_nodes(n, "conv conv2d filters=4 kernel=3 padding=same", "flat flatten",
              "fc dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    assert_ok(net_build(n));
}

/* At the corner the window of 3 x 3 has 2 x 2 within the image. */
FIXTURE_CASE(a_window_is_over_its_image)
{
    conv(n);
    struct lab_board b = board_at(n, "conv.conv", LAB_FORWARD, 0, "conv.conv",
                                  4 * 36 + 2 * 36 + 6 + 2);
    assert_false(b.cross);
    expect(n, &b,
           "beside x 2,3 0-2 1-3; beside conv.W 2,3 0-2 0-2; "
           "result conv.conv 2,3 1-1 2-2");
    assert_int_equal(b.part[0].show.fixed[0], 1);
    assert_int_equal(b.part[1].show.fixed[0], 2);
    b = board_at(n, "conv.conv", LAB_FORWARD, 0, "conv.conv", 0);
    expect(n, &b,
           "beside x 2,3 0-1 0-1; beside conv.W 2,3 1-2 1-2; "
           "result conv.conv 2,3 0-0 0-0");
}

static void attention(struct net *n)
{
    net_tensor(n, "x 2,3,4", NULL);
    net_labels(n, "y 2", 3);
    net_nodes(n, "attn attention heads=2", "flat flatten", "fc dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    assert_ok(net_build(n));
}

/* Sample 1, head 1, query 2, key 0: columns 2 and 3 of the head. */
FIXTURE_CASE(a_query_meets_its_keys)
{
    attention(n);
    struct lab_board b = board_at(n, "attn.scores", LAB_FORWARD, 0,
                                  "attn.scores", ((1 * 2 + 1) * 3 + 2) * 3 + 0);
    assert_true(b.cross);
    expect(n, &b,
           "left attn.q 1,2 2-2 2-3; above attn.k 2,1 2-3 0-0; "
           "result attn.scores 2,3 2-2 0-0");
    assert_int_equal(b.part[0].show.fixed[0], 1);
}

/* Sample 1, query 2, column 3, of head 1: its shares at the left, the values above,
 * though the columns of all heads are one axis. */
FIXTURE_CASE(shares_meet_the_values)
{
    attention(n);
    struct lab_board b = board_at(n, "attn.context", LAB_FORWARD, 0, "attn.ctx",
                                  (1 * 3 + 2) * 4 + 3);
    assert_true(b.cross);
    expect(n, &b,
           "left attn.probs 2,3 2-2 0-2; above attn.v 1,2 0-2 3-3; "
           "result attn.ctx 1,2 2-2 3-3");
    assert_int_equal(b.part[0].show.fixed[0], 1);
    assert_int_equal(b.part[0].show.fixed[1], 1);
}

/* The gradient of the values: the shares' columns are its rows. */
FIXTURE_CASE(shares_carry_back_to_the_values)
{
    attention(n);
    struct lab_board b = board_at(n, "attn.context", LAB_BACKWARD, 1,
                                  "attn.v.grad", (1 * 3 + 2) * 4 + 3);
    assert_true(b.cross);
    expect(n, &b,
           "above attn.ctx.grad 1,2 0-2 3-3; left attn.probs 3,2 2-2 0-2; "
           "result attn.v.grad 1,2 2-2 3-3");
    assert_int_equal(b.part[1].show.fixed[1], 1);
}

static void lstm(struct net *n)
{
    net_tensor(n, "x 2,3,4", NULL);
    net_labels(n, "y 2", 3);
    net_nodes(n, "cells lstm hidden=5 return=last", "fc dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    assert_ok(net_build(n));
}

/* The input's product and that of h are one row of z: two operands at the left
 * and two above. */
FIXTURE_CASE(gates_flow_into_a_cell)
{
    lstm(n);
    struct lab_board b =
        board_at(n, "cells.gates.1", LAB_FORWARD, 0, "cells.z.1", 20 + 7);
    assert_true(b.cross);
    int left = 0;
    int above = 0;
    for (int i = 0; i < b.n; i++) {
        left += b.part[i].place == LAB_BOARD_LEFT;
        above += b.part[i].place == LAB_BOARD_ABOVE;
    }
    assert_int_equal(left, 2);
    assert_int_equal(above, 3); /* W, U and the bias */
    b = board_at(n, "cells.cell.1", LAB_FORWARD, 5, "cells.h.1", 5 + 3);
    assert_false(b.cross);
    assert_string_equal(n->plan->tensors[b.part[b.n - 1].tensor].name,
                        "cells.h.1");
    for (int i = 0; i < b.n; i++) {
        struct lab_reach rows;
        struct lab_reach cols;
        const char *name = n->plan->tensors[b.part[i].tensor].name;
        /* Four columns of z are read, one of each other tensor. */
        const int read = strcmp(name, "cells.z.1") == 0 ? 4 : 1;
        assert_int_equal(b.part[i].n_lit, read);
        assert_true(lab_board_lit(&b.part[i], &rows, &cols));
        assert_int_equal(cols.first, 3);
        assert_int_equal(cols.last, 3 + 5 * (read - 1));
        bool column[20] = {false};
        for (int k = 0; k < read; k++) {
            assert_true(lab_board_lit_range(&b.part[i], k, &rows, &cols));
            assert_int_equal(rows.first, 1);
            assert_int_equal(rows.last, 1);
            assert_int_equal(cols.first, cols.last);
            column[cols.first] = true;
        }
        for (int k = 0; k < read; k++)
            assert_true(column[3 + 5 * k]);
    }
}

RUN_TESTS()
