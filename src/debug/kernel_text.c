/* kernel_text.c -- a kernel that is walked, as text: the line of its source, what
 * the lanes access and where, instructions, the elements of a thread, findings.
 *
 * The walk as lines (kernel_walk.c, for `sim` and --plain) and the screen of a
 * kernel print these texts, so that they agree. It reads the simulator's
 * debugger and changes nothing. */
#include "debug/kernel_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/kernel_name.h"
#include "engine/sim_backend.h"

enum { LANES = 32, SECTOR = 32, ARGUMENTS = 256, SOURCE_MOST = 8 << 20 };

/* ---- source ---- */

void lab_kernel_source_init(struct lab_kernel_source *s, const char *beside)
{
    *s = (struct lab_kernel_source){.beside = beside, .file = -1};
    lab_str_init(&s->text);
}

void lab_kernel_source_release(struct lab_kernel_source *s)
{
    lab_str_release(&s->text);
}

static const char *path_of(const struct lab_ptx *ptx, int32_t file)
{
    return file >= 0 && file < ptx->file_count ? ptx->files[file] : NULL;
}

const char *lab_kernel_source_name(const struct lab_ptx *ptx, int32_t file)
{
    const char *path = path_of(ptx, file);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

void lab_kernel_source_missing_add(struct lab_str *out,
                                   const struct lab_ptx *ptx, int32_t file)
{
    const char *path = path_of(ptx, file);
    lab_str_add(out, "source not found: ");
    if (path)
        lab_str_add_visible(out, path, strlen(path), false);
    else
        lab_str_add(out, "the PTX does not name it");
}

void lab_kernel_name(const char *symbol, char *out, size_t cap)
{
    char *types = lab_kernel_demangle(symbol);
    lab_kernel_short_name(out, cap, types ? types : symbol);
    lab_free(types);
}

static void read_file(struct lab_kernel_source *s, const struct lab_ptx *ptx,
                      int32_t file)
{
    char block[4096];
    const char *path = path_of(ptx, file);
    FILE *f = path ? lab_source_open(s->beside, path) : NULL;
    s->file = file;
    s->lines = 0;
    lab_str_clear(&s->text);
    for (size_t n; f && s->text.len < SOURCE_MOST &&
                   (n = fread(block, 1, sizeof(block), f)) > 0;)
        lab_str_add_bytes(&s->text, block, n);
    if (f)
        fclose(f);
    const char *text = lab_str_text(&s->text);
    for (size_t i = 0; i < s->text.len; i++)
        s->lines += text[i] == '\n' || i + 1 == s->text.len;
}

const char *lab_kernel_source_line(struct lab_kernel_source *s,
                                   const struct lab_ptx *ptx, int32_t file,
                                   int32_t line, size_t *n)
{
    if (file != s->file)
        read_file(s, ptx, file);
    const char *at = lab_str_text(&s->text);
    const char *end = at + s->text.len;
    for (int32_t i = 1; i < line && at < end; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *n = (size_t)((stop ? stop : end) - at);
    return at;
}

/* ---- accesses ---- */

bool lab_kernel_element_add(struct lab_str *out, const struct lab_sim_debug *d,
                            uint64_t address)
{
    struct lab_sim_finding f;
    if (!lab_sim_debug_element(d, address, &f)) {
        lab_str_addf(out, "0x%" PRIx64, address);
        return false;
    }
    if (f.name[0])
        lab_str_add_visible(out, f.name, strlen(f.name), false);
    else
        lab_str_addf(out, "argument %d", f.argument);
    for (int k = 0; k < f.rank; k++)
        lab_str_addf(out, "%s%" PRId64, k ? "," : "[", f.index[k]);
    lab_str_add(out, f.rank > 0 ? "]" : "");
    return true;
}

/* ---- who wrote the output ---- */

/* What the warp in focus touched with its last store. */
static void find_touched(struct lab_kernel_picture *p,
                         const struct lab_sim_debug *d,
                         const struct lab_sim_written *t)
{
    struct lab_sim_access_view v;
    uint32_t block[3];
    int focus;
    int warps;
    lab_sim_debug_where(d, block, &focus, &warps);
    lab_sim_debug_access(d, focus, &v);
    const bool global = lab_kernel_is_global(&v) || v.space == LAB_PTX_GENERIC;
    for (int l = 0; v.write && global && l < LANES; l++) {
        struct lab_sim_finding at;
        if (!(lab_kernel_inside(&v) >> l & 1) ||
            !lab_sim_debug_element(d, v.address[l], &at) ||
            strcmp(at.name, t->label.name) != 0 ||
            at.argument != t->label.argument)
            continue;
        int64_t from = 0;
        for (int k = 0; k < at.rank; k++)
            from = from * t->label.dim[k] + at.index[k];
        int64_t n = v.bytes / t->label.element_bytes;
        p->from[p->lanes] = from;
        p->end[p->lanes++] = from + (n > 0 ? n : 1);
    }
}

void lab_kernel_picture_make(struct lab_kernel_picture *p,
                             const struct lab_sim_debug *d,
                             const struct lab_sim_written *t, int w, int h)
{
    const struct lab_sim_label *l = &t->label;
    int64_t columns = l->rank > 0 ? l->dim[l->rank - 1] : t->count;
    *p = (struct lab_kernel_picture){.each = {1, 1}};
    p->columns = columns > 0 && columns <= t->count ? columns : t->count;
    p->rows = (t->count + p->columns - 1) / p->columns;
    /* a power of two: the edges of tiles stay edges of cells */
    while (w > 0 && p->each[0] < p->columns &&
           (int64_t)p->each[0] * w < p->columns)
        p->each[0] *= 2;
    while (h > 0 && p->each[1] < p->rows && (int64_t)p->each[1] * h < p->rows)
        p->each[1] *= 2;
    p->w = (int)((p->columns + p->each[0] - 1) / p->each[0]);
    p->h = (int)((p->rows + p->each[1] - 1) / p->each[1]);
    for (int64_t i = 0; i < t->count; i++)
        p->written += t->thread[i] >= 0;
    find_touched(p, d, t);
}

static bool is_touched_now(const struct lab_kernel_picture *p, int64_t i)
{
    for (int l = 0; l < p->lanes; l++)
        if (i >= p->from[l] && i < p->end[l])
            return true;
    return false;
}

char lab_kernel_picture_sign(const struct lab_kernel_picture *p,
                             const struct lab_sim_debug *d,
                             const struct lab_sim_written *t, int x, int y,
                             int *warp, bool *now)
{
    static const char signs[] = "0123456789abcdefghijklmnopqrstuv";
    static const char others[] = "+x*=";
    const uint32_t *n = t->grid;
    const int64_t threads = (int64_t)t->block[0] * t->block[1] * t->block[2];
    uint32_t at[3];
    int focus;
    int warps;
    int64_t found = -1;
    bool several = false;
    lab_sim_debug_where(d, at, &focus, &warps);
    int64_t here = at[0] + (int64_t)n[0] * (at[1] + (int64_t)n[1] * at[2]);
    *warp = -1;
    *now = false;
    for (int64_t r = (int64_t)y * p->each[1];
         r < (int64_t)(y + 1) * p->each[1] && r < p->rows; r++)
        for (int64_t c = (int64_t)x * p->each[0];
             c < (int64_t)(x + 1) * p->each[0] && c < p->columns; c++) {
            int64_t i = r * p->columns + c;
            if (i >= t->count || t->thread[i] < 0)
                continue;
            bool ours = t->thread[i] / threads == here;
            several = several || (ours && *warp >= 0 &&
                                  *warp != t->thread[i] % threads / LANES);
            if (ours)
                *warp = (int)(t->thread[i] % threads / LANES);
            if (found < 0 || ours)
                found = t->thread[i];
            *now = *now || is_touched_now(p, i);
        }
    if (found < 0)
        return '.';
    int64_t of = found / threads;
    if (of != here)
        return others[(of % n[0] + 2 * (of / n[0] % n[1]) + of / n[0] / n[1]) %
                      4];
    if (several)
        *warp = -1;
    return several ? '#' : signs[*warp % LANES];
}

void lab_kernel_picture_head(struct lab_str *out,
                             const struct lab_kernel_picture *p,
                             const struct lab_sim_written *t)
{
    if (t->label.name[0])
        lab_str_addf(out, "%s", t->label.name);
    else
        lab_str_addf(out, "argument %d", t->label.argument);
    for (int k = 0; k < t->label.rank; k++)
        lab_str_addf(out, "%s%" PRId64, k ? "," : " [", t->label.dim[k]);
    lab_str_addf(out, "%s: %" PRId64 " of %" PRId64 " elements are written",
                 t->label.rank > 0 ? "]" : "", p->written, t->count);
    if (p->each[0] * p->each[1] > 1)
        lab_str_addf(out, "; a sign is %d x %d of them", p->each[1],
                     p->each[0]);
}

bool lab_kernel_is_global(const struct lab_sim_access_view *v)
{
    return v->space == LAB_PTX_GLOBAL || v->space == LAB_PTX_CONST;
}

uint32_t lab_kernel_inside(const struct lab_sim_access_view *v)
{
    return v->lanes & ~v->outside;
}

static const char *space_name(const struct lab_sim_access_view *v)
{
    return v->space == LAB_PTX_SHARED    ? "shared memory"
           : v->space == LAB_PTX_LOCAL   ? "local memory"
           : v->space == LAB_PTX_PARAM   ? "the parameters"
           : v->space == LAB_PTX_GENERIC ? "several memories"
                                         : "global memory";
}

/* Pieces of 32 bytes that the lanes' bytes lie in. */
static int count_sectors(const struct lab_sim_access_view *v)
{
    uint64_t seen[LANES * 2];
    int n = 0;
    for (int l = 0; l < LANES; l++) {
        if (!(lab_kernel_inside(v) >> l & 1))
            continue;
        uint64_t last = (v->address[l] + (uint64_t)v->bytes - 1) / SECTOR;
        for (uint64_t k = v->address[l] / SECTOR; k <= last; k++) {
            int i = 0;
            while (i < n && seen[i] != k)
                i++;
            if (i == n && n < LANES * 2)
                seen[n++] = k;
        }
    }
    return n;
}

void lab_kernel_place_add(struct lab_str *out, const struct lab_sim_debug *d,
                          const struct lab_sim_access_view *v, int lane)
{
    struct lab_sim_finding f;
    char words[256];
    if (v->outside >> lane & 1 ||
        (v->space == LAB_PTX_GENERIC &&
         !lab_sim_debug_element(d, v->address[lane], &f))) {
        lab_sim_debug_outside(d, v, lane, words, sizeof(words));
        lab_str_add(out, words);
    } else if (lab_kernel_is_global(v) || v->space == LAB_PTX_GENERIC)
        lab_kernel_element_add(out, d, v->address[lane]);
    else if (v->space == LAB_PTX_SHARED &&
             lab_sim_debug_shared_element(d, v->address[lane], words,
                                          sizeof(words)))
        lab_str_add(out, words);
    else
        lab_str_addf(out, "byte %" PRIu64, v->address[lane]);
}

/* "32 lanes read 4 bytes each of global memory, x[0] to x[31]: 4 sectors of 32
 * bytes", of the lanes that made the access. */
static void add_range(struct lab_str *out, const struct lab_sim_debug *d,
                      const struct lab_sim_access_view *v, const char *verb)
{
    const uint32_t inside = lab_kernel_inside(v);
    const int n = __builtin_popcount(inside);
    const int first = __builtin_ctz(inside);
    const int last = 31 - __builtin_clz(inside);
    lab_str_addf(out, "%d lane%s %s %d byte%s%s of %s, ", n, n == 1 ? "" : "s",
                 verb, v->bytes, v->bytes == 1 ? "" : "s",
                 n == 1 ? "" : " each", space_name(v));
    lab_kernel_place_add(out, d, v, first);
    if (last != first) {
        lab_str_add(out, " to ");
        lab_kernel_place_add(out, d, v, last);
    }
    if (lab_kernel_is_global(v))
        lab_str_addf(out, ": %d sector%s of 32 bytes", count_sectors(v),
                     count_sectors(v) == 1 ? "" : "s");
}

void lab_kernel_access_add(struct lab_str *out, const struct lab_sim_debug *d,
                           const struct lab_ptx *ptx,
                           const struct lab_sim_access_view *v)
{
    const char *verb = v->atomic  ? "changed atomically"
                       : v->write ? "wrote"
                                  : "read";
    int n = __builtin_popcount(lab_kernel_inside(v));
    if (v->lanes == 0)
        return;
    if (v->place >= 0)
        lab_str_addf(out, "line %d: ", ptx->places[v->place].line);
    if (n == 0)
        lab_str_addf(out, "no lane %s", verb);
    else
        add_range(out, d, v, verb);
    n = __builtin_popcount(v->outside);
    if (n == 0)
        return;
    lab_str_addf(out, ", %d lane%s outside: ", n, n == 1 ? "" : "s");
    lab_kernel_place_add(out, d, v, __builtin_ctz(v->outside));
}

enum lab_status lab_kernel_read_three(const char *text, uint32_t out[3])
{
    const char *p = text;
    memset(out, 0, 3 * sizeof(*out));
    for (int k = 0; k < 3; k++) {
        char *end;
        unsigned long v = strtoul(p, &end, 10);
        if (end == p || v > UINT32_MAX || *p == '-')
            break;
        out[k] = (uint32_t)v;
        if (!*end)
            return LAB_OK;
        if (*end != ',')
            break;
        p = end + 1;
    }
    return lab_fail(LAB_E_PARSE,
                    "[kernel.position] '%s': one to three numbers, as 3 or 3,1",
                    text);
}

/* ---- parameters ---- */

bool lab_kernel_parameters(struct lab_kernel_source *s,
                           const struct lab_ptx *ptx, const char *name,
                           struct lab_sim_parameter *out, int count)
{
    char base[256];
    snprintf(base, sizeof(base), "%.*s", (int)strcspn(name, "<"), name);
    const char *scope = strrchr(base, ':');
    for (int32_t i = 0; i < ptx->file_count; i++) {
        size_t n;
        (void)lab_kernel_source_line(s, ptx, i, 1, &n);
        if (lab_sim_source_parameters(lab_str_text(&s->text), s->text.len,
                                      scope ? scope + 1 : base, out, count))
            return true;
    }
    return false;
}

/* ---- instructions ---- */

/* Variables come as indices or names, constants as their bits. */
static void add_operand(struct lab_str *out, const struct lab_ptx_function *f,
                        const struct lab_ptx_operand *o);

static void add_parts(struct lab_str *out, const struct lab_ptx_function *f,
                      const struct lab_ptx_operand *o, const char *between)
{
    for (int32_t i = 0; i < o->part_count; i++) {
        lab_str_add(out, i > 0 ? between : "");
        add_operand(out, f, &o->parts[i]);
    }
}

static void add_offset(struct lab_str *out, uint64_t value)
{
    if (value != 0)
        lab_str_addf(out, "%+" PRId64, (int64_t)value);
}

static void add_operand(struct lab_str *out, const struct lab_ptx_function *f,
                        const struct lab_ptx_operand *o)
{
    lab_str_add(out, o->negated ? "!" : "");
    switch (o->kind) {
    case LAB_PTX_OPERAND_REG:
        lab_str_add(out, f->regs[o->reg].name);
        break;
    case LAB_PTX_OPERAND_INT:
        lab_str_addf(out, "%" PRId64, (int64_t)o->value);
        break;
    case LAB_PTX_OPERAND_F32: {
        uint32_t bits = (uint32_t)o->value;
        float v;
        memcpy(&v, &bits, sizeof(v));
        lab_str_addf(out, "%.9g", (double)v);
        break;
    }
    case LAB_PTX_OPERAND_F64: {
        double v;
        memcpy(&v, &o->value, sizeof(v));
        lab_str_addf(out, "%.17g", v);
        break;
    }
    case LAB_PTX_OPERAND_SYMBOL: /* "NAME_param_0", with the name of a kernel */
        lab_str_add(out, strncmp(o->name, f->name, strlen(f->name)) == 0 &&
                                 o->name[strlen(f->name)] == '_'
                             ? o->name + strlen(f->name) + 1
                             : o->name);
        add_offset(out, o->value);
        break;
    case LAB_PTX_OPERAND_SPECIAL:
        lab_str_add(out, o->name);
        break;
    case LAB_PTX_OPERAND_LABEL: /* labels have no names here: the line's number */
        if (o->target < f->instr_count)
            lab_str_addf(out, "line %d", f->instrs[o->target].text_line);
        else
            lab_str_add(out, "the end");
        break;
    case LAB_PTX_OPERAND_ADDRESS:
        lab_str_add(out, "[");
        add_parts(out, f, o, ", ");
        add_offset(out, o->value);
        lab_str_add(out, "]");
        break;
    case LAB_PTX_OPERAND_VECTOR:
        lab_str_add(out, "{");
        add_parts(out, f, o, ", ");
        lab_str_add(out, "}");
        break;
    case LAB_PTX_OPERAND_PAIR:
        add_parts(out, f, o, "|");
        break;
    case LAB_PTX_OPERAND_SINK:
        lab_str_add(out, "_");
        break;
    }
}

void lab_kernel_instruction_add(struct lab_str *out,
                                const struct lab_ptx_function *f,
                                const struct lab_ptx_instr *in)
{
    if (in->guard >= 0)
        lab_str_addf(out, "@%s%s ", in->guard_negated ? "!" : "",
                     f->regs[in->guard].name);
    lab_str_add(out, in->opcode);
    for (int32_t i = 0; i < in->modifier_count; i++)
        lab_str_addf(out, ".%s", in->modifiers[i]);
    for (int32_t i = 0; i < in->operand_count; i++) {
        lab_str_add(out, i > 0 ? ", " : " ");
        add_operand(out, f, &in->operands[i]);
    }
}

const struct lab_ptx_function *lab_kernel_instruction(const struct lab_ptx *ptx,
                                                      int32_t text_line,
                                                      int32_t *number)
{
    for (int32_t i = 0; i < ptx->function_count; i++) {
        const struct lab_ptx_function *f = &ptx->functions[i];
        for (int32_t k = 0; k < f->instr_count; k++)
            if (f->instrs[k].text_line == text_line) {
                *number = k;
                return f;
            }
    }
    return NULL;
}

/* ---- the elements of a thread ---- */

/* Touches from `first` on, the same distance apart, of one tensor and kind. */
static int run_of(const struct lab_sim_debug *d, const struct lab_sim_touch *t,
                  int n, int first)
{
    struct lab_sim_finding a;
    struct lab_sim_finding b;
    int last = first;
    bool named = lab_sim_debug_element(d, t[first].address, &a);
    while (last + 1 < n && t[last + 1].write == t[first].write &&
           lab_sim_debug_element(d, t[last + 1].address, &b) == named &&
           (!named || a.argument == b.argument) &&
           (last == first || t[last + 1].address - t[last].address ==
                                 t[first + 1].address - t[first].address))
        last++;
    return last - first + 1;
}

/* One line for each tensor that is read, or written: `only` 1 or 0. */
static void add_kind(struct lab_str *out, const struct lab_sim_debug *d,
                     const struct lab_sim_touch *all, int n, bool write,
                     const char *end)
{
    for (int i = 0; i < n;) {
        int k = run_of(d, all, n, i);
        if (all[i].write == write) {
            lab_str_add(out, !write          ? "reads "
                             : all[i].atomic ? "changes atomically "
                                             : "writes ");
            lab_kernel_element_add(out, d, all[i].address);
            if (k > 1) {
                lab_str_addf(out, "%s", k > 2 ? " to " : ", ");
                lab_kernel_element_add(out, d, all[i + k - 1].address);
            }
            if (k > 2)
                lab_str_addf(out, ": %d elements", k);
            lab_str_add(out, end);
        }
        i += k;
    }
}

/* In order of argument, so that the elements of a tensor are together. */
static void sort_by_tensor(const struct lab_sim_debug *d,
                           struct lab_sim_touch *t, int n)
{
    struct lab_sim_finding f;
    int done = 0;
    for (int argument = -1; done < n && argument < ARGUMENTS; argument++) {
        for (int i = done; i < n; i++) {
            bool named = lab_sim_debug_element(d, t[i].address, &f);
            if ((named ? f.argument : -1) != argument)
                continue;
            struct lab_sim_touch moved = t[i];
            memmove(&t[done + 1], &t[done], (size_t)(i - done) * sizeof(*t));
            t[done++] = moved;
        }
    }
}

/* Bytes of one element where a touch begins: a load of 16 bytes has four floats. */
static int element_bytes(const struct lab_sim_debug *d,
                         const struct lab_sim_touch *t)
{
    struct lab_sim_finding a;
    struct lab_sim_finding b;
    int size = 1;
    if (!lab_sim_debug_element(d, t->address, &a))
        return t->bytes;
    while (size < t->bytes &&
           lab_sim_debug_element(d, t->address + (uint64_t)size, &b) &&
           b.argument == a.argument &&
           memcmp(a.index, b.index, (size_t)a.rank * sizeof(a.index[0])) == 0)
        size *= 2;
    return size < t->bytes ? size : t->bytes;
}

/* The same touches, one an element. *out is for lab_free(). */
static enum lab_status split(const struct lab_sim_debug *d,
                             const struct lab_sim_touch *all, int n,
                             struct lab_sim_touch **out, int *count)
{
    size_t most = 1;
    for (int i = 0; i < n; i++)
        most += (size_t)all[i].bytes;
    *count = 0;
    *out = lab_alloc_array(most, sizeof(**out));
    if (!*out)
        return lab_no_memory("the elements of a thread");
    for (int i = 0; i < n; i++) {
        int each = element_bytes(d, &all[i]);
        for (int at = 0; at < all[i].bytes; at += each) {
            struct lab_sim_touch *t = &(*out)[(*count)++];
            *t = all[i];
            t->address += (uint64_t)at;
            t->bytes = each;
        }
    }
    return LAB_OK;
}

enum lab_status lab_kernel_elements_add(struct lab_str *out,
                                        struct lab_sim_debug *d, int warp,
                                        int lane, const char *end)
{
    enum { MOST = 4096 };
    struct lab_sim_touch *all = lab_alloc_array(MOST, sizeof(*all));
    struct lab_sim_touch *each = NULL;
    int n = 0;
    if (!all)
        return lab_no_memory("the elements of a thread");
    enum lab_status st =
        lab_sim_debug_thread_accesses(d, warp, lane, all, MOST, &n);
    if (!st) {
        sort_by_tensor(d, all, n);
        st = split(d, all, n, &each, &n);
    }
    if (!st) {
        add_kind(out, d, each, n, false, end);
        add_kind(out, d, each, n, true, end);
        if (n == 0)
            lab_str_addf(out, "touches no global memory%s", end);
    }
    lab_free(each);
    lab_free(all);
    return st ? st : lab_str_check(out, "the elements of a thread");
}

/* ---- findings ---- */

/* " at sums.cu:9, block (0,0,0), thread (1,0,0): ... Look at: ..." */
static void add_place(struct lab_str *out, const struct lab_sim_finding *f,
                      const char *path, int line, const char *callers)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path && path[0])
        lab_str_addf(out, " at %s:%d%s", slash ? slash + 1 : path, line,
                     callers);
    lab_str_addf(out, ", block (%u,%u,%u), thread (%u,%u,%u): ", f->at.block[0],
                 f->at.block[1], f->at.block[2], f->at.thread[0],
                 f->at.thread[1], f->at.thread[2]);
    lab_str_add_visible(out, f->message, strlen(f->message), false);
    lab_str_addf(out, ". Look at: %s", lab_sim_finding_hint(f));
}

void lab_kernel_finding_add(struct lab_str *out, const struct lab_ptx *ptx,
                            const struct lab_sim_finding *f)
{
    int line;
    char callers[LAB_SIM_CALLERS];
    const char *path = lab_sim_source(ptx, f->at.place, &line);
    lab_sim_callers_text(ptx, f->at.place, callers, sizeof(callers));
    lab_str_add(out, lab_sim_check_id(f->check));
    add_place(out, f, path, line, callers);
}

int32_t lab_kernel_same_finding(const struct lab_sim_finding *f, int32_t n,
                                int32_t i)
{
    int32_t k = i + 1;
    while (k < n && f[k].check == f[i].check && f[k].at.place == f[i].at.place)
        k++;
    return k;
}

bool lab_kernel_found(struct lab_str *out, struct lab_kernel_goal *goal)
{
    struct lab_sim_backend_found found;
    char launch[32];
    if (!lab_sim_backend_found(&found))
        return false;
    lab_kernel_name(found.kernel, goal->name, sizeof(goal->name));
    memcpy(goal->block, found.first.at.block, sizeof(goal->block));
    goal->launch = found.launch;
    lab_sim_launch_text(found.launch, launch, sizeof(launch));
    lab_str_addf(out, "%s in %s%s", lab_sim_check_id(found.first.check),
                 goal->name, launch);
    add_place(out, &found.first, found.file, found.line, found.callers);
    if (found.count > 1)
        lab_str_addf(out, ". %d more were found", found.count - 1);
    return true;
}

bool lab_kernel_running(struct lab_str *out, int64_t *ns)
{
    struct lab_sim_backend_running now;
    char name[LAB_SIM_NAME];
    char launch[32];
    if (!lab_sim_backend_running(&now))
        return false;
    lab_kernel_name(now.kernel, name, sizeof(name));
    lab_sim_launch_text(now.launch, launch, sizeof(launch));
    lab_str_addf(out, "%s%s: %s instructions of warps so far", name, launch,
                 LAB_INT_TEXT(now.executed));
    *ns = now.ns;
    return true;
}

void lab_kernel_way_add(struct lab_str *out, const struct lab_kernel_goal *goal)
{
    lab_str_add(out, "`into` goes to its kernels, ");
    if (goal->launch > 1)
        lab_str_addf(out, "`kernel` to the next one; in launch %d ",
                     goal->launch);
    lab_str_addf(out, "`block %u,%u,%u` and `continue` ", goal->block[0],
                 goal->block[1], goal->block[2]);
    lab_str_addf(out, "%s to the finding.", goal->launch > 1 ? "go" : "there");
}
