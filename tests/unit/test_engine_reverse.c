/* Source reverse, decoding, and the symbols beside an attention map. */
#include "test.h"

#include "base/mem.h"
#include "engine/session.h"
#include "unit/net.h"

static void data_of(struct net *n, int64_t length, int64_t alphabet,
                    int64_t rows)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_REVERSE;
    n->spec.data.length = length;
    n->spec.data.alphabet = alphabet;
    n->spec.data.rows = rows;
    n->spec.data.batch = 9;
}

static void network(struct net *n, int hidden, bool attention)
{
    char text[96];
    net_node(n, "emb1 embedding vocab=7 dim=5 from=x");
    snprintf(text, sizeof(text), "enc lstm hidden=%d", hidden);
    net_nodes(n, text, "emb2 embedding vocab=8 dim=5 from=decoder");
    snprintf(text, sizeof(text), "dec lstm hidden=%d from=emb2,enc", hidden);
    net_node(n, text);
    if (attention) {
        net_nodes(n, "att scaled_dot_attention from=dec,enc,enc",
                  "mix add from=dec,att");
    }
    net_node(n, "fc dense units=7");
    net_train(n, "softmax_cross_entropy", "adam lr=0.02");
}

static int64_t code_of(const int32_t *s, int64_t n)
{
    int64_t code = 0;
    for (int64_t i = 0; i < n; i++)
        code = code * 8 + s[i];
    return code;
}

/* y is x backwards, decoder is y behind the symbol to begin with. */
static void check_row(const int32_t *x, const int32_t *y, const int32_t *d,
                      int64_t n, int32_t begin)
{
    for (int64_t k = 0; k < n; k++) {
        assert_true(x[k] >= 0 && x[k] < begin);
        assert_int_equal(y[k], x[n - 1 - k]);
        assert_int_equal(d[k], k == 0 ? begin : y[k - 1]);
    }
}

NET_CASE(held_back_strings_are_never_trained)
{
    struct lab_data_facts f;
    int32_t t[3][45];
    int seen[32768] = {0};
    int dealt = 0;
    data_of(n, 5, 6, 300);
    n->spec.data.split = 0.7;
    network(n, 3, false);
    net_walk(n, "cpu");
    lab_data_get_facts(n->data, &f);
    assert_true(f.decodes);
    assert_int_equal(f.train_rows, 210);
    assert_int_equal(f.held_rows, 90);
    int id[3] = {net_id(n, "x"), net_id(n, "y"), net_id(n, "decoder")};
    for (int64_t i = 0; i < 2 * f.batches_per_epoch; i++) {
        for (int k = 0; k < 3; k++)
            assert_ok(lab_data_fill(n->data, n->plan, id[k], i, t[k]));
        for (int r = 0; r < 9; r++) {
            check_row(t[0] + 5 * r, t[1] + 5 * r, t[2] + 5 * r, 5,
                      lab_data_begin_id(n->data));
            dealt += seen[code_of(t[0] + 5 * r, 5)] == 0;
            seen[code_of(t[0] + 5 * r, 5)] = 1;
        }
    }
    assert_true(dealt >= 207 && dealt <= 210);
    for (int64_t row = 0; row < 90; row++) {
        for (int k = 0; k < 3; k++)
            lab_data_fill_held(n->data, n->plan, id[k], row, t[k]);
        check_row(t[0], t[1], t[2], 5, lab_data_begin_id(n->data));
        /* Nor twice among themselves. */
        assert_int_equal(seen[code_of(t[0], 5)]++, 0);
    }
}

NET_CASE(there_may_be_all_strings_and_no_more)
{
    data_of(n, 3, 4, 64);
    network(n, 2, false);
    assert_ok(net_build(n));
    assert_string_equal(lab_data_symbol(n->data, 3), "3");
    assert_string_equal(lab_data_symbol(n->data, 4), "^");
    assert_string_equal(lab_data_symbol(n->data, 5), "?");
    assert_string_equal(lab_data_symbol(n->data, -1), "?");
}

static void refused(int64_t length, int64_t alphabet, int64_t rows,
                    const char *loss, enum lab_status want, const char *error)
{
    struct net n;
    data_of(&n, length, alphabet, rows);
    network(&n, 2, false);
    net_loss(&n, loss);
    assert_int_equal(net_build(&n), want);
    assert_true(error_is(error));
    net_free(&n);
}

TEST_CASE(what_cannot_be_is_refused)
{
    static const char ce[] = "softmax_cross_entropy";
    refused(3, 4, 65, ce, LAB_E_RANGE,
            "[data.reverse.rows-different] rows 65: there are only 64 ");
    refused(257, 4, 64, ce, LAB_E_RANGE, "[data.reverse.length] length 257: ");
    refused(3, 37, 64, ce, LAB_E_RANGE,
            "[data.reverse.alphabet] alphabet 37: ");
    refused(3, 4, 1, ce, LAB_E_RANGE, "[data.reverse.rows] rows 1: ");
    refused(3, 4, 64, "mse", LAB_E_PARSE,
            "[data.reverse.loss] softmax_cross_entropy");
    refused(3, 8, 64, ce, LAB_E_RANGE,
            "[data.ids.vocabulary] x has ids from 0 to 7, ");
    struct net n;
    data_of(&n, 3, 8, 64);
    net_nodes(&n, "emb1 embedding vocab=8 dim=5 from=x", "enc lstm hidden=3",
              "emb2 embedding vocab=8 dim=5 from=decoder",
              "dec lstm hidden=3 from=emb2,enc", "fc dense units=8");
    net_loss(&n, ce);
    assert_int_equal(net_build(&n), LAB_E_RANGE);
    assert_true(
        error_is("[data.ids.vocabulary] decoder has ids from 0 to 8, "));
    net_free(&n);
    data_of(&n, 3, 7, 64);
    network(&n, 3, false);
    net_node(&n, "few dense units=6");
    assert_int_equal(net_build(&n), LAB_E_RANGE);
    assert_true(error_is("[data.reverse.classes] an alphabet of 7 symbols, "));
    assert_non_null(strstr(lab_error(), "output has 6"));
    net_free(&n);
}

/* Without what decodes: x and the answer so far into a batch's first row, one
 * place at a time. */
static void decode_by_hand(struct net *n, const char *from, int length,
                           char *out)
{
    int forward = lab_walk_schedule(n->walk)->phase_first[LAB_LOSS];
    int decoded[16];
    for (int t = 0; t < length; t++) {
        assert_ok(lab_walk_begin(n->walk));
        if (lab_walk_position(n->walk) == 0)
            net_steps(n, 1);
        assert_ok(lab_walk_back(n->walk, lab_walk_position(n->walk)));
        for (int k = 0; k < length; k++) {
            net_put(n, "x", k, from[k] - '0');
            net_put(n, "decoder", k,
                    k == 0  ? lab_data_begin_id(n->data)
                    : k > t ? 0
                            : decoded[k - 1]);
        }
        net_steps(n, forward);
        decoded[t] = 0;
        for (int c = 1; c < 7; c++) {
            if (net_get(n, "fc.out", t * 7 + c) >
                net_get(n, "fc.out", t * 7 + decoded[t]))
                decoded[t] = c;
        }
        out[t] = (char)('0' + decoded[t]);
    }
    out[length] = '\0';
}

TEST_CASE(decoding_is_what_a_hand_would_do)
{
    for (int attention = 0; attention < 2; attention++) {
        struct net n;
        struct lab_str text;
        double accuracy;
        double loss;
        data_of(&n, 4, 7, 60);
        network(&n, 6, attention == 1);
        net_walk(&n, "cpu");
        net_choose(&n, "*", "blas");
        net_iterate(&n, 25);
        assert_ok(lab_walk_evaluate(n.walk, &accuracy, &loss));
        lab_str_init(&text);
        for (int i = 0; i < LAB_DECODED_EXAMPLES; i++) {
            char hand[16];
            lab_str_clear(&text);
            assert_true(lab_walk_decoded_example(n.walk, i, &text));
            decode_by_hand(&n, lab_str_text(&text), 4, hand);
            assert_int_equal(
                strncmp(lab_str_text(&text) + strlen("0123 -> "), hand, 4), 0);
        }
        assert_false(lab_walk_decoded_example(n.walk, -1, &text));
        assert_false(lab_walk_decoded_example(n.walk, 4, &text));
        lab_str_release(&text);
        net_free(&n);
    }
}

NET_CASE(decoding_changes_nothing_and_repeats)
{
    double accuracy[3];
    double loss[3];
    struct lab_decoded d[3];
    data_of(n, 4, 7, 60);
    network(n, 6, true);
    net_walk(n, "cpu");
    lab_walk_decoded(n->walk, &d[0]);
    assert_true(isnan(d[0].exact) && isnan(d[0].right));
    net_iterate(n, 10);
    struct net_moment *before = net_keep(n);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            net_choose(n, "*", "blas");
        assert_ok(lab_walk_evaluate(n->walk, &accuracy[i], &loss[i]));
        lab_walk_decoded(n->walk, &d[i]);
        assert_true(accuracy[i] == d[i].right);
        assert_true(d[i].exact >= 0 && d[i].exact <= d[i].right);
    }
    assert_true(d[0].right == d[1].right && loss[0] == loss[1]);
    assert_true(d[0].right == d[2].right && fabs(loss[0] - loss[2]) < 1e-5);
    net_still(n, "an evaluation", before);
    net_moment_free(before);
}

NET_CASE(what_was_never_seen_is_reversed)
{
    double accuracy;
    double loss;
    struct lab_decoded first;
    struct lab_decoded last;
    data_of(n, 3, 7, 300);
    network(n, 24, true);
    net_walk(n, "cpu");
    net_choose(n, "*", "blas");
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    lab_walk_decoded(n->walk, &first);
    net_iterate(n, 1000);
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    lab_walk_decoded(n->walk, &last);
    print_message("exact %.2f, then %.2f\n", first.exact, last.exact);
    assert_true(first.exact < 0.4);
    assert_true(last.exact > 0.6);
}

TEST_CASE(no_memory_is_an_error_and_nothing_is_lost)
{
    enum lab_status st = LAB_E_NOMEM;
    int64_t fails = 1;
    for (; st == LAB_E_NOMEM; fails++) {
        struct net n;
        struct lab_data *data = NULL;
        data_of(&n, 4, 7, 60);
        network(&n, 2, false);
        lab_mem_fail_from(fails);
        st = lab_data_open(&data, &n.spec, NULL, 0, NULL);
        lab_mem_fail_from(0);
        assert_true((st == LAB_OK) == (data != NULL));
        lab_data_free(data);
        net_free(&n);
    }
    assert_ok(st);
    assert_true(fails > 4);
    struct net n;
    double accuracy;
    double loss;
    data_of(&n, 4, 7, 60);
    network(&n, 2, true);
    net_walk(&n, "cpu");
    net_steps(&n, net_steps_of(&n));
    st = LAB_E_NOMEM;
    for (fails = 1; st == LAB_E_NOMEM; fails++) {
        lab_mem_fail_from(fails);
        st = lab_walk_evaluate(n.walk, &accuracy, &loss);
        lab_mem_fail_from(0);
    }
    assert_ok(st);
    assert_true(fails > 4);
    net_free(&n);
}

/* ---- the text beside a map ---- */

struct look {
    struct net net;
    struct lab_session *session;
    struct lab_snapshot snap;
};

static void show_sheet(struct look *l, const char *tensor, int row_axis,
                       int col_axis, int64_t sample, int sheet)
{
    struct lab_command c = {.kind = LAB_DO_SHOW, .phase = -1};
    c.show.tensor = lab_plan_tensor(l->snap.plan, tensor);
    assert_true(c.show.tensor >= 0);
    c.show.row_axis = row_axis;
    c.show.col_axis = col_axis;
    c.show.sheet = sheet;
    c.show.fixed[0] = row_axis == 0 || col_axis == 0 ? 0 : sample;
    assert_ok(lab_session_post(l->session, &c));
    assert_ok(lab_session_wait(l->session, INT64_C(20000000000)));
    lab_snapshot_release(&l->snap);
    assert_ok(lab_session_snapshot(l->session, &l->snap));
}

static void show(struct look *l, const char *tensor, int row_axis, int col_axis,
                 int64_t sample)
{
    show_sheet(l, tensor, row_axis, col_axis, sample, 0);
}

static void start_look(struct look *l)
{
    struct lab_session_config config = {
        .setup = {.spec = &l->net.spec, .backend = "cpu"}};
    struct lab_command step = {.kind = LAB_DO_FINISH, .phase = -1};
    assert_ok(lab_session_new(&l->session, &config));
    assert_ok(lab_session_post(l->session, &step));
    assert_ok(lab_session_wait(l->session, INT64_C(20000000000)));
    assert_ok(lab_session_snapshot(l->session, &l->snap));
}

static void end_look(struct look *l)
{
    lab_snapshot_release(&l->snap);
    lab_session_free(l->session);
    net_free(&l->net);
}

TEST_CASE(a_map_is_labelled_by_what_was_read)
{
    struct look l;
    memset(&l, 0, sizeof(l));
    data_of(&l.net, 4, 7, 60);
    network(&l.net, 3, true);
    start_look(&l);
    const struct lab_plane *p = &l.snap.plane;
    char digits[5] = "";
    show(&l, "att.probs", 1, 2, 2);
    for (int i = 0; i < 4; i++) {
        assert_true(p->col_label[i].symbol && p->row_label[i].symbol);
        digits[i] = p->col_label[i].text[0];
        assert_int_equal(p->col_label[i].text[1], 0);
    }
    assert_string_equal(p->row_label[0].text, "^");
    for (int i = 1; i < 4; i++) /* the answer, one place later */
        assert_int_equal(p->row_label[i].text[0], digits[4 - i]);
    show(&l, "att.scores.grad", 2, 1, 2); /* turned round */
    assert_string_equal(p->col_label[0].text, "^");
    assert_int_equal(p->row_label[3].text[0], digits[3]);
    show(&l, "att.probs", 0, 2, 0); /* of which sample? */
    assert_null(p->row_label);
    assert_false(p->col_label[1].symbol);
    assert_string_equal(p->col_label[1].text, "1");
    show(&l, "enc.out", 1, 2, 2);
    assert_int_equal(p->row_label[1].text[0], digits[1]);
    assert_null(p->col_label);
    show(&l, "fc.W", 0, 1, 0);
    assert_true(!p->row_label && !p->col_label);
    end_look(&l);
}

/* Of a contact sheet each sample has its own symbols. */
TEST_CASE(slices_have_their_own_labels)
{
    enum { PLACES = 4 };
    struct look l;
    memset(&l, 0, sizeof(l));
    data_of(&l.net, 4, 7, 60);
    network(&l.net, 3, true);
    start_look(&l);
    const struct lab_plane *p = &l.snap.plane;
    show_sheet(&l, "att.probs", 1, 2, 0, 1);
    assert_true(p->tiles > 2);
    char digits[3][PLACES];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PLACES; i++)
            digits[k][i] = p->col_label[k * PLACES + i].text[0];
    assert_true(memcmp(digits[0], digits[1], PLACES) != 0 ||
                memcmp(digits[1], digits[2], PLACES) != 0);
    for (int k = 0; k < 3; k++) {
        show(&l, "att.probs", 1, 2, k);
        for (int i = 0; i < PLACES; i++)
            assert_int_equal(p->col_label[i].text[0], digits[k][i]);
    }
    end_look(&l);
}

TEST_CASE(a_map_without_symbols_has_places)
{
    struct look l;
    memset(&l, 0, sizeof(l));
    net_init(&l.net);
    net_tensor(&l.net, "s 2,3", NULL);
    net_tensor(&l.net, "h 2,5,3", NULL);
    net_node(&l.net, "att bahdanau_attention align=2 from=s,h");
    net_loss(&l.net, "mse");
    net_tensor(&l.net, "y 2,3", NULL);
    start_look(&l);
    const struct lab_plane *p = &l.snap.plane;
    show(&l, "att.a", 0, 1, 0);
    assert_null(p->row_label);
    assert_false(p->col_label[4].symbol);
    assert_string_equal(p->col_label[4].text, "4");
    show(&l, "att.u", 1, 2, 1);
    assert_string_equal(p->row_label[3].text, "3");
    end_look(&l);
}

RUN_TESTS()
