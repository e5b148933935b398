/* The numbers that course material prints, in the lessons that ship: each one
 * that claims a tolerance is within it after one iteration. */
#include "test.h"

#include "base/mem.h"
#include "engine/tensor.h"
#include "engine/walk.h"
#include "lesson/catalog.h"

static void must(enum lab_status st)
{
    assert_ok(st);
}

/* One value row of a lesson; how many values were compared. */
static int compare(struct lab_walk *w, const char *lesson,
                   const struct lab_course_values_spec *p)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    int id = lab_plan_tensor(plan, p->tensor);
    assert_true(id >= 0);
    const struct lab_tensor *t = &plan->tensors[id];
    int64_t first =
        p->at.rank > 0 ? lab_shape_ravel(&t->shape, p->at.dim, p->at.rank) : 0;
    float *data = lab_alloc_array((size_t)t->count, sizeof(*data));
    assert_non_null(data);
    must(lab_walk_read(w, id, t->persistent && !p->updated, data));
    for (int i = 0; i < p->n_values; i++) {
        double got = lab_number_at(data, t->dtype, first + i);
        if (!(fabs(got - p->values[i]) <= p->tolerance))
            fail_msg("%s: %s, value %d: printed %g, computed %.9g, tolerance "
                     "%g",
                     lesson, p->tensor, i, p->values[i], got, p->tolerance);
    }
    lab_free(data);
    return p->n_values;
}

static int check_lesson(const struct lab_catalog_entry *e)
{
    const struct lab_network_spec *spec = &e->lesson->spec;
    struct lab_data *data = NULL;
    struct lab_data_shapes shapes;
    struct lab_plan *plan = NULL;
    struct lab_backend *be = NULL;
    struct lab_walk *w = NULL;
    int compared = 0;
    must(lab_data_open(&data, spec, NULL, 0, NULL));
    lab_data_get_shapes(data, &shapes);
    must(lab_plan_build(&plan, spec, &shapes, LAB_F32));
    must(lab_backend_open(&be, "cpu", 0));
    must(lab_walk_new(&w, plan, be, data, NULL));
    for (int i = 0; i < lab_walk_schedule(w)->n_steps; i++)
        must(lab_walk_step(w));
    for (int i = 0; i < spec->n_printed; i++) {
        if (spec->printed[i].tolerance > 0)
            compared += compare(w, e->id, &spec->printed[i]);
    }
    lab_walk_free(w);
    lab_plan_free(plan);
    return compared;
}

TEST_CASE(printed_values_are_within_their_tolerance)
{
    struct lab_catalog *c = NULL;
    int lstm = 0;
    must(lab_catalog_load(&c, LAB_SOURCE_DIR "/lessons"));
    for (size_t i = 0; i < c->count; i++) {
        const struct lab_catalog_entry *e = &c->items[i];
        int compared = 0;
        if (!e->lesson)
            fail_msg("%s", e->error);
        if (e->lesson->spec.n_printed > 0)
            compared = check_lesson(e);
        if (strcmp(e->id, "lstm-example") == 0)
            lstm = compared;
    }
    lab_catalog_free(c);
    assert_true(lstm >= 62); /* every number of the slide's arithmetic */
}

RUN_TESTS()
