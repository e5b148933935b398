#include "debug/sample_text.h"

#include "report/json_line.h"
#include "report/print.h"
#include "base/signals.h"

static struct lab_sampling sampling_of(const struct lab_lesson_run *w)
{
    return (struct lab_sampling){.temperature = w->options->temperature,
                                 .top_k = w->options->top_k,
                                 .seed = w->plan->seed};
}

enum lab_status lab_sample_text_open(struct lab_generator **out,
                                     const struct lab_lesson_run *w)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = sampling_of(w);
    if (w->options->sample == 0)
        return LAB_OK;
    enum lab_status st = lab_generator_new(&g, w->walk);
    if (!st)
        st = lab_generator_begin(g, w->options->prompt, &how);
    if (st)
        lab_generator_free(g);
    else
        *out = g;
    return st;
}

static enum lab_status print_json(const struct lab_lesson_run *w,
                                  const char *text, int64_t iterations)
{
    const struct lab_options *o = w->options;
    json_t *line = lab_json_new("sample");
    lab_json_int(line, "iterations", iterations);
    lab_json_uint(line, "seed", w->plan->seed);
    lab_json_real(line, "temperature", o->temperature);
    lab_json_int(line, "top_k", o->top_k > 0 ? o->top_k : LAB_UNKNOWN);
    lab_json_text(line, "prompt", o->prompt);
    lab_json_text(line, "text", text);
    return lab_json_print(line);
}

static enum lab_status print_text(const struct lab_lesson_run *w,
                                  const char *text, int64_t iterations)
{
    lab_printf(stdout,
               "\nwritten after %lld iteration%s, temperature %g:\n\n%s\n",
               (long long)iterations, iterations == 1 ? "" : "s",
               w->options->temperature, text);
    return ferror(stdout) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}

enum lab_status lab_sample_text_print(struct lab_generator *g,
                                      const struct lab_lesson_run *w,
                                      int64_t iterations)
{
    struct lab_sampling how = sampling_of(w);
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add(&text, w->options->prompt);
    enum lab_status st = lab_generator_begin(g, w->options->prompt, &how);
    for (int64_t i = 0; i < w->options->sample && !st && !lab_signals_caught();
         i++)
        st = lab_generator_next(g, &text);
    if (!st && text.failed)
        st = lab_fail(LAB_E_NOMEM, "no memory for the text");
    if (!st)
        st = w->options->json ? print_json(w, lab_str_text(&text), iterations)
                              : print_text(w, lab_str_text(&text), iterations);
    lab_str_release(&text);
    return st;
}
