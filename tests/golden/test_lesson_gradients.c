/* Every parameter of every lesson that ships: the gradient that the walk
 * computes, and the one in double, against central differences of the loss. A
 * small lesson is checked whole; of a large one as many elements of each
 * parameter as a fixed number of operations allows. A lesson whose data are not
 * on this machine (mnist) is skipped, with a message. */

#include "test.h"

#include "base/mem.h"
#include "engine/gradcheck.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"

#if defined(__SANITIZE_ADDRESS__)
static const double budget_flop = 1e8;
enum { LEAST = 1 }; /* the same code for every element */
#else
static const double budget_flop = 2e9;
enum { LEAST = 2 };
#endif
enum { MOST = 256, BATCH = 2 };

struct lesson_run {
    struct lab_lesson *lesson;
    struct lab_data *data; /* the walk's, once there is one */
    struct lab_plan *plan;
    struct lab_walk *walk;
};

struct totals {
    int lessons;
    int parameters;
    int walked; /* of them, those that the loss depends on */
    int64_t elements;
    int64_t corners;
    int left_out;
    int wrong;
};

static void check(enum lab_status st, const char *path)
{
    if (st)
        fail_msg("%s: %s", path, lab_error());
}

/* false: the lesson's data are not here. */
static bool open_lesson(struct lesson_run *r, const char *path)
{
    struct lab_data_shapes shapes;
    struct lab_backend *be;
    check(lab_lesson_load(&r->lesson, path), path);
    struct lab_network_spec *spec = &r->lesson->spec;
    bool is_inline = spec->data.n_tensors > 0;
    enum lab_status st =
        lab_data_open(&r->data, spec, NULL, is_inline ? 0 : BATCH, NULL);
    if (st == LAB_E_NOTFOUND || st == LAB_E_IO) {
        print_message("%s is left out: %s\n", path, lab_error());
        return false;
    }
    if (spec->data.source == LAB_DATA_MNIST) { /* others have its ops, small */
        lab_data_free(r->data);
        r->data = NULL;
        return false;
    }
    check(st, path);
    lab_data_get_shapes(r->data, &shapes);
    check(lab_plan_build(&r->plan, spec, &shapes, LAB_F32), path);
    check(lab_data_check_labels(r->data, r->plan), path);
    check(lab_backend_open(&be, "cpu", 0), path);
    check(lab_walk_new(&r->walk, r->plan, be, r->data, NULL), path);
    return true;
}

static void close_lesson(struct lesson_run *r)
{
    if (r->walk)
        lab_walk_free(r->walk);
    else
        lab_data_free(r->data);
    lab_plan_free(r->plan);
    lab_lesson_free(r->lesson);
}

/* How many elements of each parameter: two forward passes an element. */
static int64_t sample_of(const struct lab_plan *plan)
{
    double forward = 1;
    int parameters = 1;
    for (int i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].phase <= LAB_LOSS)
            forward += plan->steps[i].flop + 100;
    }
    for (int i = 0; i < plan->n_tensors; i++)
        parameters += plan->tensors[i].role == LAB_TENSOR_PARAM;
    double n = budget_flop / (2 * forward * parameters);
    return n < LEAST ? LEAST : n > MOST ? MOST : (int64_t)n;
}

static void compare(struct lesson_run *r, const char *path, bool walked,
                    struct totals *t)
{
    struct lab_check_result *result = NULL;
    int n = 0;
    enum lab_status st =
        lab_gradcheck(r->walk, &r->lesson->spec, NULL, sample_of(r->plan), NULL,
                      NULL, &result, &n);
    if (st == LAB_E_NOTFOUND)
        return; /* no parameters: activations side by side */
    check(st, path);
    for (int i = 0; i < n; i++) {
        t->elements += result[i].elements;
        assert_true(walked || !result[i].from_walk);
        t->walked += result[i].from_walk;
        t->corners += result[i].corners;
        if (result[i].passed && result[i].elements > 0)
            continue;
        print_error("%s: %s.grad[%lld] is %.9g, the slope of the loss %.9g "
                    "(%s)\n",
                    path, result[i].parameter, (long long)result[i].worst,
                    result[i].analytic, result[i].numeric,
                    walked ? "as walked" : "in double");
        t->wrong++;
    }
    t->parameters += walked ? n : 0;
    lab_free(result);
}

static void try_lesson(const char *path, struct totals *t)
{
    struct lesson_run r = {0};
    if (open_lesson(&r, path)) {
        compare(&r, path, false, t);
        do
            check(lab_walk_step(r.walk), path);
        while (!lab_walk_at_end(r.walk));
        compare(&r, path, true, t);
        t->lessons++;
    } else {
        t->left_out++;
    }
    close_lesson(&r);
}

TEST_CASE(every_parameter_of_every_lesson)
{
    struct lab_catalog *catalog;
    struct totals t = {0};
    check(lab_catalog_load(&catalog, LAB_SOURCE_DIR "/lessons"), "lessons");
    for (size_t i = 0; i < catalog->count; i++) {
        const struct lab_lesson *l = catalog->items[i].lesson;
        if (l && l->kind == LAB_LESSON_LAB)
            t.left_out++; /* it has no network */
        else
            try_lesson(catalog->items[i].path, &t);
    }
    print_message("%lld elements of %d parameters of %d lessons; %d left out\n",
                  (long long)t.elements, t.parameters, t.lessons, t.left_out);
    print_message("%lld at a corner\n", (long long)t.corners);
    assert_int_equal(t.wrong, 0);
    assert_true(t.corners < t.elements / 20);
    assert_true(t.lessons >= 25 && t.walked > t.parameters / 2);
    assert_int_equal(t.lessons + t.left_out, catalog->count);
    lab_catalog_free(catalog);
}

int main(void)
{
    setenv("LAPENNA_LAB_DATA_DIR", LAB_SOURCE_DIR, 1);
    return test_run_all(NULL, NULL);
}
