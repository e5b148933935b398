/* Words of the command line that are little languages: sizes of a lab, what is
 * predicted of it, a launch's sides, a question of words. Each is understood or
 * refused with a reason, and what is understood is within its bounds.
 *
 * The first byte chooses, the second the unit of a prediction. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "debug/options.h"
#include "engine/ladder.h"
#include "engine/vocabulary.h"
#include "bench/bench.h"
#include "bench/demo.h"

/* "gemm 64x128x32": a lab and its sizes. */
static void sizes(char *text)
{
    static struct lab_bench lab;
    char *space = strchr(text, ' ');
    if (!space)
        return;
    *space = 0;
    const struct lab_operation *ladder = NULL;
    if (lab_ladder_find(text, &ladder))
        return;
    text = space + 1;
    lab.ladder = ladder;
    if (lab_bench_take_sizes(&lab, text)) {
        fuzz_check(lab_error()[0], "sizes are refused without a reason");
        return;
    }
    fuzz_check(lab.n_sizes >= 1 && lab.n_sizes <= LAB_BENCH_SIZES,
               "there are no sizes");
    for (int i = 0; i < lab.n_sizes; i++) {
        const struct lab_ladder_size *s = &lab.sizes[i];
        fuzz_check(memchr(s->text, 0, sizeof(s->text)), "a size has no end");
        for (int k = 0; k < ladder->dims; k++)
            fuzz_check(s->dim[k] >= 1, "a side is below 1");
    }
    fuzz_accepted();
}

static void predictions(unsigned unit, const char *text)
{
    struct lab_prediction p;
    if (lab_prediction_pair((enum lab_bench_unit)(unit % 3), text, &p)) {
        fuzz_check(lab_error()[0], "a prediction fails without a reason");
        return;
    }
    fuzz_check(p.variant != NULL, "a prediction of no variant");
    fuzz_check(!(p.rate <= 0) && !isinf(p.rate) && !(p.time_ns <= 0) &&
                   !isinf(p.time_ns),
               "a prediction of nothing");
    fuzz_check(!(p.occupancy_pct > 100), "more than a whole");
    fuzz_accepted();
}

static void sides(const char *text)
{
    int64_t dim[3] = {0};
    int64_t one = 0;
    int rank = 0;
    bool any = false;
    if (!lab_demo_sides("--grid", text, dim, &rank)) {
        any = true;
        fuzz_check(rank >= 1 && rank <= 3, "no sides");
        for (int i = 0; i < 3; i++)
            fuzz_check(dim[i] >= 1 && dim[i] <= INT32_MAX,
                       "a side is out of bounds");
    }
    if (!lab_demo_number("--elements", text, 1000, &one)) {
        any = true;
        fuzz_check(one >= 1 && one <= 1000, "a number is out of bounds");
    }
    if (lab_arg_is_number(text, &one)) {
        any = true;
        fuzz_check(one >= 0, "a number is below 0");
    }
    if (any)
        fuzz_accepted();
}

static void question(const char *text)
{
    static const char *const known[] = {"king man woman queen a b it's zoo"};
    static struct lab_vocabulary *v;
    const struct lab_vocabulary_rule rule = {.unknown = true};
    struct lab_near_term terms[LAB_NEAR_WORDS];
    int n = 0;
    if (!v)
        fuzz_check(!lab_vocabulary_make(&v, known, 1, &rule), "no words");
    if (lab_near_parse(v, text, terms, &n)) {
        fuzz_check(lab_error()[0], "a question fails without a reason");
        return;
    }
    fuzz_check(n >= 1 && n <= LAB_NEAR_WORDS, "no words in a question");
    for (int i = 0; i < n; i++)
        fuzz_check(terms[i].id >= 0 && terms[i].id < v->n &&
                       fabs(terms[i].sign) == 1,
                   "a word has no number");
    fuzz_accepted();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned what = fuzz_byte(&data, &size) % 4;
    unsigned which = fuzz_byte(&data, &size);
    char *text = fuzz_string(data, size);
    if (what == 0)
        sizes(text);
    else if (what == 1)
        predictions(which, text);
    else if (what == 2)
        sides(text);
    else
        question(text);
    free(text);
    return 0;
}
