/* Text that a network writes: what is drawn, from which scores, and that the
 * walk is none the worse for it. */

#include "test.h"
#include "place.h"

#include "base/mem.h"
#include "engine/generate.h"
#include "engine/session.h"
#include "engine/text.h"
#include "unit/net.h"

enum { CONTEXT = 6, VOCAB = 13, CLASSES = 15 };

static int make_place(void **state)
{
    if (place_make(state))
        return -1;
    FILE *f = fopen("a.txt", "w");
    if (!f)
        return -1;
    for (int i = 0; i < 12; i++)
        fputs("the cat sat on a mat.\n", f); /* " \n.acehmnost": 12, and */
    fputs("\xC3\xA9", f);
    return fclose(f);
}

/* Causal, and knows more ids than the text has characters. */
static void describe(struct net *n, bool lstm)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_TEXT;
    n->spec.data.path = "a.txt";
    n->spec.data.context = CONTEXT;
    n->spec.data.batch = 3;
    n->spec.seed = 4;
    net_node(n, "e embedding vocab=15 dim=8");
    if (lstm) {
        net_node(n, "rec lstm hidden=7 return=sequence");
    } else {
        net_nodes(n, "pos positional_embedding max_length=6",
                  "block transformer_block heads=2 ff=11 causal=true");
    }
    net_nodes(n, "drop dropout p=0.5", "fc dense units=15");
    net_train(n, "softmax_cross_entropy", "adam lr=0.02");
}

static void trained(struct net *n, bool lstm, int iterations)
{
    describe(n, lstm);
    net_walk(n, "cpu");
    assert_int_equal(lab_data_text(n->data)->vocab, VOCAB);
    for (int i = 0; i < iterations; i++)
        assert_ok(lab_walk_iterate(n->walk));
}

/* The scores of the walk's own evaluation at the last of n ids. */
static void walk_logits(struct net *n, const int32_t *ids, int count,
                        double *out)
{
    int32_t x[3 * CONTEXT] = {0};
    float all[3 * CONTEXT * CLASSES];
    const struct lab_walk_input in = {n->plan->x, x};
    for (int sample = 0; sample < 3; sample++)
        for (int k = 0; k < CONTEXT; k++) /* what comes later is no matter */
            x[sample * CONTEXT + k] = k < count ? ids[k] : (k + sample) % 5;
    assert_ok(lab_walk_forward(n->walk, &in, 1, n->plan->out, all));
    for (int c = 0; c < CLASSES; c++)
        out[c] = all[(count - 1) * CLASSES + c];
}

TEST_CASE(scores_are_those_of_an_evaluation)
{
    for (int lstm = 0; lstm < 2; lstm++) {
        struct net n;
        struct lab_generator *g;
        double want[CLASSES];
        double got[CLASSES];
        int32_t ids[2 * CONTEXT];
        trained(&n, lstm, 12);
        net_steps(&n, 3); /* in the middle of an iteration */
        struct net_moment *before = net_keep(&n);
        assert_ok(lab_generator_new(&g, n.walk));
        assert_int_equal(lab_generator_context(g), CONTEXT);
        assert_int_equal(lab_generator_classes(g), CLASSES);
        for (int count = 1; count <= 2 * CONTEXT; count++) {
            int from = count > CONTEXT ? count - CONTEXT : 0;
            ids[count - 1] = (count * 5) % VOCAB;
            assert_ok(lab_generator_logits(g, ids, count, got));
            walk_logits(&n, ids + from, count - from, want);
            for (int c = 0; c < CLASSES; c++)
                assert_float_equal(got[c], want[c], 1e-5);
        }
        ids[1] = CLASSES;
        assert_int_equal(lab_generator_logits(g, ids, 3, got), LAB_E_RANGE);
        assert_int_equal(lab_generator_logits(g, ids, 0, got), LAB_E_RANGE);
        net_still(&n, "writing", before);
        net_moment_free(before);
        lab_generator_free(g);
        net_free(&n);
    }
}

static char *written(struct net *n, const char *prompt,
                     const struct lab_sampling *how, int count)
{
    struct lab_generator *g;
    struct lab_str text;
    lab_str_init(&text);
    assert_ok(lab_generator_new(&g, n->walk));
    assert_ok(lab_generator_begin(g, prompt, how));
    for (int i = 0; i < count; i++)
        assert_ok(lab_generator_next(g, &text));
    lab_generator_free(g);
    return lab_str_detach(&text);
}

/* Greedy: at every place the likeliest of the walk's own scores. */
NET_CASE(greedy_takes_the_likeliest)
{
    const struct lab_sampling greedy = {0};
    int32_t ids[64];
    trained(n, true, 60);
    const struct lab_text *t = lab_data_text(n->data);
    char *text = written(n, "the c", &greedy, 40);
    int count = 0;
    for (const char *p = "the c"; *p; p++)
        ids[count++] = lab_text_find(t, (uint32_t)*p);
    for (int i = 0; i < 40; i++) {
        double z[CLASSES];
        int from = count > CONTEXT ? count - CONTEXT : 0;
        walk_logits(n, ids + from, count - from, z);
        int best = 0;
        for (int c = 1; c < VOCAB; c++)
            best = z[c] > z[best] ? c : best;
        assert_int_equal(t->code[best], text[i]);
        ids[count++] = best;
    }
    lab_free(text);
}

NET_CASE(the_seed_decides)
{
    struct lab_sampling how = {.temperature = 1.5, .seed = 8};
    trained(n, false, 5);
    char *a = written(n, "", &how, 60);
    char *b = written(n, "", &how, 60);
    assert_string_equal(a, b);
    how.seed = 9;
    char *c = written(n, "", &how, 60);
    assert_string_not_equal(a, c);
    how.top_k = 1;
    char *d = written(n, "", &how, 60);
    char *e = written(n, "", &(struct lab_sampling){0}, 60);
    assert_string_equal(d, e); /* one to draw from is the likeliest */
    lab_free(a);
    lab_free(b);
    lab_free(c);
    lab_free(d);
    lab_free(e);
}

/* Whatever it is drawn with: the network's own, among the text's characters. */
NET_CASE(a_character_has_its_probability)
{
    const struct lab_sampling how = {.temperature = 3, .top_k = 4, .seed = 5};
    struct lab_generator *g;
    struct lab_str text;
    double z[CLASSES];
    double sum = 0;
    trained(n, true, 20);
    const struct lab_text *t = lab_data_text(n->data);
    const int32_t id = lab_text_find(t, 'a');
    lab_str_init(&text);
    assert_ok(lab_generator_new(&g, n->walk));
    assert_ok(lab_generator_begin(g, "a", &how));
    assert_ok(lab_generator_next(g, &text));
    walk_logits(n, &id, 1, z);
    for (int c = 0; c < VOCAB; c++)
        sum += exp(z[c]);
    int32_t drawn = lab_text_find(t, (uint32_t)lab_str_text(&text)[0]);
    assert_float_equal(lab_generator_probability(g), exp(z[drawn]) / sum, 1e-5);
    lab_str_release(&text);
    lab_generator_free(g);
}

/* The parameters of the moment, and the variants of the moment. */
NET_CASE(it_follows_the_walk)
{
    struct lab_generator *g;
    const int32_t ids[] = {3, 1, 4};
    double first[CLASSES];
    double now[CLASSES];
    trained(n, true, 1);
    assert_ok(lab_generator_new(&g, n->walk));
    assert_ok(lab_generator_logits(g, ids, 3, first));
    assert_ok(lab_walk_iterate(n->walk));
    assert_ok(lab_generator_logits(g, ids, 3, now));
    bool moved = false;
    for (int c = 0; c < CLASSES; c++)
        moved = moved || fabs(now[c] - first[c]) > 1e-3;
    assert_true(moved);
    lab_generator_free(g);
    net_choose(n, "*", "blas");
    assert_ok(lab_generator_new(&g, n->walk));
    assert_ok(lab_generator_logits(g, ids, 3, first));
    for (int c = 0; c < CLASSES; c++)
        assert_float_equal(first[c], now[c], 1e-5);
    lab_generator_free(g);
}

NET_CASE(what_cannot_be_begun)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = {.temperature = 1};
    struct lab_str text;
    trained(n, true, 0);
    assert_ok(lab_generator_new(&g, n->walk));
    assert_int_equal(lab_generator_begin(g, "the b", &how), LAB_E_RANGE);
    assert_true(error_is("[generate.character] 'b' (U+0062)"));
    assert_int_equal(lab_generator_begin(g, "a\033", &how), LAB_E_RANGE);
    assert_true(error_is("[generate.character] '^['"));
    assert_int_equal(lab_generator_begin(g, "a\xFF", &how), LAB_E_PARSE);
    assert_ok(lab_generator_begin(g, "\xC3\xA9t", &how));
    how.temperature = -1;
    assert_int_equal(lab_generator_begin(g, "a", &how), LAB_E_RANGE);
    how.temperature = NAN;
    assert_int_equal(lab_generator_begin(g, "a", &how), LAB_E_RANGE);
    how = (struct lab_sampling){.temperature = 1, .top_k = -1};
    assert_int_equal(lab_generator_begin(g, "a", &how), LAB_E_RANGE);
    /* A network that computes NaN has nothing to say. */
    how.top_k = 0;
    lab_str_init(&text);
    for (int i = 0; i < CLASSES; i++)
        net_put(n, "fc.b", i, NAN);
    assert_ok(lab_generator_begin(g, "a", &how));
    assert_int_equal(lab_generator_next(g, &text), LAB_E_STATE);
    lab_str_release(&text);
    lab_generator_free(g);
}

NET_CASE(networks_that_write_nothing)
{
    struct lab_generator *g = NULL;
    net_tensor(n, "x 4,3", NULL);
    net_labels(n, "y 4", 2);
    net_node(n, "fc dense units=2");
    net_loss(n, "softmax_cross_entropy");
    net_walk(n, "cpu");
    assert_int_equal(lab_generator_new(&g, n->walk), LAB_E_USAGE);
    assert_true(error_is("[generate.data] "));
    assert_null(g);
}

TEST_CASE(draws)
{
    const double z[] = {log(1), log(2), NAN, log(4), log(1), -INFINITY};
    struct lab_sampling how = {.temperature = 1, .seed = 11};
    int hits[6] = {0};
    const int times = 40000;
    for (int i = 0; i < times; i++)
        hits[lab_sampling_draw(&how, z, 6, (uint64_t)i)]++;
    assert_int_equal(hits[2] + hits[5], 0);
    assert_float_equal(hits[0] / (double)times, 1 / 8.0, 0.01);
    assert_float_equal(hits[1] / (double)times, 2 / 8.0, 0.01);
    assert_float_equal(hits[3] / (double)times, 4 / 8.0, 0.01);
    /* At temperature 1/2 the shares are squared: 1, 4, 16, 1. */
    memset(hits, 0, sizeof(hits));
    how.temperature = 0.5;
    for (int i = 0; i < times; i++)
        hits[lab_sampling_draw(&how, z, 6, (uint64_t)i)]++;
    assert_float_equal(hits[3] / (double)times, 16 / 22.0, 0.01);
    assert_float_equal(hits[4] / (double)times, 1 / 22.0, 0.01);
    /* The two likeliest; of the equals behind them the first. */
    memset(hits, 0, sizeof(hits));
    how = (struct lab_sampling){.temperature = 1, .top_k = 3, .seed = 2};
    for (int i = 0; i < times; i++)
        hits[lab_sampling_draw(&how, z, 6, (uint64_t)i)]++;
    assert_int_equal(hits[4], 0);
    assert_float_equal(hits[0] / (double)times, 1 / 7.0, 0.01);
    how.temperature = 0;
    assert_int_equal(lab_sampling_draw(&how, z, 6, 1), 3);
    assert_int_equal(lab_sampling_draw(&how, z + 2, 1, 1), -1);
    const double inf[] = {1, INFINITY, 2};
    how.temperature = 1;
    assert_int_equal(lab_sampling_draw(&how, inf, 3, 1), 1);
}

/* ---- in a session ---- */

static void wait_for(struct lab_session *s, struct lab_snapshot *snap)
{
    assert_ok(lab_session_wait(s, -1));
    assert_ok(lab_session_snapshot(s, snap));
}

static void check_written(const struct lab_snapshot *snap)
{
    assert_string_equal(snap->error, "");
    assert_true(snap->text);
    assert_int_equal(strncmp(snap->sample, "a mat", 5), 0);
    assert_true(strlen(snap->sample) >= 35);
    assert_int_equal(snap->sample_iteration, 7);
    assert_false(snap->sampling);
    assert_true(snap->bits.n > 0 && snap->bits_per_char > 0);
    assert_true(snap->bits.value[snap->bits.n - 1] == snap->bits_per_char);
    assert_true(snap->bits_order3 > 0 && snap->bits_order3 < 3.7);
}

TEST_CASE(a_session_writes_and_keeps_bits)
{
    struct net n;
    struct lab_session *s;
    struct lab_snapshot snap;
    struct lab_command train = {.kind = LAB_DO_TRAIN, .n = 7, .phase = -1};
    struct lab_command sample = {
        .kind = LAB_DO_SAMPLE, .n = 30, .phase = -1, .value = 1};
    describe(&n, true);
    const struct lab_session_config config = {
        .setup = {.spec = &n.spec, .backend = "cpu"}};
    assert_ok(lab_session_new(&s, &config));
    lab_session_post(s, &train);
    /* A text may be written between two iterations. */
    assert_ok(lab_session_wait(s, -1));
    strcpy(sample.text, "a mat");
    lab_session_post(s, &sample);
    wait_for(s, &snap);
    check_written(&snap);
    char *first = lab_strdup(snap.sample);
    lab_snapshot_release(&snap);
    lab_session_post(s, &sample); /* another one, from another seed */
    wait_for(s, &snap);
    assert_string_not_equal(snap.sample, first);
    lab_snapshot_release(&snap);
    /* The same again after a restart. */
    lab_session_post(s, &(struct lab_command){.kind = LAB_DO_RESTART});
    wait_for(s, &snap);
    assert_null(snap.sample);
    assert_true(isnan(snap.bits_per_char));
    lab_snapshot_release(&snap);
    lab_session_post(s, &train);
    lab_session_post(s, &sample);
    wait_for(s, &snap);
    assert_string_equal(snap.sample, first);
    lab_snapshot_release(&snap);
    strcpy(sample.text, "xyz");
    lab_session_post(s, &sample);
    wait_for(s, &snap);
    assert_string_equal(snap.error_id, "generate.character");
    assert_non_null(strstr(snap.error, "'x'"));
    assert_string_equal(snap.sample, first); /* the old one stays */
    lab_snapshot_release(&snap);
    lab_free(first);
    lab_session_free(s);
    net_free(&n);
}

RUN_TESTS_IN(make_place, place_remove)
