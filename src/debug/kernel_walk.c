/* The inside of a kernel as lines of text: where the warp in focus is, what its
 * lanes touch, and the words that move it. */
#include "debug/kernel_walk.h"
#include "debug/kernel_text.h"
#include "debug/kernel_value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/str.h"
#include "engine/sim_backend.h"
#include "report/print.h"
#include "report/text_table.h"
#include "sim/argument.h"

enum { LANES = 32, AROUND = 2, LISTED = 5 };

struct session {
    struct lab_kernel_walk *w;
    struct lab_kernel_source source;
    struct lab_kernel_values values;
    const struct lab_ptx_place *first; /* that was shown; NULL: none yet */
    int lane;                          /* in focus */
    int32_t shown; /* findings of the block that were printed */
    bool leaving;
    bool repeats; /* the word is done again by an empty line */
};

/* ---- source ---- */

static const char *line_text(struct session *s, int32_t file, int32_t line,
                             size_t *n)
{
    return lab_kernel_source_line(&s->source, s->w->ptx, file, line, n);
}

/* Lines from .. to with how often each ran so far. */
static void list(struct session *s, int32_t file, int32_t from, int32_t to,
                 int32_t here)
{
    struct lab_str out;
    lab_str_init(&out);
    for (int32_t line = from < 1 ? 1 : from; line <= to; line++) {
        size_t n;
        const char *text = line_text(s, file, line, &n);
        struct lab_sim_counts c;
        lab_sim_debug_counts(s->w->debug, file, line, &c);
        int64_t ran = c.warp_instructions;
        if (n == 0 && line > s->source.lines)
            break;
        if (ran > 0)
            lab_str_addf(&out, "%8" PRId64, ran);
        else
            lab_str_addf(&out, "%8s", "");
        lab_str_addf(&out, " %c%5d  ", line == here ? '>' : ' ', line);
        lab_str_add_visible(&out, text, n, false);
        lab_str_add(&out, "\n");
    }
    if (s->source.lines == 0) {
        lab_str_clear(&out);
        lab_str_add(&out, "  ");
        lab_kernel_source_missing_add(&out, s->w->ptx, file);
        lab_str_add(&out, "\n");
    }
    lab_print_lines(&out);
    lab_str_release(&out);
}

static const char *short_path(const struct session *s, int32_t file)
{
    return lab_kernel_source_name(s->w->ptx, file);
}

/* ---- where it is ---- */

static int focus(const struct session *s)
{
    uint32_t block[3];
    int warp;
    int warps;
    lab_sim_debug_where(s->w->debug, block, &warp, &warps);
    return warp;
}

/* "32 lanes read 4 bytes each of global memory, x[0] to x[31]: 4 sectors" */
static void print_access(struct session *s)
{
    struct lab_sim_access_view v;
    struct lab_str out;
    lab_sim_debug_access(s->w->debug, focus(s), &v);
    if (v.lanes == 0)
        return;
    lab_str_init(&out);
    lab_str_add(&out, "  ");
    lab_kernel_access_add(&out, s->w->debug, s->w->ptx, &v);
    lab_str_add(&out, "\n");
    lab_print_lines(&out);
    lab_str_release(&out);
}

static void print_state(const struct lab_sim_warp_view *v)
{
    if (v->done)
        lab_printf(stdout, "has ended");
    else if (v->at_barrier)
        lab_printf(stdout, "waits at a barrier");
    else if (v->waiting)
        lab_printf(stdout, "waits for memory");
    else
        lab_printf(stdout, "%d of %d lanes", __builtin_popcount(v->active),
                   __builtin_popcount(v->lanes));
}

/* The line of the warp in focus and those around it. */
static void show(struct session *s)
{
    uint32_t block[3];
    int warp;
    int warps;
    char launch[32];
    struct lab_sim_warp_view v;
    lab_sim_debug_where(s->w->debug, block, &warp, &warps);
    lab_sim_debug_warp(s->w->debug, warp, &v);
    const struct lab_ptx_place *p =
        v.place >= 0 ? &s->w->ptx->places[v.place] : NULL;
    lab_sim_launch_text(s->w->launch, launch, sizeof(launch));
    lab_printf(stdout, "%s%s  ", s->w->name, launch);
    if (p)
        lab_printf(stdout, "%s:%d  ", short_path(s, p->file), p->line);
    else if (v.text_line)
        lab_printf(stdout, "line %d of the PTX  ", v.text_line);
    lab_printf(stdout, "block (%u,%u,%u)  warp %d of %d: ", block[0], block[1],
               block[2], warp, warps);
    print_state(&v);
    lab_printf(stdout, "\n");
    if (!p)
        return;
    s->first = s->first ? s->first : p;
    list(s, p->file, p->line - AROUND, p->line + AROUND, p->line);
}

/* One of a check and a line, and how often; of those from `from` on. */
static void print_findings(const struct session *s, int32_t from)
{
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(s->w->debug, &n);
    for (int32_t i = from; i < n;) {
        int32_t same = lab_kernel_same_finding(f, n, i);
        lab_printf(stdout, "%s: %s, thread (%u,%u,%u)",
                   lab_sim_check_id(f[i].check), f[i].message,
                   f[i].at.thread[0], f[i].at.thread[1], f[i].at.thread[2]);
        if (same - i > 1)
            lab_printf(stdout, "; %d times on this line", same - i);
        lab_printf(stdout, "\n");
        i = same;
    }
}

/* What was found is of the blocks that were walked. */
static void print_other_blocks(const struct session *s)
{
    uint32_t grid[3];
    uint32_t block[3];
    lab_sim_debug_shape(s->w->debug, grid, block);
    const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
    if (n > 1)
        lab_printf(stdout,
                   "it is one of %" PRIu64 " blocks; `block X,Y,Z` goes to "
                   "another, and only what is walked is checked here\n",
                   n);
}

static void print_stop(struct session *s, const struct lab_sim_stop *stop)
{
    static const char *const why[] = {
        [LAB_SIM_STOPPED_MOVED] = "",
        [LAB_SIM_STOPPED_LINE] = "breakpoint\n",
        [LAB_SIM_STOPPED_ACCESS] = "what is watched was touched\n",
        [LAB_SIM_STOPPED_FINDING] = "",
        [LAB_SIM_STOPPED_WARP_DONE] = "the warp has ended\n",
        [LAB_SIM_STOPPED_END] = "all warps of the block have ended\n"};
    int32_t n;
    (void)lab_sim_debug_findings(s->w->debug, &n);
    lab_printf(stdout, "%s", why[stop->reason]);
    if (stop->reason == LAB_SIM_STOPPED_END)
        print_other_blocks(s);
    /* Of one stop there may be several, of other lines and checks. */
    if (stop->reason == LAB_SIM_STOPPED_FINDING)
        print_findings(s, s->shown < n ? s->shown : n - 1);
    /* The lane that it is about, where it is the warp's in focus. */
    const struct lab_sim_finding *f = lab_sim_debug_findings(s->w->debug, &n);
    if (stop->reason == LAB_SIM_STOPPED_FINDING && n > 0)
        (void)lab_sim_debug_thread(s->w->debug,
                                   f[s->shown < n ? s->shown : n - 1].at.thread,
                                   &s->lane);
    s->shown = n;
    print_access(s);
    show(s);
}

/* ---- words ---- */

static enum lab_status read_times(const char *arg, long *n)
{
    char *end;
    *n = *arg ? strtol(arg, &end, 10) : 1;
    if (*arg && (*end || *n < 1))
        return lab_fail(LAB_E_PARSE,
                        "[kernel.times] '%s': how often? a number from 1", arg);
    return LAB_OK;
}

static enum lab_status go(struct session *s, const char *arg,
                          enum lab_sim_move move)
{
    struct lab_sim_stop stop;
    long n;
    enum lab_status st = read_times(arg, &n);
    if (st)
        return st;
    s->repeats = true;
    for (long i = 0; i < n; i++) {
        st = lab_sim_debug_move(s->w->debug, move, &stop);
        if (st || stop.reason != LAB_SIM_STOPPED_MOVED)
            break;
    }
    /* Where it was stopped is worth showing, too. */
    if (!st || st == LAB_E_CANCELLED)
        print_stop(s, &stop);
    return st;
}

static enum lab_status do_step(struct session *s, const char *arg)
{
    return go(s, arg, LAB_SIM_LINE);
}

static enum lab_status do_instruction(struct session *s, const char *arg)
{
    return go(s, arg, LAB_SIM_INSTRUCTION);
}

static enum lab_status do_barrier(struct session *s, const char *arg)
{
    return go(s, arg, LAB_SIM_BARRIER_NEXT);
}

static enum lab_status do_finish(struct session *s, const char *arg)
{
    return go(s, arg, LAB_SIM_FINISH);
}

static enum lab_status do_continue(struct session *s, const char *arg)
{
    return go(s, arg, LAB_SIM_CONTINUE);
}

static enum lab_status do_back(struct session *s, const char *arg)
{
    struct lab_sim_stop stop;
    long n;
    enum lab_status st = read_times(arg, &n);
    s->repeats = true;
    for (long i = 0; i < n && !st; i++)
        st = lab_sim_debug_back(s->w->debug, &stop);
    if (!st)
        show(s);
    return st;
}

static enum lab_status read_line(const char *text, int32_t *out)
{
    char *end;
    long line = strtol(text, &end, 10);
    if (end == text || *end || line < 1 || line > INT32_MAX)
        return lab_fail(LAB_E_PARSE,
                        "[kernel.line] '%s': a line, as 12 or reduce.cuh:40",
                        text);
    *out = (int32_t)line;
    return LAB_OK;
}

static enum lab_status break_thread(struct session *s, const char *arg)
{
    uint32_t thread[3];
    enum lab_status st = lab_kernel_read_three(arg, thread);
    if (!st)
        st = lab_sim_debug_break_thread(s->w->debug, thread);
    if (!st)
        lab_printf(stdout,
                   "stops at each line that thread (%u,%u,%u) comes to\n",
                   thread[0], thread[1], thread[2]);
    return st;
}

static enum lab_status do_break(struct session *s, const char *arg)
{
    static const char of_thread[] = "thread ";
    char file[256] = "";
    int32_t line;
    const char *colon = strrchr(arg, ':');
    if (strncmp(arg, of_thread, strlen(of_thread)) == 0)
        return break_thread(s, arg + strlen(of_thread));
    if (colon)
        snprintf(file, sizeof(file), "%.*s", (int)(colon - arg), arg);
    enum lab_status st = read_line(colon ? colon + 1 : arg, &line);
    if (!st)
        st = lab_sim_debug_break(s->w->debug, file[0] ? file : NULL, line);
    if (!st)
        lab_printf(stdout, "stops at line %d\n", line);
    return st;
}

static enum lab_status do_watch(struct session *s, const char *arg)
{
    void *p;
    size_t bytes;
    enum lab_status st = lab_sim_debug_find(s->w->debug, arg, &p, &bytes);
    if (st)
        return st;
    lab_sim_debug_watch(s->w->debug, p, bytes);
    lab_printf(stdout, "stops when %s is touched\n", arg);
    return LAB_OK;
}

static enum lab_status do_writer(struct session *s, const char *arg)
{
    void *p;
    size_t bytes;
    uint32_t thread[3];
    struct lab_sim_stop stop;
    enum lab_status st = lab_sim_debug_find(s->w->debug, arg, &p, &bytes);
    if (!st)
        st = lab_sim_debug_writer(s->w->debug, p, bytes, &stop, &s->lane);
    if (st)
        return st;
    lab_sim_debug_thread_of(s->w->debug, stop.warp, s->lane, thread);
    lab_printf(stdout, "%s is written by lane %d, thread (%u,%u,%u)\n", arg,
               s->lane, thread[0], thread[1], thread[2]);
    print_access(s);
    show(s);
    return LAB_OK;
}

static enum lab_status do_delete(struct session *s, const char *arg)
{
    (void)arg;
    lab_sim_debug_clear(s->w->debug);
    return LAB_OK;
}

static enum lab_status do_thread(struct session *s, const char *arg)
{
    uint32_t thread[3];
    enum lab_status st = lab_kernel_read_three(arg, thread);
    if (!st)
        st = lab_sim_debug_thread(s->w->debug, thread, &s->lane);
    if (!st)
        show(s);
    return st;
}

static enum lab_status do_warp(struct session *s, const char *arg)
{
    char *end;
    long n = strtol(arg, &end, 10);
    if (end == arg || *end)
        return lab_fail(LAB_E_PARSE, "[kernel.warp] '%s': the number of a warp",
                        arg);
    enum lab_status st = lab_sim_debug_focus(s->w->debug, (int)n);
    if (!st)
        show(s);
    return st;
}

static enum lab_status do_block(struct session *s, const char *arg)
{
    uint32_t block[3];
    enum lab_status st = lab_kernel_read_three(arg, block);
    if (!st)
        st = lab_sim_debug_block(s->w->debug, block);
    if (!st)
        show(s);
    return st;
}

static enum lab_status do_warps(struct session *s, const char *arg)
{
    uint32_t block[3];
    int warp;
    int warps;
    (void)arg;
    lab_sim_debug_where(s->w->debug, block, &warp, &warps);
    for (int i = 0; i < warps; i++) {
        struct lab_sim_warp_view v;
        lab_sim_debug_warp(s->w->debug, i, &v);
        const struct lab_ptx_place *p =
            v.place >= 0 ? &s->w->ptx->places[v.place] : NULL;
        lab_printf(stdout, "%c warp %2d  ", i == warp ? '>' : ' ', i);
        if (p)
            lab_printf(stdout, "%s:%d  ", short_path(s, p->file), p->line);
        print_state(&v);
        lab_printf(stdout, ", %s instructions\n", LAB_INT_TEXT(v.executed));
    }
    return LAB_OK;
}

/* Each lane: its thread, whether it runs, what it touched last. */
static enum lab_status do_lanes(struct session *s, const char *arg)
{
    static const char *const heads[] = {">lane", "thread", "state",
                                        "last access", NULL};
    struct lab_text_table t;
    struct lab_sim_warp_view v;
    struct lab_sim_access_view a;
    int warp = focus(s);
    (void)arg;
    lab_sim_debug_warp(s->w->debug, warp, &v);
    lab_sim_debug_access(s->w->debug, warp, &a);
    lab_text_table_init(&t, heads);
    for (int l = 0; l < LANES; l++) {
        uint32_t thread[3];
        struct lab_str out;
        if (!(v.lanes >> l & 1))
            continue;
        lab_sim_debug_thread_of(s->w->debug, warp, l, thread);
        lab_text_table_addf(&t, "%d", l);
        lab_text_table_addf(&t, "%u,%u,%u", thread[0], thread[1], thread[2]);
        lab_text_table_add(&t, !(v.alive >> l & 1) ? "ended"
                               : v.active >> l & 1 ? "runs"
                                                   : "waits");
        lab_str_init(&out);
        if (a.lanes >> l & 1)
            lab_kernel_place_add(&out, s->w->debug, &a, l);
        /* Banks are of bytes. */
        if ((lab_kernel_inside(&a) >> l & 1) && a.space == LAB_PTX_SHARED &&
            strncmp(lab_str_text(&out), "byte ", 5) != 0)
            lab_str_addf(&out, ", byte %" PRIu64, a.address[l]);
        lab_text_table_add(&t, lab_str_text(&out));
        lab_str_release(&out);
    }
    return lab_text_table_put(&t, "");
}

/* A variable of the source, or a register of the PTX, in each lane. */
static enum lab_status do_print(struct session *s, const char *arg)
{
    struct lab_str out;
    lab_str_init(&out);
    enum lab_status st =
        lab_kernel_print_add(&out, &s->values, s->w->debug, focus(s), arg);
    if (!st)
        lab_print_lines(&out);
    lab_str_release(&out);
    return st;
}

static void add_variables(struct lab_str *out,
                          const struct lab_kernel_values *v,
                          const struct lab_sim_debug *d, int lane)
{
    const struct lab_ptx_function *f = lab_sim_debug_function(d);
    int gone = 0;
    for (int i = 0; i < v->count; i++) {
        const struct lab_sim_variable *x = &v->all[i];
        if (x->held == LAB_SIM_HELD_NOT)
            continue;
        lab_str_addf(out, "  %-14s ", x->name);
        size_t from = out->len;
        lab_kernel_value_add(out, d, x, lane);
        lab_str_addf(out, "%*s  %s",
                     from + 14 > out->len ? (int)(from + 14 - out->len) : 0, "",
                     x->type);
        if (x->held == LAB_SIM_HELD_REGISTER)
            lab_str_addf(out, ", in %s", f->regs[x->reg].name);
        lab_str_add(out, "\n");
    }
    for (int i = 0; i < v->count; i++)
        if (v->all[i].held == LAB_SIM_HELD_NOT)
            lab_str_addf(
                out, "%s%s",
                gone++ ? ", " : "  in no known register: ", v->all[i].name);
    lab_str_add(out, gone ? "\n" : "");
}

/* Variables and registers that hold a value here, as the lane in focus has them. */
static enum lab_status do_registers(struct session *s, const char *arg)
{
    enum { ALL = 1 << 20 };
    struct lab_str out;
    (void)arg;
    lab_str_init(&out);
    enum lab_status st =
        lab_kernel_values_read(&s->values, s->w->debug, focus(s));
    if (!st) {
        add_variables(&out, &s->values, s->w->debug, s->lane);
        (void)lab_kernel_unnamed_add(&out, &s->values, s->w->debug, s->lane, 0,
                                     ALL);
        st = lab_str_check(&out, "the registers");
    }
    if (!st)
        lab_print_lines(&out);
    lab_str_release(&out);
    return st;
}

enum { SHARED_SHOWN = 64 };

/* Whether the word is in an array of floats. */
static bool is_float(const struct session *s, int64_t word)
{
    const char *name;
    int64_t from;
    int64_t to;
    int type;
    for (int i = 0;
         lab_sim_debug_shared_array(s->w->debug, i, &name, &from, &to, &type);
         i++)
        if (4 * word >= from && 4 * word < to)
            return type == LAB_SIM_TYPE_FLOAT;
    return false;
}

/* Words from .. end - 1, at most so many, as floats or as bits; "-": nothing has
 * written it. */
static void print_words(struct session *s, const char *name, int64_t from,
                        int64_t end, int64_t at_most)
{
    enum { LINE = 8 };
    int64_t bytes;
    int64_t words;
    const unsigned char *p = lab_sim_debug_shared(s->w->debug, &bytes);
    const int32_t *writer = lab_sim_debug_shared_writers(s->w->debug, &words);
    const int64_t most = end - from > at_most ? from + at_most : end;
    if (name)
        lab_printf(stdout, "%s\n", name);
    for (int64_t i = from; i < most; i++) {
        uint32_t bits = 0;
        float v;
        const int64_t left = bytes - 4 * i; /* of the last word, less than 4 */
        memcpy(&bits, p + 4 * i, left < 4 ? (size_t)left : sizeof(bits));
        memcpy(&v, &bits, sizeof(v));
        if ((i - from) % LINE == 0)
            lab_printf(stdout, "%s%6" PRId64 ":", i == from ? "" : "\n", i);
        if (i < words && writer[i] < 0)
            lab_printf(stdout, " -");
        else if (is_float(s, i))
            lab_printf(stdout, " %.9g", (double)v);
        else
            lab_printf(stdout, " 0x%08" PRIx32, bits);
    }
    lab_printf(stdout, "\n");
    if (most < end)
        lab_printf(stdout, "%6" PRId64 " more words: shared %" PRId64 "\n",
                   end - most, most);
}

/* The numbers of an array that are of another type than float. */
static void print_numbers(struct session *s, const char *name, int64_t from,
                          int64_t to, enum lab_sim_type type, int64_t each,
                          int64_t at_most)
{
    enum { LINE = 8 };
    int64_t bytes;
    int64_t words;
    char text[LAB_SIM_INTEGER];
    const unsigned char *p = lab_sim_debug_shared(s->w->debug, &bytes);
    const int32_t *writer = lab_sim_debug_shared_writers(s->w->debug, &words);
    const int64_t count = (to - from) / each;
    const int64_t most = count > at_most ? at_most : count;
    lab_printf(stdout, "%s, of %s\n", name, lab_sim_type_name(type));
    for (int64_t i = 0; i < most; i++) {
        const int64_t word = (from + i * each) / 4;
        if (i % LINE == 0)
            lab_printf(stdout, "%s%6" PRId64 ":", i == 0 ? "" : "\n", i);
        if (word < words && writer[word] < 0)
            lab_printf(stdout, " -");
        else if (lab_sim_type_is_real(type))
            lab_printf(stdout, " %.9g", lab_sim_real_at(type, p + from, i));
        else
            lab_printf(stdout, " %s",
                       lab_sim_integer_text(type, p + from, i, text));
    }
    lab_printf(stdout, "\n");
    if (most < count)
        lab_printf(stdout, "%6" PRId64 " more: shared %s\n", count - most,
                   name);
}

/* The whole array that is named; NULL: the beginning of each. false: there is none. A
 * word of which an array has one byte is one of its words. */
static bool print_arrays(struct session *s, const char *wanted)
{
    const char *name;
    int64_t from;
    int64_t to;
    int type;
    const int64_t at_most = wanted ? INT64_MAX : SHARED_SHOWN;
    bool any = false;
    for (int i = 0;
         lab_sim_debug_shared_array(s->w->debug, i, &name, &from, &to, &type);
         i++) {
        if (wanted && strcmp(wanted, name) != 0)
            continue;
        const int64_t each =
            type < 0 ? 1 : lab_sim_type_bytes((enum lab_sim_type)type);
        if (type < 0)
            lab_printf(stdout, "bits of a type that is not known: ");
        if (type == LAB_SIM_TYPE_FLOAT || type < 0 || from % each != 0)
            print_words(s, name, from / 4, (to + 3) / 4, at_most);
        else
            print_numbers(s, name, from, to, (enum lab_sim_type)type, each,
                          at_most);
        any = true;
    }
    return any;
}

static enum lab_status do_shared(struct session *s, const char *arg)
{
    int64_t bytes;
    (void)lab_sim_debug_shared(s->w->debug, &bytes);
    const int64_t words = (bytes + 3) / 4;
    char *rest;
    const int64_t from = *arg ? strtoll(arg, &rest, 10) : 0;
    if (words == 0)
        return lab_fail(LAB_E_STATE,
                        "[kernel.no-shared] the kernel has no shared memory");
    if (!*arg) {
        if (!print_arrays(s, NULL))
            print_words(s, NULL, 0, words, SHARED_SHOWN);
        return LAB_OK;
    }
    if (print_arrays(s, arg))
        return LAB_OK;
    if (*rest || from < 0 || from >= words)
        return lab_fail(LAB_E_RANGE,
                        "[kernel.shared-word] '%s': a word from 0 to %" PRId64
                        ", or the name of an array",
                        arg, words - 1);
    print_words(s, NULL, from, words, SHARED_SHOWN);
    return LAB_OK;
}

static enum lab_status do_output(struct session *s, const char *arg)
{
    enum { COLUMNS = 72, ROWS = 32 };
    const struct lab_sim_written *t = lab_sim_debug_written(s->w->debug);
    struct lab_kernel_picture p;
    struct lab_str text;
    (void)arg;
    if (!t)
        return lab_fail(LAB_E_STATE,
                        "[kernel.no-output] no block that was walked has "
                        "written to a tensor yet");
    lab_str_init(&text);
    lab_kernel_picture_make(&p, s->w->debug, t, COLUMNS, ROWS);
    lab_kernel_picture_head(&text, &p, t);
    for (int i = 0; i < p.w * p.h; i++) {
        int warp;
        bool now;
        char sign = lab_kernel_picture_sign(&p, s->w->debug, t, i % p.w,
                                            i / p.w, &warp, &now);
        lab_str_addf(&text, "%s%c", i % p.w ? "" : "\n  ", sign);
    }
    lab_str_add(&text, "\n  0 to v: the warp of this block, # several; + x * "
                       "= another block that was walked; . none\n");
    return lab_print_str(&text);
}

static enum lab_status do_list(struct session *s, const char *arg)
{
    struct lab_sim_warp_view v;
    lab_sim_debug_warp(s->w->debug, focus(s), &v);
    const struct lab_ptx_place *p =
        v.place >= 0 ? &s->w->ptx->places[v.place] : s->first;
    const int32_t file = p ? p->file : s->source.file;
    const int32_t here = v.place >= 0 ? p->line : 0;
    int32_t at = p ? p->line : 0;
    enum lab_status st = *arg ? read_line(arg, &at) : LAB_OK;
    if (st)
        return st;
    list(s, file, at - LISTED, at + LISTED, here);
    if (s->source.lines == 0)
        lab_printf(stdout,
                   "%s: this file of the source is not found here: the kernel "
                   "was built from another place\n",
                   short_path(s, file));
    return LAB_OK;
}

/* What the thread in focus reads and writes, from its start to its end. */
static enum lab_status do_elements(struct session *s, const char *arg)
{
    struct lab_str out;
    (void)arg;
    lab_str_init(&out);
    enum lab_status st =
        lab_kernel_elements_add(&out, s->w->debug, focus(s), s->lane, "\n");
    if (!st)
        lab_print_lines(&out);
    lab_str_release(&out);
    return st;
}

static enum lab_status do_access(struct session *s, const char *arg)
{
    (void)arg;
    print_access(s);
    return LAB_OK;
}

static enum lab_status do_findings(struct session *s, const char *arg)
{
    int32_t n;
    (void)arg;
    (void)lab_sim_debug_findings(s->w->debug, &n);
    if (n == 0)
        lab_printf(stdout, "the checks have found nothing in this block so "
                           "far\n");
    print_findings(s, 0);
    return LAB_OK;
}

static enum lab_status do_kernel(struct session *s, const char *arg)
{
    (void)arg;
    if (s->w->launch == 0)
        return lab_fail(LAB_E_STATE,
                        "[kernel.only] no other kernel is launched here: "
                        "`quit` leaves this one");
    s->leaving = true;
    return LAB_OK;
}

static enum lab_status do_quit(struct session *s, const char *arg)
{
    (void)arg;
    s->leaving = true;
    s->w->left = true;
    return LAB_OK;
}

static enum lab_status do_help(struct session *s, const char *arg);

/* Word, what may follow, what it does. The first with a beginning wins. */
static const struct word {
    const char *name;
    const char *args;
    const char *help;
    enum lab_status (*run)(struct session *s, const char *arg);
} words[] = {
    {"step", "[N]", "the next source line of this warp", do_step},
    {"instruction", "[N]", "the next instruction of this warp", do_instruction},
    {"barrier", "[N]", "past this warp's next barrier", do_barrier},
    {"finish", "[N]",
     "to the end of the inlined function, or of the kernel for this warp",
     do_finish},
    {"continue", "", "to a breakpoint, a finding, or the end", do_continue},
    {"back", "[N]", "to the stop before", do_back},
    {"break", "LINE",
     "stop where a warp comes to LINE or FILE:LINE; thread "
     "X,Y: at each line of that thread",
     do_break},
    {"watch", "X[I,J]", "stop when this element is touched", do_watch},
    {"writer", "X[I,J]", "go to the thread that writes this element",
     do_writer},
    {"elements", "",
     "what the thread in focus reads and writes in global "
     "memory",
     do_elements},
    {"delete", "", "no breakpoints any more", do_delete},
    {"thread", "X[,Y[,Z]]", "look at this thread's warp", do_thread},
    {"warp", "N", "look at this warp", do_warp},
    {"warps", "", "where all warps of the block are", do_warps},
    {"block", "X[,Y[,Z]]", "go to the beginning of this block", do_block},
    {"lanes", "", "the warp's threads and what each touched", do_lanes},
    {"access", "", "what the warp touched last", do_access},
    {"print", "NAME|%R|X[I]",
     "a variable, or a register of the PTX (%f3), in each lane; or an "
     "element: x[3,17]",
     do_print},
    {"registers", "", "variables and registers that hold a value, of one lane",
     do_registers},
    {"shared", "[WORD|NAME]",
     "shared memory: the beginning of each array, or all of the one of this "
     "name, in the type that the source has, else as bits; - is a word that "
     "nothing wrote",
     do_shared},
    {"output", "", "which block and warp wrote each element of the output",
     do_output},
    {"list", "[LINE]", "source, with how often each line ran", do_list},
    {"findings", "", "what the checks have found", do_findings},
    {"help", "", "these words", do_help},
    {"kernel", "", "on to the next kernel, where a step launches several",
     do_kernel},
    {"quit", "", "leave this kernel and all that follow", do_quit},
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static enum lab_status do_help(struct session *s, const char *arg)
{
    (void)s;
    (void)arg;
    for (int i = 0; i < WORDS; i++)
        lab_printf(stdout, "  %-12s%-13s%s\n", words[i].name, words[i].args,
                   words[i].help);
    return LAB_OK;
}

/* gdb's own short words come before a beginning of a word. */
static const struct word *find_word(const char *name, size_t n)
{
    static const char *const short_words[][2] = {
        {"s", "step"},     {"n", "step"},     {"si", "instruction"},
        {"b", "break"},    {"c", "continue"}, {"r", "back"},
        {"p", "print"},    {"d", "delete"},   {"q", "quit"},
        {"l", "list"},     {"?", "help"},     {"t", "thread"},
        {"w", "warp"},     {"next", "step"},  {"f", "finish"},
        {"fin", "finish"},
    };
    for (size_t i = 0; i < sizeof(short_words) / sizeof(short_words[0]); i++)
        if (strlen(short_words[i][0]) == n &&
            memcmp(short_words[i][0], name, n) == 0)
            return find_word(short_words[i][1], strlen(short_words[i][1]));
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, name, n) == 0)
            return &words[i];
    for (int i = 0; n > 1 && i < WORDS; i++)
        if (strncmp(words[i].name, name, n) == 0)
            return &words[i];
    return NULL;
}

static enum lab_status unknown_word(const char *word)
{
    const char *names[WORDS];
    for (int i = 0; i < WORDS; i++)
        names[i] = words[i].name;
    const char *near = lab_nearest(word, names, WORDS);
    return lab_fail(LAB_E_PARSE,
                    "[kernel.command] no word '%s'%s%s%s; `help` lists them",
                    word, near ? " (did you mean '" : "", near ? near : "",
                    near ? "'?)" : "");
}

static void run_line(struct session *s, char *line)
{
    char *word = line + strspn(line, " \t");
    size_t n = strcspn(word, " \t\n");
    char *arg = word + n + strspn(word + n, " \t\n");
    arg[strcspn(arg, "\n")] = '\0';
    for (size_t k = strlen(arg); k > 0 && arg[k - 1] == ' '; k--)
        arg[k - 1] = '\0';
    if (n == 0)
        return;
    const struct word *w = find_word(word, n);
    word[n] = '\0';
    s->repeats = false;
    enum lab_status st = w ? w->run(s, arg) : unknown_word(word);
    if (st)
        lab_printf(stdout, "%s\n", lab_error());
    int32_t found;
    (void)lab_sim_debug_findings(s->w->debug, &found);
    /* Fewer: another block, or back. */
    s->shown = found < s->shown ? found : s->shown;
    s->w->found = s->w->found || found > 0;
}

static bool read_stdin(void *user, char *line, size_t cap)
{
    (void)user;
    return fgets(line, (int)cap, stdin) != NULL;
}

enum lab_status lab_kernel_walk(struct lab_kernel_walk *w)
{
    bool (*const read)(void *, char *, size_t) = w->read ? w->read : read_stdin;
    struct session s = {.w = w};
    char line[512];
    char last[512] = "";
    lab_kernel_source_init(&s.source, w->beside);
    lab_kernel_values_init(&s.values, w->beside);
    show(&s);
    enum lab_status st = lab_print_check();
    while (!st && !s.leaving) {
        if (w->prompts)
            lab_printf(stdout, "(kernel) ");
        fflush(stdout);
        if (!read(w->read_user, line, sizeof(line)))
            break;
        bool empty = line[strspn(line, " \t\n")] == '\0';
        if (empty)
            memcpy(line, last, sizeof(line));
        memcpy(last, line, sizeof(last));
        run_line(&s, line);
        if (!s.repeats)
            last[0] = '\0';
        st = lab_print_check();
    }
    lab_kernel_source_release(&s.source);
    lab_kernel_values_release(&s.values);
    return st;
}

/* ---- the launches of a step ---- */

static bool unwalked; /* `quit`: the others run */

static void walk_launch(void *user, const struct lab_sim_gpu_call *of)
{
    static const uint32_t first[3] = {0, 0, 0};
    char name[128];
    if (unwalked)
        return;
    lab_kernel_name(of->kernel, name, sizeof(name));
    struct lab_kernel_walk w = {.ptx = of->ptx,
                                .name = name,
                                .launch = of->number,
                                .prompts = user != NULL};
    enum lab_status st = lab_sim_debug_open(of->memory, of->launch, of->options,
                                            first, &w.debug);
    if (!st)
        st = lab_kernel_walk(&w);
    unwalked = w.left;
    if (st)
        lab_printf(stdout, "%s\n", lab_error());
    /* What runs then begins where the walk began. */
    if (w.debug)
        (void)lab_sim_debug_block(w.debug, first);
    lab_sim_debug_close(w.debug);
}

enum lab_status lab_kernel_walk_possible(const char *backend)
{
    if (strcmp(backend, "sim") == 0)
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[kernel.backend] backend %s: kernels are walked on the "
                    "simulator; start with --backend sim",
                    backend);
}

enum lab_status lab_kernel_walk_option(const char *backend, bool json)
{
    if (json)
        return lab_fail(LAB_E_USAGE,
                        "[kernel.into-json] --into prints lines of text: it "
                        "has no --json");
    return lab_kernel_walk_possible(backend);
}

enum lab_status lab_kernel_walk_launches(struct lab_backend *be, bool on,
                                         bool prompts)
{
    static char yes;
    enum lab_status st = lab_kernel_walk_possible(be->ops->name);
    if (st)
        return st;
    unwalked = false;
    lab_sim_backend_before(on ? walk_launch : NULL, prompts ? &yes : NULL);
    return LAB_OK;
}
