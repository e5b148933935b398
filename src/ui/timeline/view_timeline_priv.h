/* view_timeline_priv.h -- the timeline's state, for its keys and drawing. */
#pragma once
#include "timeline_layout.h"
#include "ui/view_timeline.h"

struct lab_timeline_state {
    const struct lab_runs_model *model;
    int64_t run;
    const struct lab_iteration_row *passes;
    int64_t pass_count;
    int64_t pass;
    const struct lab_timeline *t;  /* the model's */
    struct lab_timeline_sums sums; /* of the whole pass */
    bool part;     /* t is not all of it: what is in sight was read anew */
    bool crowded;  /* all of it is too much to hold */
    bool dateless; /* nothing of it has a moment */
    struct lab_time_window window;
    int32_t lane;
    int32_t chosen; /* a span; -1: none */
    int32_t top;    /* the first lane in sight */
    int32_t focus;  /* the step whose kernels are walked through, -1: none */
    struct lab_time_window before;
    int32_t list_of; /* a step, or -1: what it launched is listed, by start */
    int32_t *list;
    int32_t list_count;
    char search[128];
    struct lab_timeline_layout place; /* of the last drawing */
};

/* The chosen span, or NULL. */
const struct lab_span *lab_timeline_chosen(const struct lab_timeline_state *st);
/* Along the lane, or along the list of a step. */
void lab_timeline_move(struct lab_timeline_state *st, int32_t by);
/* To another lane, at about the same time, out of a list. */
void lab_timeline_lane(struct lab_timeline_state *st, int by);
/* Up and down: along the list of a step, else from lane to lane. */
void lab_timeline_upright(struct lab_timeline_state *st, int by);
/* To the next span whose name holds st->search; false: none. */
bool lab_timeline_search(struct lab_timeline_state *st);
/* A span that is in sight, or comes into it. */
void lab_timeline_choose(struct lab_timeline_state *st, int32_t span);
/* From a step to what it launched and back; from a kernel to its step. */
enum lab_status lab_timeline_open(struct lab_timeline_state *st);
void lab_timeline_back(struct lab_timeline_state *st);
/* Lists what the step of the chosen span launched. LAB_E_NOMEM. */
enum lab_status lab_timeline_relist(struct lab_timeline_state *st);
void lab_timeline_unlist(struct lab_timeline_state *st);
/* From what was launched to the call, and from the call to that. */
enum lab_status lab_timeline_follow(struct lab_timeline_state *st);

void lab_timeline_draw(struct lab_screen *s, struct lab_canvas *c,
                       struct lab_rect body);
