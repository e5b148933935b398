/* engine/setup.h -- from a lesson's network to a walk that is ready: data,
 * plan, backend, the check of the variants, the choices. */
#pragma once
#include "base/str.h"
#include "engine/tune.h"
#include "engine/walk.h"

enum { LAB_MAX_CHOICES = 64 }; /* the lesson's included */

struct lab_setup {
    const struct lab_network_spec *spec; /* must outlive the walk */
    const char *backend; /* "cpu", "cuda", "sim", "null", or "auto": cuda when
                            it can be had, else cpu with the reason in the notice */
    int device;
    const char *device_model; /* of "sim"; NULL: the newest known */
    int64_t batch;            /* 0: the lesson's */
    const char *data;         /* instead of the lesson's path, or NULL */
    struct lab_stop stop;     /* of opening: LAB_E_CANCELLED; and of the walk */
    /* Choices that must be possible; they come after the lesson's own, which
     * are left out, with a notice, where this backend cannot follow. */
    const struct lab_variant_choice *choices;
    int n_choices;
    /* Gets the choices that hold now, *n_kept of them: pointers into the spec
     * and `choices`. Room for LAB_MAX_CHOICES, or NULL. */
    struct lab_variant_choice *kept;
    int *n_kept;
    /* NULL: the fixed table of variants. Else a network that is large enough
     * (lab_tune_wanted) runs the fastest ones, measured where that is new;
     * with the keeper's stop, which is not that of opening, the fixed table and a
     * notice. */
    const struct lab_tune_keeper *tune;
    /* Called before a backend is opened ("cuda" may be followed by "cpu"). */
    void (*prepare)(void *user, const char *backend);
    /* Called when the walk is ready, to have it begin elsewhere than with the
     * seed (lab_walk_start_from); a failure is one of opening, and what the
     * learner should know is added to `notice`. NULL: nothing. */
    enum lab_status (*begin)(void *user, struct lab_walk *walk,
                             struct lab_str *notice);
    void *user;
};

LAB_C_BEGIN
/* *walk and *plan are the caller's: free the walk first. `notice` gets a line
 * for everything the learner should know. LAB_E_USAGE: a choice that fits
 * nothing; otherwise as data, plan, backend and walk have it. */
enum lab_status lab_setup_open(const struct lab_setup *setup,
                               struct lab_walk **walk, struct lab_plan **plan,
                               struct lab_str *notice);
/* The notice without its line that `auto` found no GPU. */
const char *lab_setup_notice_rest(const char *notice);
LAB_C_END
