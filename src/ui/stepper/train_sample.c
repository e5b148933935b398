#include "train_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/layout.h"

const char lab_train_sample_not_here[] =
    "only a network that learns from text can write some";

void lab_train_sample_take(struct lab_stepper_sampling *how,
                           const struct lab_ui_command *cmd)
{
    if (cmd->n != LAB_COMMAND_ALL)
        how->n = cmd->n;
    if (!isnan(cmd->value))
        how->temperature = cmd->value;
    if (cmd->top_k > 0)
        how->top_k = cmd->top_k;
    if (cmd->arg[0])
        snprintf(how->prompt, sizeof(how->prompt), "%s", cmd->arg);
}

struct lab_command
lab_train_sample_command(const struct lab_stepper_sampling *how)
{
    struct lab_command cmd = {.kind = LAB_DO_SAMPLE,
                              .n = how->n,
                              .phase = -1,
                              .value = how->temperature,
                              .top_k = how->top_k};
    memcpy(cmd.text, how->prompt, sizeof(cmd.text));
    return cmd;
}

static void draw_title(struct lab_canvas *c, struct lab_rect *r,
                       const struct lab_snapshot *snap,
                       const struct lab_stepper_sampling *how)
{
    char title[128];
    char top[48] = "";
    if (how->top_k > 0)
        snprintf(top, sizeof(top), ", of the %lld likeliest",
                 (long long)how->top_k);
    if (!snap->sample)
        snprintf(title, sizeof(title), "what it writes: temperature %g%s",
                 how->temperature, top);
    else
        snprintf(title, sizeof(title),
                 "what it %s after %lld iteration%s: temperature %g%s",
                 snap->sampling ? "is writing" : "wrote",
                 (long long)snap->sample_iteration,
                 snap->sample_iteration == 1 ? "" : "s", how->temperature, top);
    lab_canvas_heading(c, r, title, false);
}

/* The text is as it is: a terminal must only ever print it. */
static void draw_text(struct lab_canvas *c, struct lab_rect r, const char *text)
{
    const int most = 10000; /* rows */
    struct lab_str seen;
    lab_str_init(&seen);
    lab_str_add_visible(&seen, text, strlen(text), true);
    struct lab_rect old = lab_canvas_clip(c, (struct lab_rect){0});
    struct lab_rect all = {.y = r.y, .x = r.x, .h = most, .w = r.w};
    int rows =
        lab_canvas_paragraph(c, all, LAB_ROLE_NORMAL, lab_str_text(&seen));
    lab_canvas_unclip(c, old);
    old = lab_canvas_clip(c, r);
    if (rows > r.h)
        all.y -= rows - r.h;
    lab_canvas_paragraph(c, all, LAB_ROLE_NORMAL, lab_str_text(&seen));
    lab_canvas_unclip(c, old);
    lab_str_release(&seen);
}

void lab_train_sample_draw(struct lab_canvas *c, struct lab_rect r,
                           const struct lab_snapshot *snap,
                           const struct lab_stepper_sampling *how)
{
    if (r.h < 2)
        return;
    draw_title(c, &r, snap, how);
    if (snap->sample)
        draw_text(c, r, snap->sample);
    else
        lab_canvas_paragraph(c, r, LAB_ROLE_DIM,
                             "w lets the network write, while it trains too; "
                             "p sets the prompt, d the temperature.");
}
