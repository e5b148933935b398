/* A network that is kept: training with a pause computes the bits of one
 * without, and no file that is damaged or of another network is used. */
#include "test.h"
#include "file.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "debug/kept.h"
#include "unit/net.h"

TEST_PATH

/* Shuffled batches, a mask an iteration, state of a node and of the
 * optimizer. */
static void describe(struct net *n, const char *optimizer)
{
    net_digits_of(n, 7, optimizer, "fc1 dense units=5", "act gelu",
                  "drop dropout p=0.4", "ln layer_norm", "fc2 dense units=10");
    net_walk(n, "cpu");
}

static void keep(struct net *n, int64_t want)
{
    int64_t n_done = -1;
    assert_ok(lab_kept_save(n->walk, "net", path, NULL, true, &n_done));
    assert_int_equal(n_done, want);
}

static enum lab_status take_noting(struct net *n, enum lab_kept_use use,
                                   struct lab_str *notice)
{
    struct lab_kept *k;
    assert_ok(lab_kept_open(&k, path));
    enum lab_status st = lab_kept_take(k, n->walk, use, NULL, notice);
    lab_kept_free(k);
    return st;
}

static enum lab_status take(struct net *n, enum lab_kept_use use)
{
    struct lab_str notice;
    lab_str_init(&notice);
    enum lab_status st = take_noting(n, use, &notice);
    assert_string_equal(lab_str_text(&notice), "");
    lab_str_release(&notice);
    return st;
}

/* 37 + 63 iterations are 100. */
static void pause_with(const char *optimizer)
{
    struct net whole;
    struct net first;
    struct net second;
    describe(&whole, optimizer);
    describe(&first, optimizer);
    describe(&second, optimizer);
    net_iterate(&whole, 100);
    net_iterate(&first, 37);
    keep(&first, 37);
    assert_ok(take(&second, LAB_KEPT_CONTINUE));
    assert_int_equal(lab_walk_iteration(second.walk), 37);
    assert_int_equal(lab_walk_first(second.walk), 37);
    net_iterate(&second, 63);
    struct net_moment *want = net_keep(&whole);
    struct net_moment *got = net_keep(&second);
    net_same(&second, optimizer, want, got);
    /* Back ends where it began, and forward are the same bits again. */
    assert_ok(lab_walk_back(second.walk, 100000));
    assert_int_equal(lab_walk_iteration(second.walk), 37);
    assert_int_equal(lab_walk_position(second.walk), 0);
    net_iterate(&second, 63);
    net_moment_free(got);
    net_still(&second, "after going back", want);
    net_moment_free(want);
    net_free(&whole);
    net_free(&first);
    net_free(&second);
}

TEST_CASE(sgd_pauses)
{
    pause_with("sgd lr=0.1");
}

TEST_CASE(momentum_pauses)
{
    pause_with("sgd lr=0.1 momentum=0.9 nesterov=true");
}

TEST_CASE(adamw_pauses)
{
    pause_with("adamw lr=0.01 weight_decay=0.1");
}

/* Within an iteration it is the network that the iteration began with. */
TEST_CASE(mid_iteration_is_its_start)
{
    struct net a;
    struct net b;
    describe(&a, "adam lr=0.01");
    describe(&b, "adam lr=0.01");
    net_iterate(&a, 3);
    net_steps(&a, net_steps_of(&a) - 1); /* all but one update */
    keep(&a, 3);
    assert_ok(take(&b, LAB_KEPT_CONTINUE));
    assert_int_equal(lab_walk_iteration(b.walk), 3);
    net_iterate(&b, 1);
    net_steps(&a, 1);
    net_alike(&b, "the iteration again", &a);
    net_free(&a);
    net_free(&b);
}

/* Parameters alone: iteration 0, nothing of the optimizer. */
TEST_CASE(load_takes_parameters)
{
    struct net a;
    struct net b;
    describe(&a, "adam lr=0.01");
    describe(&b, "adam lr=0.01");
    net_iterate(&a, 5);
    keep(&a, 5);
    assert_ok(take(&b, LAB_KEPT_LOAD));
    assert_int_equal(lab_walk_iteration(b.walk), 0);
    assert_true(net_get(&a, "fc1.W", 103) == net_get(&b, "fc1.W", 103));
    assert_true(net_get(&a, "fc1.W.m", 103) != 0);
    assert_true(net_get(&b, "fc1.W.m", 103) == 0);
    double trained = net_get(&b, "fc1.W", 103);
    net_iterate(&b, 2);
    assert_ok(lab_walk_restart(b.walk));
    assert_true(net_get(&b, "fc1.W", 103) == trained);
    assert_ok(lab_walk_start_from(b.walk, NULL));
    assert_true(net_get(&b, "fc1.W", 103) != trained);
    net_free(&a);
    net_free(&b);
}

/* Whatever does not fit is named, and the walk stays as it was. */
TEST_CASE(misfits_are_named)
{
    struct net a;
    struct net b;
    describe(&a, "adam lr=0.01");
    keep(&a, 0);
    net_free(&a);
    net_digits_of(&b, 9, "sgd lr=0.1", "fc1 dense units=6",
                  "fc3 dense units=10");
    net_walk(&b, "cpu");
    net_iterate(&b, 2);
    struct net_moment *before = net_keep(&b);
    assert_int_equal(take(&b, LAB_KEPT_LOAD), LAB_E_SHAPE);
    assert_true(
        error_is("[kept.network] fc1.W is [64,5] in it and [64,6] here"));
    assert_non_null(strstr(lab_error(), "fc3.W [6,10] "));
    assert_non_null(strstr(lab_error(), "fc2.b "));
    assert_null(strstr(lab_error(), "fc1.W.m"));
    assert_int_equal(take(&b, LAB_KEPT_CONTINUE), LAB_E_SHAPE);
    assert_true(
        error_is("[kept.network] its optimizer is adam and this one sgd"));
    assert_non_null(strstr(lab_error(), "its batch is 7 and this one 9"));
    net_still(&b, "after a refusal", before);
    net_moment_free(before);
    net_free(&b);
}

/* ---- files ---- */

static void put_file(const char *header, uint64_t length, size_t data)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(&length, sizeof(length), 1, f), 1);
    assert_true(fputs(header, f) >= 0);
    for (size_t i = 0; i < data; i++)
        assert_int_equal(fputc(0, f), 0);
    assert_int_equal(fclose(f), 0);
}

static void refused(const char *header, size_t data, const char *error)
{
    struct lab_kept *k = NULL;
    put_file(header, strlen(header), data);
    assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    assert_true(error_is(error));
    assert_ptr_equal(strstr(lab_error(), path), lab_error());
}

#define T(name, from, to)                                                      \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" #from   \
    "," #to "]}"

TEST_CASE(damaged_files_are_refused)
{
    struct lab_kept *k = NULL;
    refused("{" T("a", 0, 4) "}", 3,
            "[kept.tensor-outside] a would be bytes 0 to 4 of 3");
    refused("{" T("a", 4, 0) "}", 8,
            "[kept.tensor-outside] a would be bytes 4 to 0 of 8");
    refused("{" T("a", 0, 8) "," T("b", 4, 8) "}", 8,
            "[kept.tensors-overlap] a and b ");
    refused("{" T("a", 4, 8) "}", 8, "[kept.tensors-gap] before a");
    refused("{" T("a", 0, 4) "}", 8, "[kept.bytes-left] 4 bytes ");
    refused("{" T("a", 0, 4) "," T("a", 4, 8) "}", 8, "[kept.json] '\"a\"'");
    refused("[1, 2]", 0, "[kept.json] ");
    refused("{\"a\": 1}", 0, "[kept.tensor-shape] a ");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}",
            4, "[kept.tensor-shape] a ");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1],"
            "\"data_offsets\":[0,4]}}",
            4, "[kept.tensor-shape] of up to 6 ");
    refused("{\"__metadata__\":{\"lesson\":\"a\",\"seed\":\"-1\"}}", 0,
            "[kept.metadata-number] is \"-1\": a whole");
    refused("{\"__metadata__\":{\"lesson\":\"a\",\"seed\":\"1\",\"iteration\":"
            "\"6.5\"}}",
            0,
            "[kept.metadata-number] iteration of its __metadata__ is \"6.5\"");
    refused("{\"__metadata__\":{\"lesson\":\"a\",\"seed\":\"1\",\"iteration\":"
            "\"6\",\"train_rows\":\"9\"}}",
            0, "[kept.metadata] lacks batch");
    refused("{" T("\\u001b[31m", 0, 4) "}", 3, "[kept.tensor-outside] ^[[31m ");
    put_file("{" T("a", 0, 4) "}", strlen("{" T("a", 0, 4) "}"), 4);
    assert_int_equal(truncate(path, (off_t)1 << 42), 0); /* never read */
    assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    assert_string_equal(lab_error_id(), "kept.bytes-left");
    put_file("{}", 100, 0);
    assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    assert_true(error_is("[kept.header-cut] 100 bytes and the file 10"));
    put_file("{}", UINT64_MAX, 0);
    assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    assert_true(error_is("[kept.header-size] 18446744073709551615 "));
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    assert_true(error_is("[kept.short] 3 bytes "));
    assert_int_equal(lab_kept_open(&k, "/nonexistent/x"), LAB_E_IO);
    assert_int_equal(lab_kept_open(&k, "/tmp"), LAB_E_IO);
    assert_true(error_is("[file.kind] /tmp: "));
}

/* A file cut anywhere is refused; none crashes. */
TEST_CASE(truncation_is_seen)
{
    struct net a;
    struct lab_kept *k;
    struct stat info;
    describe(&a, "sgd lr=0.1");
    keep(&a, 0);
    assert_int_equal(stat(path, &info), 0);
    for (off_t n = info.st_size - 1; n >= 0; n -= n > 700 ? 333 : 1) {
        assert_int_equal(truncate(path, n), 0);
        assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
    }
    /* It could not be written: the old file is kept. */
    char missing[] = "/nonexistent/x.safetensors";
    int64_t n_done;
    assert_int_equal(lab_kept_check_place(missing, NULL, true), LAB_E_IO);
    assert_int_equal(lab_kept_save(a.walk, "net", missing, NULL, true, &n_done),
                     LAB_E_IO);
    assert_int_equal(lab_kept_check_place("/tmp", NULL, true), LAB_E_IO);
    /* One that is there only when it is asked for. */
    assert_int_equal(lab_kept_check_place(path, NULL, false), LAB_E_IO);
    assert_ok(lab_kept_check_place(path, NULL, true));
    net_free(&a);
}

TEST_CASE(another_lesson_is_not_continued)
{
    struct net a;
    struct lab_kept *k;
    struct lab_kept_facts facts;
    describe(&a, "sgd lr=0.1");
    keep(&a, 0);
    assert_ok(lab_kept_open(&k, path));
    assert_ok(lab_kept_facts(k, "net", &facts));
    assert_string_equal(facts.lesson, "net");
    facts = (struct lab_kept_facts){.seed = 77};
    assert_int_equal(lab_kept_facts(k, "other", &facts), LAB_E_PARSE);
    assert_true(!facts.lesson && facts.seed == 77); /* as they were */
    assert_true(error_is(
        "[kept.lesson] a network of the lesson net, and this is other"));
    lab_kept_free(k);
    put_file("{}", 2, 0);
    assert_ok(lab_kept_open(&k, path));
    assert_int_equal(lab_kept_facts(k, "net", &facts), LAB_E_PARSE);
    assert_int_equal(facts.seed, 77);
    assert_true(error_is("[kept.foreign] "));
    lab_kept_free(k);
    net_free(&a);
}

/* `value` over one value of the file, `bytes` from its end. */
static void spoil(long bytes, float value)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -bytes, SEEK_END), 0);
    assert_int_equal(fwrite(&value, sizeof(value), 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* The network is used; what is wrong in it is a notice. */
TEST_CASE(wrong_values_are_noted)
{
    struct net a;
    struct lab_str notice;
    char want[128];
    lab_str_init(&notice);
    describe(&a, "sgd lr=0.1");
    keep(&a, 0);
    snprintf(want, sizeof(want),
             "%s has NaN or infinite values: 2 of 10 in "
             "fc2.b, the first at [0]\n",
             path);
    const struct lab_plan *plan = lab_walk_plan(a.walk);
    long after = 0; /* bytes of the tensors that come after it */
    for (int i = lab_plan_tensor(plan, "fc2.b") + 1; i < plan->n_tensors; i++)
        if (plan->tensors[i].persistent && plan->tensors[i].alias_of < 0)
            after += (long)lab_tensor_bytes(&plan->tensors[i]);
    spoil(after + 4, NAN);
    spoil(after + 40, -INFINITY);
    assert_ok(take_noting(&a, LAB_KEPT_LOAD, &notice));
    assert_string_equal(lab_str_text(&notice), want);
    lab_str_clear(&notice);
    assert_ok(take_noting(&a, LAB_KEPT_CONTINUE, &notice));
    assert_string_equal(lab_str_text(&notice), want);
    lab_str_release(&notice);
    net_free(&a);
}

/* An iteration that no training reaches is a damaged file. */
TEST_CASE(far_iterations_are_refused)
{
    static const char *const iterations[] = {"10000000000", "10000000001",
                                             "9223372036854775807"};
    struct lab_kept *k;
    for (int i = 0; i < 3; i++) {
        char text[256];
        int n = snprintf(text, sizeof(text),
                         "{\"__metadata__\":{\"lesson\":\"net\","
                         "\"optimizer\":\"sgd\",\"learning_rate\":\"0.1\","
                         "\"seed\":\"1\",\"iteration\":\"%s\","
                         "\"batch\":\"7\",\"train_rows\":\"9\"}}",
                         iterations[i]);
        put_file(text, (uint64_t)n, 0);
        if (i == 0) {
            assert_ok(lab_kept_open(&k, path));
            lab_kept_free(k);
            continue;
        }
        assert_int_equal(lab_kept_open(&k, path), LAB_E_PARSE);
        assert_true(error_is("[kept.iteration] iteration "));
        assert_non_null(strstr(lab_error(), iterations[i]));
    }
}

RUN_TESTS_IN(make_path, remove_path)
