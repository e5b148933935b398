/* lapenna-lab lab offsets: where an element of an image tensor lies in memory.
 *
 * A tensor descriptor is sizes and strides; the layout's letters are in the
 * order of falling strides. Example and numbers: cuDNN's guide, chapter 2. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/options.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"

enum {
    RANK = 4,
    MAP_MOST = 16 /* a map larger than this a side is not printed */
};

static const char letters[RANK + 1] = "nchw";

/* Everywhere else in the order n, c, h, w. */
struct layout {
    int64_t dim[RANK];
    int64_t stride[RANK]; /* in elements */
    int order[RANK];      /* by falling stride: 0 is n, 1 is c ... */
    int64_t count;
};

/* A dense tensor with its letters in the order of falling strides: "nchw".
 * LAB_E_USAGE: not these letters each once, a side below 1, too many. */
static enum lab_status layout_of(const char *layout, const int64_t *dim,
                                 struct layout *out)
{
    struct layout o = {.count = 1};
    bool once = strlen(layout) == RANK;
    for (int i = 0; i < RANK; i++)
        once = once && strchr(layout, letters[i]);
    if (!once)
        return lab_fail(
            LAB_E_USAGE,
            "[demo.offsets-layout] layout %s: the letters n, c, h, w, "
            "each once: nchw, nhwc or chwn",
            layout);
    for (int i = RANK - 1; i >= 0; i--) {
        int which = (int)(strchr(letters, layout[i]) - letters);
        if (dim[which] < 1 || o.count > INT64_MAX / dim[which])
            return lab_fail(
                LAB_E_USAGE,
                "[demo.offsets-side] %c = %lld: a side is 1 or more, "
                "and all elements together fewer than 2^63",
                letters[which], (long long)dim[which]);
        o.dim[which] = dim[which];
        o.stride[which] = o.count;
        o.order[i] = which;
        o.count *= dim[which];
    }
    *out = o;
    return LAB_OK;
}

static enum lab_status offset_of(const struct layout *o, const int64_t *at,
                                 int64_t *offset)
{
    int64_t sum = 0;
    for (int i = 0; i < RANK; i++) {
        if (at[i] < 0 || at[i] >= o->dim[i])
            return lab_fail(
                LAB_E_USAGE,
                "[demo.offsets-at] %c = %lld: it goes from 0 to %lld",
                letters[i], (long long)at[i], (long long)o->dim[i] - 1);
        sum += at[i] * o->stride[i];
    }
    *offset = sum;
    return LAB_OK;
}

static enum lab_status element_of(const struct layout *o, int64_t offset,
                                  int64_t *at)
{
    if (offset < 0 || offset >= o->count)
        return lab_fail(
            LAB_E_USAGE,
            "[demo.offsets-offset] offset %lld: it goes from 0 to %lld",
            (long long)offset, (long long)o->count - 1);
    for (int i = 0; i < RANK; i++)
        at[i] = offset / o->stride[i] % o->dim[i];
    return LAB_OK;
}

/* ---- command line ---- */

static const char *read_number(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || errno)
        return NULL;
    *out = v;
    return end;
}

/* Four numbers with commas between them. */
static void read_four(const char *text, const char *option, int64_t *out,
                      struct argp_state *state)
{
    const char *at = text;
    for (int i = 0; i < RANK && at; i++) {
        at = read_number(at, &out[i]);
        char after = i < RANK - 1 ? ',' : '\0';
        at = at && *at == after ? at + (after == ',') : NULL;
    }
    if (!at)
        lab_usage_error(state, "[option.four] --%s '%s': four numbers, n,c,h,w",
                        option, text);
}

struct request {
    int64_t dim[RANK];
    int64_t at[RANK];
    int64_t offset;
};

static struct request request = {.dim = {1, 64, 5, 4}};

static void read_values(struct lab_options *o, struct argp_state *state)
{
    if (o->dims)
        read_four(o->dims, "dims", request.dim, state);
    if (o->at)
        read_four(o->at, "at", request.at, state);
    if (o->offset) {
        const char *end = read_number(o->offset, &request.offset);
        if (!end || *end)
            lab_usage_error(state,
                            "[option.offset] --offset '%s': a whole number",
                            o->offset);
    }
    if (o->n_words > 0)
        lab_usage_error(state,
                        "[usage.offsets] %s: --dims N,C,H,W takes the sides",
                        o->words[0]);
}

/* ---- output ---- */

static void print_map(const struct layout *o, int64_t c)
{
    lab_printf(stdout, "\nn = 0, c = %lld\n", (long long)c);
    for (int64_t h = 0; h < o->dim[2]; h++) {
        for (int64_t w = 0; w < o->dim[3]; w++) {
            const int64_t at[RANK] = {0, c, h, w};
            int64_t offset = 0;
            (void)offset_of(o, at, &offset);
            lab_printf(stdout, "%s%5lld", w ? " " : "", (long long)offset);
        }
        lab_printf(stdout, "\n");
    }
}

/* The first two channels and the last, as the guide's figure has them. */
static void print_maps(const struct layout *o)
{
    if (o->dim[2] > MAP_MOST || o->dim[3] > MAP_MOST)
        return;
    for (int64_t c = 0; c < o->dim[1] && c < 2; c++)
        print_map(o, c);
    if (o->dim[1] > 2)
        print_map(o, o->dim[1] - 1);
}

static void print_head(const struct layout *o, const char *layout)
{
    lab_printf(
        stdout,
        "%s of n %lld, c %lld, h %lld, w %lld: %lld elements, offsets 0 to "
        "%lld\nstrides: n %lld, c %lld, h %lld, w %lld\n",
        layout, (long long)o->dim[0], (long long)o->dim[1],
        (long long)o->dim[2], (long long)o->dim[3], (long long)o->count,
        (long long)o->count - 1, (long long)o->stride[0],
        (long long)o->stride[1], (long long)o->stride[2],
        (long long)o->stride[3]);
}

/* "at n 0, c 31, h 2, w 3: 0*1280 + 31*20 + 2*4 + 3*1 = 631" */
static void print_element(const struct layout *o, const int64_t *at,
                          int64_t offset)
{
    lab_printf(stdout, "\nn %lld, c %lld, h %lld, w %lld:", (long long)at[0],
               (long long)at[1], (long long)at[2], (long long)at[3]);
    for (int i = 0; i < RANK; i++) {
        int which = o->order[i];
        lab_printf(stdout, "%s %lld*%lld", i ? " +" : "", (long long)at[which],
                   (long long)o->stride[which]);
    }
    lab_printf(stdout, " = %lld\n", (long long)offset);
}

static enum lab_status print_json(const struct layout *o, const char *layout,
                                  const int64_t *at, int64_t offset)
{
    json_t *line = lab_json_new("offsets");
    lab_json_text(line, "layout", layout);
    lab_json_ints(line, "dims", o->dim, RANK);
    lab_json_ints(line, "strides", o->stride, RANK);
    lab_json_int(line, "elements", o->count);
    if (at) {
        lab_json_ints(line, "at", at, RANK);
        lab_json_int(line, "offset", offset);
    }
    return lab_json_print(line);
}

static enum lab_status answer(const struct lab_options *o)
{
    const char *layout = o->layout ? o->layout : "nchw";
    struct layout all;
    int64_t *at = request.at;
    int64_t offset = request.offset;
    if (o->at && o->offset)
        return lab_fail(LAB_E_USAGE,
                        "[demo.offsets-both] --at and --offset: one of "
                        "them, the other is the answer");
    enum lab_status st = layout_of(layout, request.dim, &all);
    if (!st && o->offset)
        st = element_of(&all, offset, at);
    if (!st && o->at)
        st = offset_of(&all, at, &offset);
    if (st)
        return st;
    bool one = o->at || o->offset;
    if (o->json)
        return print_json(&all, layout, one ? at : NULL, offset);
    print_head(&all, layout);
    if (one)
        print_element(&all, at, offset);
    else
        print_maps(&all);
    return LAB_OK;
}

static int cmd_offsets(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab offsets",
        .commands = LAB_FOR_OFFSETS,
        .doc = "Where an element of an image tensor lies in memory, by layout: "
               "strides, offsets, and the offsets of the first channels as a "
               "map.",
        .check = read_values};
    struct lab_options o;
    lab_options_parse(&o, argc, argv, &line);
    return lab_exit_error(answer(&o));
}

const struct lab_demo_row lab_demo_row_offsets = {
    .word = "offsets",
    .takes = "NxCxHxW",
    .text = "where an element of an image tensor lies",
    .run = cmd_offsets};
