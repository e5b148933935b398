/* Text from the network, as it is at this moment. */
#include "base/clock.h"
#include "engine/generate.h"
#include "session_priv.h"

enum { DEFAULT_CHARACTERS = 200, MOST_CHARACTERS = 100000 };

static enum lab_status write_on(struct lab_session *s, struct lab_generator *g,
                                int64_t n)
{
    const int64_t patience_ns = 50000000;
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < n && !st && !atomic_load(&s->cancel); i++) {
        st = lab_generator_next(g, &s->sample);
        if (!st && s->sample.failed)
            st = lab_fail(LAB_E_NOMEM, "no memory for the text");
        if (!st && lab_clock_monotonic_ns() - s->last_publish_ns > patience_ns)
            lab_session_publish(s);
    }
    return st;
}

/* Every text has a seed of its own, which follows from the lesson's. */
static enum lab_status sample(struct lab_session *s,
                              const struct lab_command *c)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = {.temperature = c->value,
                               .top_k = c->top_k,
                               .seed = s->plan->seed + (uint64_t)s->samples};
    int64_t n = c->n > 0 ? c->n : DEFAULT_CHARACTERS;
    if (c->seed_given)
        how.seed = c->seed;
    if (n > MOST_CHARACTERS)
        return lab_fail(LAB_E_RANGE, "at most %d characters at a time",
                        MOST_CHARACTERS);
    enum lab_status st = lab_generator_new(&g, s->walk);
    if (!st)
        st = lab_generator_begin(g, c->text, &how);
    if (!st) {
        s->samples++;
        s->sample_iteration =
            lab_walk_iteration(s->walk) + lab_walk_at_end(s->walk);
        lab_str_release(&s->sample);
        lab_str_add(&s->sample, c->text);
        s->sampling = true;
        st = write_on(s, g, n);
        s->sampling = false;
    }
    lab_generator_free(g);
    return st;
}

void lab_session_sample(struct lab_session *s, const struct lab_command *c)
{
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = sample(s, c);
    if (st)
        lab_session_say_error(s, st);
    /* It is no part of the training that it interrupts. */
    s->train_start_ns += lab_clock_monotonic_ns() - start;
}
