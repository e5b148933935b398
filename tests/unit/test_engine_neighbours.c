/* Which words are near: cosines, questions, and the answers of a network. */
#include "test.h"

#include "base/mem.h"
#include "engine/vocabulary.h"
#include "engine/session.h"
#include "unit/net.h"

TEST_CASE(cosines)
{
    static const double a[] = {3, 4};
    static const double b[] = {4, 3};
    static const double minus[] = {-6, -8};
    static const double across[] = {-4, 3};
    static const double none[] = {0, 0};
    static const double nan[] = {NAN, 1};
    assert_true(fabs(lab_cosine(a, a, 2) - 1) < 1e-15);
    assert_true(fabs(lab_cosine(a, b, 2) - 0.96) < 1e-15);
    assert_true(fabs(lab_cosine(a, minus, 2) + 1) < 1e-15);
    assert_true(lab_cosine(a, across, 2) == 0);
    assert_true(isnan(lab_cosine(a, none, 2)));
    assert_true(isnan(lab_cosine(nan, a, 2)));
}

/* king 2, queen 3, man 4, woman 5, law 6 */
static const char *const text = "king queen man woman law";

static struct lab_vocabulary *make_words(void)
{
    const struct lab_vocabulary_rule rule = {.unknown = true};
    struct lab_vocabulary *v = NULL;
    assert_ok(lab_vocabulary_make(&v, &text, 1, &rule));
    return v;
}

TEST_CASE(questions)
{
    static const struct {
        const char *text;
        int n;
        struct lab_near_term want[4];
    } cases[] = {
        {"king", 1, {{2, 1}}},
        {" KING ", 1, {{2, 1}}},
        {"king - man + woman", 3, {{2, 1}, {4, -1}, {5, 1}}},
        {"king-man+woman", 3, {{2, 1}, {4, -1}, {5, 1}}},
        {"king queen - man woman", 4, {{2, 1}, {3, 1}, {4, -1}, {5, -1}}},
        {"- man", 1, {{4, -1}}},
    };
    struct lab_vocabulary *v = make_words();
    struct lab_near_term terms[LAB_NEAR_WORDS];
    int n = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_ok(lab_near_parse(v, cases[i].text, terms, &n));
        assert_int_equal(n, cases[i].n);
        for (int k = 0; k < n; k++) {
            assert_int_equal(terms[k].id, cases[i].want[k].id);
            assert_true(terms[k].sign == cases[i].want[k].sign);
        }
    }
    assert_int_equal(lab_near_parse(v, "", terms, &n), LAB_E_PARSE);
    assert_int_equal(lab_near_parse(v, "+ -", terms, &n), LAB_E_PARSE);
    assert_int_equal(lab_near_parse(v, "kin", terms, &n), LAB_E_NOTFOUND);
    assert_true(error_is("[near.word] 'king'"));
    assert_int_equal(lab_near_parse(v, "zebra", terms, &n), LAB_E_NOTFOUND);
    assert_true(error_is("[near.word] 'zebra'"));
    assert_ok(lab_near_parse(v,
                             "king king king king king king king king "
                             "king king king king king king king king",
                             terms, &n));
    assert_int_equal(lab_near_parse(v,
                                    "king king king king king king king king "
                                    "king king king king king king king king "
                                    "king",
                                    terms, &n),
                     LAB_E_PARSE);
    lab_vocabulary_free(v);
}

/* One axis is royal, one male, one is the law's. */
static const float table[7][3] = {{9, 9, 9}, {9, 9, 9},  {5, 5, 0}, {1, -1, 0},
                                  {0, 2, 0}, {0, -3, 0}, {0, 0, 4}};

TEST_CASE(king_less_man_and_woman_is_queen)
{
    static const struct lab_near_term sum[] = {{2, 1}, {4, -1}, {5, 1}};
    struct lab_neighbours n;
    assert_ok(lab_near_find(&table[0][0], 7, 3, 2, sum, 3, &n));
    assert_int_equal(n.n, 2); /* the three of the question are left out */
    assert_int_equal(n.near[0].id, 3);
    assert_int_equal(n.near[1].id, 6);
    /* king's own length does not matter: (r, r) - (0, 1) + (0, -1) */
    double r = sqrt(0.5);
    double want[] = {r, r - 2, 0};
    double queen[] = {1, -1, 0};
    /* (5, 5) - (0, 2) + (0, -3) is (5, 0): 4 and 1 from (1, -1). */
    assert_true(fabs(n.near[0].distance - sqrt(17)) < 1e-12);
    assert_true(fabs(n.near[0].norm - sqrt(2)) < 1e-12);
    assert_true(fabs(n.near[0].similarity - lab_cosine(want, queen, 3)) <
                1e-12);
}

/* More words than an answer has: the nearest ten, in order; equals by number;
 * a row of length 0 is near nothing. */
TEST_CASE(the_nearest_ten)
{
    float rows[40][2];
    const struct lab_near_term term = {0, 1};
    struct lab_neighbours n;
    for (int i = 0; i < 40; i++) {
        double angle = (i * 7 % 40) / 2 * 0.05;
        rows[i][0] = (float)cos(angle);
        rows[i][1] = (float)sin(angle);
    }
    rows[23][0] = rows[23][1] = 0; /* would be the nearest, 23*7%40 = 1 */
    assert_ok(lab_near_find(&rows[0][0], 40, 2, 0, &term, 1, &n));
    assert_int_equal(n.n, LAB_NEAR_MOST);
    for (int i = 1; i < n.n; i++) {
        const struct lab_neighbour *a = &n.near[i - 1];
        const struct lab_neighbour *b = &n.near[i];
        assert_true(a->similarity > b->similarity ||
                    (a->similarity == b->similarity && a->id < b->id));
        assert_int_not_equal(b->id, 23);
    }
    assert_true(n.near[0].id * 7 % 40 / 2 == 1);
    assert_true(n.near[9].similarity > cos(5.5 * 0.05));
}

TEST_CASE(answers_name_words)
{
    struct lab_vocabulary *v = make_words();
    struct lab_neighbours n = {.question = "king", .n = 2};
    struct lab_str s;
    n.near[0] = (struct lab_neighbour){3, 0.9355};
    n.near[1] = (struct lab_neighbour){4, -0.5};
    lab_str_init(&s);
    lab_near_text(v, &n, &s);
    assert_string_equal(lab_str_text(&s), "near king: queen 0.935, man -0.500");
    lab_str_clear(&s);
    n.n = 0;
    lab_near_text(v, &n, &s);
    assert_string_equal(lab_str_text(&s), "near king: no other word");
    lab_str_release(&s);
    lab_vocabulary_free(v);
}

/* ---- a network ---- */

static void words_net(struct net *n, bool words, bool embedding)
{
    net_init(n);
    net_labels(n, embedding ? "x 7" : "x 7,2", embedding ? 7 : 2);
    if (embedding)
        net_node(n, "emb embedding vocab=7 dim=3");
    net_node(n, "fc dense units=2");
    net_param(n, embedding ? "emb.W 7,3" : "fc.b 2", NULL);
    net_loss(n, "softmax_cross_entropy");
    net_labels(n, "y 7", 2);
    n->spec.data.words = words ? make_words() : NULL;
}

TEST_CASE(a_network_answers)
{
    struct net n;
    struct lab_neighbours got = {.asked = 7};
    words_net(&n, true, true);
    net_walk(&n, "cpu");
    for (int64_t i = 0; i < 21; i++)
        net_put(&n, "emb.W", i, (double)(&table[0][0])[i]);
    assert_ok(lab_near_ask(n.walk, "king - man + woman", &got));
    assert_string_equal(got.question, "king - man + woman");
    assert_int_equal(got.n, 2);
    assert_int_equal(got.near[0].id, 3);
    assert_int_equal(lab_near_ask(n.walk, "zebra", &got), LAB_E_NOTFOUND);
    assert_int_equal(got.n, 2); /* untouched */
    enum lab_status st = LAB_E_NOMEM;
    for (int64_t nth = 1; st == LAB_E_NOMEM; nth++) {
        assert_true(nth < 50);
        lab_mem_fail_from(nth);
        st = lab_near_ask(n.walk, "king", &got);
        lab_mem_fail_from(0);
    }
    assert_ok(st);
    net_free(&n);
}

TEST_CASE(a_network_without_words_is_refused)
{
    struct net n;
    struct lab_neighbours got;
    words_net(&n, false, true);
    net_walk(&n, "cpu");
    assert_int_equal(lab_near_ask(n.walk, "king", &got), LAB_E_NOTFOUND);
    assert_true(error_is("[near.no-words] "));
    net_free(&n);
    words_net(&n, true, false);
    net_walk(&n, "cpu");
    assert_int_equal(lab_near_ask(n.walk, "king", &got), LAB_E_NOTFOUND);
    assert_true(error_is("[near.no-embedding] "));
    net_free(&n);
}

static void ask(struct lab_session *s, const char *question,
                struct lab_snapshot *snap)
{
    struct lab_command c = {.kind = LAB_DO_NEAR, .phase = -1};
    strcpy(c.text, question);
    assert_ok(lab_session_post(s, &c));
    assert_ok(lab_session_wait(s, -1));
    lab_snapshot_release(snap);
    assert_ok(lab_session_snapshot(s, snap));
}

TEST_CASE(a_session_answers)
{
    struct net n;
    struct lab_session *s = NULL;
    struct lab_snapshot snap = {0};
    words_net(&n, true, true);
    const struct lab_session_config config = {
        .setup = {.spec = &n.spec, .backend = "cpu"}};
    assert_ok(lab_session_new(&s, &config));
    ask(s, "king", &snap);
    assert_ptr_equal(snap.words, n.spec.data.words);
    assert_int_equal(snap.near.asked, 1);
    assert_int_equal(snap.near.n, 4);
    ask(s, "zebra", &snap);
    assert_int_equal(snap.error_code, LAB_E_NOTFOUND);
    assert_int_equal(snap.near.asked, 1);
    ask(s, "law", &snap);
    assert_ok(snap.error_code);
    assert_int_equal(snap.near.asked, 2);
    assert_string_equal(snap.near.question, "law");
    lab_snapshot_release(&snap);
    lab_session_free(s);
    net_free(&n);
}

/* ---- how large a transformer is ---- */

static int64_t parameters(const char *node)
{
    struct net n;
    int64_t count = 0;
    net_init(&n);
    net_tensor(&n, "x 1,3,8", NULL);
    net_node(&n, node);
    net_loss(&n, "mse");
    net_tensor(&n, "y 1,3,8", NULL);
    assert_ok(net_build(&n));
    for (int i = 0; i < n.plan->n_tensors; i++) {
        if (n.plan->tensors[i].role == LAB_TENSOR_PARAM)
            count += n.plan->tensors[i].count;
    }
    net_free(&n);
    return count;
}

/* What the lesson model-sizes counts with: 12 d^2, and 13 d beside it. */
TEST_CASE(a_block_has_12_d_squared_parameters)
{
    const int64_t d = 8;
    assert_int_equal(parameters("b transformer_block heads=2 ff=32"),
                     12 * d * d + 13 * d);
    assert_int_equal(parameters("b transformer_block heads=4 ff=32"),
                     12 * d * d + 13 * d);
    assert_int_equal(parameters("b transformer_block heads=2 ff=16"), 600);
}

RUN_TESTS()
