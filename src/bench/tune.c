/* lapenna-lab lab tune: finds the fastest candidate of a tuned variant, keeps it
 * for the device, the size and the precision, and runs it from then on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/exit.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "bench/bench.h"
#include "report/print.h"
#include "store/tuned.h"
#include "base/version.h"

enum { CLASS = 32 };

static void device_of(const struct lab_bench *lab,
                      struct lab_ceiling_device *out)
{
    struct lab_device_info info;
    lab_backend_info(lab->backend, &info);
    lab_ceiling_device_here(lab->backend->ops->name, info.name, info.uuid, out);
}

/* What the database knows of a tuned rung at a size, as long as this build
 * still has the candidate; else NULL, and `found` says what is known. */
static const struct lab_variant *kept(struct lab_bench *lab,
                                      const struct lab_variant *tuned,
                                      const struct lab_ladder_size *size,
                                      struct lab_tuned_found *found)
{
    const struct lab_variant *candidates[LAB_BENCH_RUNGS];
    struct lab_ceiling_device device;
    char size_class[CLASS];
    struct lab_tuned_key key = {.device = &device,
                                .lab = lab->ladder->name,
                                .size_class = size_class,
                                .precision =
                                    lab_precision_name(tuned->precision)};
    *found = (struct lab_tuned_found){.candidate = ""};
    device_of(lab, &device);
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    if (!lab->db || lab_tuned_find(lab->db, &key, found) ||
        !found->candidate[0])
        return NULL;
    int n = lab_ladder_candidates(lab->backend, lab->ladder, tuned, candidates,
                                  LAB_BENCH_RUNGS);
    for (int i = 0; i < n; i++) {
        if (strcmp(candidates[i]->name, found->candidate) == 0)
            return candidates[i];
    }
    lab_warn("the winner of %s at %s that is kept, %s, is no candidate of this "
             "program: it is ignored",
             lab->ladder->name, size_class, found->candidate);
    return NULL;
}

/* Half a command would tune for another database, or nothing: a long one is
 * left out. */
static void suggest_tuning(const struct lab_bench *lab,
                           const struct lab_ladder_size *size,
                           struct lab_variant_note *note)
{
    static const char untuned[] = "not tuned here for this size";
    struct lab_str tune = lab_suggest_command_text(
        lab->options->db,
        LAB_WORDS("lab", "tune", lab->ladder->name, "--sizes", size->text));
    bool fits = sizeof(untuned) + 2 + tune.len <= sizeof(note->text);
    snprintf(note->text, sizeof(note->text), "%s%s%s", untuned,
             fits ? ": " : "", fits ? lab_str_text(&tune) : "");
    lab_str_release(&tune);
}

const struct lab_variant *
lab_bench_resolve_tuned(struct lab_bench *lab, const struct lab_variant *tuned,
                        const struct lab_ladder_size *size,
                        struct lab_variant_note *note)
{
    struct lab_tuned_found found;
    const struct lab_variant *rung = kept(lab, tuned, size, &found);
    if (rung)
        snprintf(note->text, sizeof(note->text),
                 "%s, the fastest of %lld here, measured %s", rung->name,
                 (long long)found.candidates, found.measured);
    else
        suggest_tuning(lab, size, note);
    return rung;
}

/* ---- what is to be measured ---- */

static enum lab_status print_winner(const struct lab_bench *lab,
                                    const struct lab_variant *tuned,
                                    const struct lab_ladder_size *size,
                                    const struct lab_tuned_found *found,
                                    bool measured)
{
    char size_class[CLASS];
    char unit[LAB_BENCH_UNIT];
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    lab_bench_shown_unit(lab, unit, sizeof(unit));
    if (!lab->options->json) {
        lab_printf(
            stdout, "%s %s %s: %s, %.4g %s, the fastest of %lld%s%s%s\n",
            lab->ladder->name, lab_precision_name(tuned->precision), size_class,
            found->candidate, found->rate / lab_bench_scale(lab), unit,
            (long long)found->candidates, measured ? "" : ", kept since ",
            measured ? "" : found->measured,
            measured ? "" : " (--retune measures again)");
        return ferror(stdout) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
    }
    json_t *line = lab_json_new("lab_tuned");
    lab_json_text(line, "lab", lab->ladder->name);
    lab_json_text(line, "variant", tuned->name);
    lab_json_text(line, "precision", lab_precision_name(tuned->precision));
    lab_json_text(line, "size_class", size_class);
    lab_json_text(line, "size", size->text);
    lab_json_text(line, "candidate", found->candidate);
    lab_json_real(line, "rate", found->rate);
    lab_json_text(line, "unit", lab->unit);
    lab_json_int(line, "candidates", found->candidates);
    lab_json_bool(line, "measured_now", measured);
    lab_json_text(line, "measured", measured ? NULL : found->measured);
    return lab_json_print(line);
}

/* Has an earlier size of the list the same class? */
static bool seen_before(const struct lab_bench *lab, int size)
{
    char mine[CLASS];
    char other[CLASS];
    lab_ladder_size_class(lab->ladder, &lab->sizes[size], mine, sizeof(mine));
    for (int s = 0; s < size; s++) {
        lab_ladder_size_class(lab->ladder, &lab->sizes[s], other,
                              sizeof(other));
        if (strcmp(mine, other) == 0)
            return true;
    }
    return false;
}

static enum lab_status note_job(struct lab_bench *lab, int r, int s)
{
    struct lab_tuned_found found;
    const struct lab_variant *rung = lab->rungs[r];
    bool there = kept(lab, rung, &lab->sizes[s], &found) != NULL;
    if (there && !lab->options->retune)
        return print_winner(lab, rung, &lab->sizes[s], &found, false);
    if (lab->to_tune == LAB_BENCH_JOBS)
        return lab_fail(LAB_E_USAGE, "more than %d sizes and rungs to tune",
                        LAB_BENCH_JOBS);
    lab->tune[lab->to_tune++] = (struct lab_tune_job){rung, s};
    return LAB_OK;
}

enum lab_status lab_bench_tune_kept(struct lab_bench *lab)
{
    enum lab_status st = lab_bench_open_db(lab);
    for (int r = 0; r < lab->n_rungs && !st; r++) {
        for (int s = 0; s < lab->n_sizes && !st; s++) {
            if (!seen_before(lab, s))
                st = note_job(lab, r, s);
        }
    }
    return st;
}

/* ---- measuring ---- */

struct best {
    struct lab_bench_result result;
    int64_t timed;
};

static enum lab_status see(void *user, const struct lab_bench_result *r)
{
    struct best *b = user;
    if (r->state != LAB_BENCH_DONE)
        return LAB_OK;
    b->timed++;
    if (b->timed == 1 || r->median_ns < b->result.median_ns)
        b->result = *r;
    return LAB_OK;
}

static enum lab_status keep(struct lab_bench *lab,
                            const struct lab_tune_job *job,
                            const struct best *b)
{
    struct lab_ceiling_device device;
    char size_class[CLASS];
    const struct lab_ladder_size *size = &lab->sizes[job->size];
    device_of(lab, &device);
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    const struct lab_tuned_row row = {
        .backend = device.backend,
        .device = device.device,
        .uuid = device.uuid[0] ? device.uuid : NULL,
        .hostname = device.hostname,
        .lab = lab->ladder->name,
        .size_class = size_class,
        .precision = lab_precision_name(job->rung->precision),
        .candidate = b->result.variant,
        .size = size->text,
        .unit = lab->unit,
        .median_ns = b->result.median_ns,
        .rate = b->result.rate,
        .candidates = b->timed,
        .run = lab->run ? lab->run : LAB_UNKNOWN,
        .measured_ns = lab_clock_wall_ns(),
        .driver = lab->machine.info.driver,
        .version = lab_version()};
    enum lab_status st = LAB_OK;
    if (!lab->db)
        return lab_fail(LAB_E_DB, "the winner cannot be kept: no database");
    if (lab->run)
        st = lab_writer_flush(lab->writer);
    return st ? st : lab_tuned_add(lab->db, &row);
}

static enum lab_status measure(struct lab_bench *lab,
                               const struct lab_tune_job *job)
{
    struct best b = {.timed = 0};
    struct lab_tuned_found found = {.candidate = ""};
    lab->n_rungs = lab_ladder_candidates(lab->backend, lab->ladder, job->rung,
                                         lab->rungs, LAB_BENCH_RUNGS);
    enum lab_status st = lab_bench_model_plan(&lab->data, 0, lab);
    if (!st)
        st = lab_bench_climb(lab, job->size, 1, see, &b);
    if (st || b.timed == 0)
        return st; /* the rows say why */
    st = keep(lab, job, &b);
    if (st)
        return st;
    snprintf(found.candidate, sizeof(found.candidate), "%s", b.result.variant);
    found.candidates = b.timed;
    found.rate = b.result.rate;
    return print_winner(lab, job->rung, &lab->sizes[job->size], &found, true);
}

enum lab_status lab_bench_tune(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->to_tune && !st; i++)
        st = measure(lab, &lab->tune[i]);
    return st;
}
