/* What the learner expects: from --predict, or asked for on the terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/lab.h"
#include "profiler/roofline.h"
#include "report/print.h"

/* A time follows from the size: of several sizes it says nothing. */
static enum lab_status fits(const struct lab_bench *lab,
                            const struct lab_prediction *said)
{
    bool known = strcmp(said->rung, "best") == 0;
    bool sized = !said->size[0];
    for (int i = 0; i < lab->n_rungs; i++)
        known = known || strcmp(lab->rungs[i]->name, said->rung) == 0;
    for (int i = 0; i < lab->n_sizes; i++)
        sized = sized || strcmp(lab->sizes[i].text, said->size) == 0;
    if (!known)
        return lab_fail(LAB_E_USAGE, "--predict: %s is not measured here",
                        said->rung);
    if (!sized)
        return lab_fail(LAB_E_USAGE, "--predict: size %s is not measured here",
                        said->size);
    if (!isnan(said->what.time_ns) && !said->size[0] && lab->n_sizes > 1)
        return lab_fail(LAB_E_USAGE,
                        "--predict %s: a time is of one size: %s@%s=...",
                        said->rung, said->rung, lab->sizes[0].text);
    return LAB_OK;
}

enum lab_status lab_bench_add_prediction(struct lab_bench *lab,
                                         const struct lab_prediction *said)
{
    enum lab_status st = fits(lab, said);
    return st ? st : lab_prediction_add(lab->said, &lab->n_said, said);
}

enum lab_status lab_bench_read_predictions(struct lab_bench *lab)
{
    const char *at = lab->options->predict;
    enum lab_status st = LAB_OK;
    if (!at || strcmp(at, "ask") == 0)
        return LAB_OK;
    while (!st && at) {
        char pair[160];
        struct lab_prediction said;
        size_t n = strcspn(at, ",");
        snprintf(pair, sizeof(pair), "%.*s", (int)(n < 150 ? n : 150), at);
        at = at[n] ? at + n + 1 : NULL;
        st = lab_prediction_pair(lab_bench_ui_unit(lab->ladder), pair, &said);
        if (!st)
            st = lab_bench_add_prediction(lab, &said);
    }
    return st;
}

static enum lab_status take_line(struct lab_bench *lab, const char *rung,
                                 const char *line)
{
    struct lab_prediction said = {.rung = ""};
    snprintf(said.rung, sizeof(said.rung), "%s", rung);
    enum lab_status st =
        lab_prediction_parse(lab_bench_ui_unit(lab->ladder), line, &said.what);
    if (st || !lab_ui_prediction_any(&said.what))
        return st;
    return lab_bench_add_prediction(lab, &said);
}

enum lab_status lab_bench_ask(struct lab_bench *lab)
{
    char unit[LAB_BENCH_UNIT];
    if (!lab->options->predict || strcmp(lab->options->predict, "ask") != 0)
        return LAB_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return lab_fail(LAB_E_USAGE, "--predict ask needs a terminal: "
                                     "--predict VARIANT=WHAT,...");
    lab_bench_shown_unit(lab, unit, sizeof(unit));
    lab_printf(
        stdout,
        "What do you expect? A number of %s, or a time; " LAB_ROOFLINE_WORDS
        "; an occupancy, 50%%. Empty: no idea.\n",
        unit);
    for (int i = 0; i <= lab->n_rungs;) {
        char line[96];
        bool best = i == lab->n_rungs;
        const char *rung = best ? "best" : lab->rungs[i]->name;
        lab_printf(stdout, "  %-10s %s: ", rung,
                   best ? "the fastest of them" : lab->rungs[i]->idea);
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin))
            return LAB_OK;
        line[strcspn(line, "\n")] = '\0';
        if (take_line(lab, rung, line))
            lab_printf(stdout, "  %s\n", lab_error());
        else
            i++;
    }
    return LAB_OK;
}
