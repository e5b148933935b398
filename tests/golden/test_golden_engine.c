/* The golden cases of families ii, vii and viii, as lessons, through the whole
 * engine: read, built, walked step by step, with every variant that the CPU
 * has. map.txt states which tensor must equal which. */
#include <dirent.h>

#include "test.h"

#include "base/mem.h"
#include "engine/gradcheck.h"
#include "golden/golden.h"
#include "lesson/lesson.h"

enum { MAX_LESSONS = 64, MAX_ROWS = 128, WORD = 64 };

struct row {
    bool scalar;
    char golden[WORD];
    char ours[WORD];
    double scale;
    int iteration; /* 0: before the first step */
};

struct entry {
    char file[WORD];
    char golden_case[WORD];
    int iterations;
    struct row row[MAX_ROWS];
    int n_rows;
    char skipped[16][WORD];
    int n_skipped;
};

static struct entry map[MAX_LESSONS];
static int n_map;

static void map_line(const char *line)
{
    struct entry *e = &map[n_map > 0 ? n_map - 1 : 0];
    char kind[WORD] = "";
    if (line[0] == '#' || sscanf(line, "%63s", kind) != 1)
        return;
    if (strcmp(kind, "lesson") == 0) {
        assert_true(n_map < MAX_LESSONS);
        e = &map[n_map++];
        assert_int_equal(sscanf(line, "%*s %63s %63s %d", e->file,
                                e->golden_case, &e->iterations),
                         3);
        return;
    }
    assert_true(n_map > 0);
    if (strcmp(kind, "skip") == 0) {
        assert_true(e->n_skipped < 16);
        assert_int_equal(sscanf(line, "%*s %63s", e->skipped[e->n_skipped++]),
                         1);
        return;
    }
    assert_true(e->n_rows < MAX_ROWS);
    struct row *r = &e->row[e->n_rows++];
    r->scalar = strcmp(kind, "scalar") == 0;
    if (!r->scalar && strcmp(kind, "tensor") != 0)
        fail_msg("map.txt: %s", line);
    assert_int_equal(sscanf(line, "%*s %63s %63s %lf %d", r->golden, r->ours,
                            &r->scale, &r->iteration),
                     4);
}

static int read_map(void **state)
{
    char line[256];
    (void)state;
    FILE *f = fopen(LAB_SOURCE_DIR "/tests/golden/map.txt", "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof(line), f))
        map_line(line);
    return fclose(f) || n_map == 0 ? -1 : 0;
}

/* ---- one lesson ---- */

struct run {
    const struct entry *entry;
    const char *variant;
    struct lab_lesson *lesson;
    struct lab_data *data;
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct golden *golden;
    int compared;
    int hidden;
};

static void check(enum lab_status st, const struct run *r)
{
    if (st)
        fail_msg("%s: %s", r->entry->file, lab_error());
}

/* false: the lesson takes an op that is not built yet, and was refused. */
static bool open_run(struct run *r)
{
    char path[512];
    struct lab_data_shapes shapes;
    struct lab_backend *be;
    snprintf(path, sizeof(path), "%s/tests/golden/lessons/%s", LAB_SOURCE_DIR,
             r->entry->file);
    check(lab_lesson_load(&r->lesson, path), r);
    check(golden_load(r->entry->golden_case, &r->golden), r);
    struct lab_network_spec *spec = &r->lesson->spec;
    check(lab_data_open(&r->data, spec, NULL, 0, NULL), r);
    lab_data_get_shapes(r->data, &shapes);
    enum lab_status st = lab_plan_build(&r->plan, spec, &shapes, LAB_F32);
    for (int i = 0; i < spec->n_nodes; i++) {
        if (spec->nodes[i].op->forward || spec->nodes[i].op->expand)
            continue;
        assert_int_equal(st, LAB_E_NOT_BUILT);
        return false;
    }
    check(st, r);
    check(lab_data_check_labels(r->data, r->plan), r);
    check(lab_backend_open(&be, "cpu", 0), r);
    check(lab_walk_new(&r->walk, r->plan, be, r->data, NULL), r);
    return true;
}

static void close_run(struct run *r)
{
    if (r->walk)
        lab_walk_free(r->walk);
    else
        lab_data_free(r->data);
    lab_plan_free(r->plan);
    lab_lesson_free(r->lesson);
    golden_free(r->golden);
}

static double *read_ours(struct run *r, const char *name, int64_t *count)
{
    int id = lab_plan_tensor(r->plan, name);
    if (id < 0)
        fail_msg("%s: the network has no tensor %s", r->entry->file, name);
    const struct lab_tensor *t = &r->plan->tensors[id];
    void *raw = lab_alloc_array((size_t)t->count, sizeof(double));
    double *out = lab_alloc_array((size_t)t->count, sizeof(double));
    assert_true(raw && out && lab_walk_written(r->walk, id));
    check(lab_walk_read(r->walk, id, false, raw), r);
    for (int64_t i = 0; i < t->count; i++)
        out[i] = lab_number_at(raw, t->dtype, i);
    lab_free(raw);
    *count = t->count;
    return out;
}

/* A part of a node whose steps a group stands for, and which that leaves out. */
static bool is_hidden(struct run *r, const char *name)
{
    const struct lab_schedule *s = lab_walk_schedule(r->walk);
    int id = lab_plan_tensor(r->plan, name);
    if (id < 0 || lab_walk_written(r->walk, id))
        return false;
    for (int i = 0; i < s->n_groups; i++) {
        if (s->groups[i].node == r->plan->tensors[id].node)
            return true;
    }
    return false;
}

static void compare(struct run *r, const struct row *row)
{
    if (is_hidden(r, row->ours)) {
        r->hidden++;
        return;
    }
    const struct golden_tensor *t = golden_tensor(r->golden, row->golden);
    double scalar = golden_scalar(r->golden, row->golden);
    const double *want = row->scalar ? &scalar : t ? t->data : NULL;
    int64_t count = 0;
    double largest = 0;
    if (!want || (row->scalar && isnan(scalar)))
        fail_msg("%s holds no %s", r->entry->golden_case, row->golden);
    double *ours = read_ours(r, row->ours, &count);
    assert_int_equal(count, row->scalar ? 1 : t->count);
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(want[i]));
    for (int64_t i = 0; i < count; i++) {
        double got = row->scale * ours[i];
        if (!(fabs(got - want[i]) <= 1e-5 * (1 + largest)))
            fail_msg("%s, variant %s, iteration %d: %s[%lld] is %.9g, and "
                     "golden %s has %.9g",
                     r->entry->file, r->variant, row->iteration, row->ours,
                     (long long)i, got, row->golden, want[i]);
    }
    r->compared++;
    lab_free(ours);
}

static void compare_iteration(struct run *r, int iteration)
{
    for (int i = 0; i < r->entry->n_rows; i++) {
        if (r->entry->row[i].iteration == iteration)
            compare(r, &r->entry->row[i]);
    }
}

/* How many tensors were compared; -1: an op is not built yet; 0: no step of
 * the network has the variant, or the variant does not serve a shape. *hidden:
 * those that a group hides. */
static int run_entry(const struct entry *e, const char *variant, int *hidden)
{
    struct run r = {.entry = e, .variant = variant};
    struct lab_variant_choice choice = {"*", variant};
    if (!open_run(&r)) {
        close_run(&r);
        return -1;
    }
    enum lab_status st = lab_walk_choose(r.walk, &choice, 1);
    if (st == LAB_E_NOTFOUND || st == LAB_E_UNSUPPORTED) {
        close_run(&r);
        return 0;
    }
    check(st, &r);
    compare_iteration(&r, 0);
    for (int i = 1; i <= e->iterations; i++) {
        do
            check(lab_walk_step(r.walk), &r);
        while (!lab_walk_at_end(r.walk));
        assert_int_equal(lab_walk_iteration(r.walk), i - 1);
        compare_iteration(&r, i);
    }
    close_run(&r);
    *hidden = r.hidden;
    return r.compared;
}

/* ---- the tests ---- */

static void run_all(const char *variant, int least_lessons)
{
    int lessons = 0;
    int tensors = 0;
    int later = 0;
    for (int i = 0; i < n_map; i++) {
        int hidden = 0;
        int n = run_entry(&map[i], variant, &hidden);
        later += n < 0;
        lessons += n > 0;
        tensors += n > 0 ? n : 0;
        if (n > 0)
            assert_int_equal(n + hidden, map[i].n_rows);
    }
    print_message("%s: %d tensors of %d lessons; %d wait for their ops\n",
                  variant, tensors, lessons, later);
    if (lessons < least_lessons)
        fail_msg("only %d lessons ran with variant %s", lessons, variant);
}

TEST_CASE(naive)
{
    run_all("naive", 22);
}

TEST_CASE(blas)
{
    run_all("blas", 8); /* those with a dense layer */
}

TEST_CASE(onednn)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    bool there =
        lab_backend_variant(be, LAB_F32, "dense", NULL, LAB_FORWARD, "onednn");
    lab_backend_close(be);
    if (!there)
        skip();
    run_all("onednn", 30);
}

/* Names that the tables hold beside those above: rows of labs. The rows of conv
 * serve nchw, which no lesson here has: test_step_rows compares them. */
TEST_CASE(every_other_variant)
{
    enum { MOST = 32 };
    struct lab_backend *be;
    int n_ops;
    const char *done[MOST] = {"naive", "blas", "onednn", "direct"};
    int n_done = 4;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    for (int i = 0; i < n_ops; i++) {
        const char *names[MOST];
        int n =
            lab_backend_variant_names(be, LAB_F32, ops[i]->name, names, MOST);
        for (int k = 0; k < n; k++) {
            int at = 0;
            while (at < n_done && strcmp(done[at], names[k]) != 0)
                at++;
            if (at < n_done)
                continue;
            assert_true(n_done < MOST);
            done[n_done++] = names[k];
            run_all(names[k], 1);
        }
    }
    lab_backend_close(be);
}

static bool is_mapped(const struct entry *e, const char *name)
{
    for (int i = 0; i < e->n_rows; i++) {
        if (strcmp(e->row[i].golden, name) == 0)
            return true;
    }
    for (int i = 0; i < e->n_skipped; i++) {
        if (strcmp(e->skipped[i], name) == 0)
            return true;
    }
    return false;
}

TEST_CASE(every_tensor_of_every_case_is_mapped)
{
    for (int i = 0; i < n_map; i++) {
        struct golden *g;
        assert_ok(golden_load(map[i].golden_case, &g));
        for (int k = 0; k < g->n_tensors; k++) {
            if (!is_mapped(&map[i], g->tensors[k].name))
                fail_msg("%s: nothing is reported of %s", map[i].file,
                         g->tensors[k].name);
        }
        golden_free(g);
    }
    /* And every case of the three families has a lesson. */
    DIR *d = opendir(LAB_SOURCE_DIR "/tests/golden");
    assert_non_null(d);
    for (struct dirent *f = readdir(d); f; f = readdir(d)) {
        bool ours = strncmp(f->d_name, "ii_", 3) == 0 ||
                    strncmp(f->d_name, "vii_", 4) == 0 ||
                    strncmp(f->d_name, "viii_", 5) == 0;
        size_t n = strcspn(f->d_name, ".");
        bool found = false;
        for (int i = 0; i < n_map; i++)
            found = found || (strncmp(map[i].golden_case, f->d_name, n) == 0 &&
                              strlen(map[i].golden_case) == n);
        if (ours && !found)
            fail_msg("%s has no lesson", f->d_name);
    }
    closedir(d);
}

TEST_CASE(their_gradients_are_slopes)
{
    for (int i = 0; i < n_map; i++) {
        struct run r = {.entry = &map[i], .variant = "naive"};
        struct lab_check_result *result;
        int n = 0;
        bool has_parameters = open_run(&r) && r.plan->parameter_count > 0;
        if (has_parameters) {
            check(lab_walk_iterate(r.walk), &r);
            check(lab_gradcheck(r.walk, &r.lesson->spec, NULL,
                                LAB_CHECK_ELEMENTS, NULL, NULL, &result, &n),
                  &r);
            for (int k = 0; k < n; k++) {
                if (!result[k].passed)
                    fail_msg("%s: %s is off by %g", map[i].file,
                             result[k].parameter, result[k].max_error);
            }
            lab_free(result);
            assert_true(n > 0);
        }
        close_run(&r);
    }
}

RUN_TESTS_IN(read_map, NULL)
