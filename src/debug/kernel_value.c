/* What variables and registers hold, as text. A register without a name is listed with
 * the line that computed it. */
#include "debug/kernel_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/unknown.h"
#include "sim/argument.h"

enum { LANES = 32, MOST = 256, A_LINE = 8 };

void lab_kernel_values_init(struct lab_kernel_values *v, const char *beside)
{
    *v = (struct lab_kernel_values){.all = NULL};
    lab_kernel_source_init(&v->source, beside);
}

void lab_kernel_values_release(struct lab_kernel_values *v)
{
    lab_kernel_source_release(&v->source);
    lab_free(v->all);
    v->all = NULL;
    v->count = 0;
}

static bool read_text(void *user, int32_t file, const char **text,
                      size_t *bytes)
{
    struct lab_kernel_values *v = user;
    size_t n;
    (void)lab_kernel_source_line(&v->source, v->ptx, file, 1, &n);
    *text = lab_str_text(&v->source.text);
    *bytes = v->source.text.len;
    return *bytes > 0;
}

enum lab_status lab_kernel_values_read(struct lab_kernel_values *v,
                                       const struct lab_sim_debug *d, int warp)
{
    v->count = 0;
    v->ptx = lab_sim_debug_ptx(d);
    if (!v->all)
        v->all = lab_alloc_array(MOST, sizeof(*v->all));
    if (!v->all)
        return lab_no_memory("the variables of a kernel");
    return lab_sim_variables(d, warp, read_text, v, v->all, MOST, &v->count);
}

/* ---- one value ---- */

static bool is_plain(enum lab_ptx_type type)
{
    return type == LAB_PTX_U8 || type == LAB_PTX_U16 || type == LAB_PTX_U32 ||
           type == LAB_PTX_U64;
}

static void add_bits(struct lab_str *out, uint64_t bits, enum lab_ptx_type type)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &bits, sizeof(d));
    if (type == LAB_PTX_F32)
        lab_str_addf(out, "%.9g", (double)f);
    else if (type == LAB_PTX_F64)
        lab_str_addf(out, "%.17g", d);
    else if (lab_ptx_type_bytes(type) == 8 && is_plain(type))
        lab_str_addf(out, "%" PRIu64, bits);
    else if (lab_ptx_type_bytes(type) == 8)
        lab_str_addf(out, "%" PRId64, (int64_t)bits);
    else if (is_plain(type))
        lab_str_addf(out, "%" PRIu32, low);
    else
        lab_str_addf(out, "%" PRId32, (int32_t)low);
}

void lab_kernel_value_add(struct lab_str *out, const struct lab_sim_debug *d,
                          const struct lab_sim_variable *v, int lane)
{
    if (v->held == LAB_SIM_HELD_NOT || !(v->lanes >> lane & 1))
        lab_str_add(out, "-");
    else if (v->pointer)
        lab_kernel_element_add(out, d, v->value[lane]);
    else
        add_bits(out, v->value[lane], v->as);
}

/* As a number that can be compared; NaN is the largest. */
static double number_of(uint64_t bits, enum lab_ptx_type type)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &bits, sizeof(d));
    d = type == LAB_PTX_F32             ? (double)f
        : type == LAB_PTX_F64           ? d
        : is_plain(type)                ? lab_to_real((int64_t)bits)
        : lab_ptx_type_bytes(type) == 8 ? lab_to_real((int64_t)bits)
                                        : (double)(int32_t)low;
    return isnan(d) ? INFINITY : d;
}

void lab_kernel_value_range_add(struct lab_str *out,
                                const struct lab_sim_variable *v)
{
    int low = -1;
    int high = -1;
    bool same = true;
    for (int l = 0; l < LANES; l++) {
        if (!(v->lanes >> l & 1))
            continue;
        low = low < 0 ? l : low;
        high = high < 0 ? l : high;
        same = same && v->value[l] == v->value[low];
        if (number_of(v->value[l], v->as) < number_of(v->value[low], v->as))
            low = l;
        if (number_of(v->value[l], v->as) > number_of(v->value[high], v->as))
            high = l;
    }
    if (low < 0)
        return;
    if (same) {
        lab_str_add(out, "the same in all lanes that run");
        return;
    }
    if (v->pointer) {
        lab_str_add(out, "another in each lane");
        return;
    }
    add_bits(out, v->value[low], v->as);
    lab_str_add(out, " to ");
    add_bits(out, v->value[high], v->as);
    lab_str_add(out, " in the warp");
}

/* ---- registers without a name ---- */

static void add_value(struct lab_str *out, const struct lab_sim_debug *of,
                      const struct lab_sim_value *v)
{
    struct lab_sim_finding at;
    if (v->type == LAB_PTX_PRED) {
        lab_str_add(out, v->bits ? "true" : "false");
    } else if (lab_ptx_type_bytes(v->type) == 8 && v->type != LAB_PTX_F64 &&
               lab_sim_debug_element(of, v->bits, &at)) {
        lab_str_add(out, "&");
        lab_kernel_element_add(out, of, v->bits);
    } else
        add_bits(out, v->bits, v->type);
}

/* The parameters of the kernel, if a source that is read has them. NULL: none has.
 * For lab_free(). */
static struct lab_sim_parameter *parameters(struct lab_kernel_source *s,
                                            const struct lab_ptx *ptx,
                                            const struct lab_ptx_function *f)
{
    char name[256];
    struct lab_sim_parameter *p =
        lab_alloc_array((size_t)f->param_count + 1, sizeof(*p));
    lab_kernel_name(f->name, name, sizeof(name));
    if (p && !lab_kernel_parameters(s, ptx, name, p, f->param_count)) {
        lab_free(p);
        return NULL;
    }
    return p;
}

/* What of `v` is known: "n, a parameter", or the line where it was computed. */
static void add_origin(struct lab_str *out, struct lab_kernel_source *s,
                       const struct lab_ptx *ptx,
                       const struct lab_sim_parameter *named,
                       const struct lab_sim_value *v)
{
    const int32_t place =
        v->place >= 0 ? lab_ptx_user_place(ptx, v->place) : -1;
    const struct lab_ptx_place *at = place >= 0 ? &ptx->places[place] : NULL;
    if (v->parameter >= 0 && named && named[v->parameter].name[0]) {
        lab_str_addf(out, "%s, a parameter", named[v->parameter].name);
    } else if (v->parameter >= 0) {
        lab_str_addf(out, "parameter %d", v->parameter);
    } else if (at) {
        size_t n;
        const char *text =
            lab_kernel_source_line(s, ptx, at->file, at->line, &n);
        while (n > 0 && (*text == ' ' || *text == '\t')) {
            text++;
            n--;
        }
        lab_str_addf(out, "%s:%d  ", lab_kernel_source_name(ptx, at->file),
                     at->line);
        lab_str_add_visible(out, text, n, false);
    }
}

/* Those that no variable has; how many. */
static int without_named(const struct lab_kernel_values *k,
                         const struct lab_ptx_function *f,
                         struct lab_sim_value *v, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        bool named = false;
        for (int x = 0; x < k->count && !named; x++)
            named = k->all[x].held == LAB_SIM_HELD_REGISTER &&
                    strcmp(f->regs[k->all[x].reg].name, v[i].name) == 0;
        if (!named)
            v[kept++] = v[i];
    }
    return kept;
}

int lab_kernel_unnamed_add(struct lab_str *out, struct lab_kernel_values *k,
                           const struct lab_sim_debug *d, int lane, int from,
                           int most)
{
    struct lab_sim_value v[MOST];
    uint32_t block[3];
    int warp;
    int warps;
    lab_sim_debug_where(d, block, &warp, &warps);
    int n = lab_sim_debug_values(d, warp, lane, v, MOST);
    n = without_named(k, lab_sim_debug_function(d), v, n);
    struct lab_sim_parameter *named =
        n > from && most > 0
            ? parameters(&k->source, k->ptx, lab_sim_debug_function(d))
            : NULL;
    for (int i = from; i < n && i - from < most; i++) {
        size_t start = out->len;
        lab_str_addf(out, "%-6s = ", v[i].name);
        add_value(out, d, &v[i]);
        lab_str_addf(out, "%*s",
                     out->len - start < 26 ? (int)(26 - (out->len - start)) : 2,
                     "");
        add_origin(out, &k->source, k->ptx, named, &v[i]);
        lab_str_add(out, "\n");
    }
    lab_free(named);
    return n;
}

/* ---- words ---- */

static const struct lab_sim_variable *find(const struct lab_kernel_values *v,
                                           const char *word)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->all[i].name, word) == 0)
            return &v->all[i];
    return NULL;
}

static enum lab_status no_variable(const struct lab_kernel_values *v,
                                   const char *word)
{
    char names[160] = "";
    for (int i = 0; i < v->count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                 v->all[i].name);
    }
    return lab_fail(LAB_E_NOTFOUND,
                    "[kernel.variable] no variable '%s' can be seen here: "
                    "there is %s",
                    word, names);
}

static void add_lanes(struct lab_str *out, const struct lab_sim_debug *d,
                      const struct lab_sim_variable *v, uint32_t there)
{
    for (int l = 0; l < LANES && there >> l; l++) {
        if (l % A_LINE == 0)
            lab_str_addf(out, "\n  lane %2d:", l);
        lab_str_add(out, " ");
        lab_kernel_value_add(out, d, v, l);
    }
    lab_str_add(out, "\n");
}

static enum lab_status print_register(struct lab_str *out,
                                      const struct lab_sim_debug *d, int warp,
                                      const char *word, uint32_t there)
{
    struct lab_sim_variable r = {.held = LAB_SIM_HELD_REGISTER, .lanes = there};
    enum lab_status st = lab_sim_debug_register(d, warp, word, r.value, &r.as);
    if (st)
        return st;
    lab_str_addf(out, "%s", word);
    add_lanes(out, d, &r, there);
    return lab_str_check(out, "a register");
}

/* "x[3] = 0.5  float, in memory": of a tensor, not of a lane. */
static enum lab_status print_element(struct lab_str *out,
                                     const struct lab_sim_debug *d,
                                     const char *word)
{
    void *p;
    int type;
    bool written;
    char text[LAB_SIM_INTEGER];
    enum lab_status st = lab_sim_debug_element_at(d, word, &p, &type, &written);
    if (st)
        return st;
    lab_str_addf(out, "%s = ", word);
    if (!written)
        lab_str_add(out, "-");
    else if (lab_sim_type_is_real((enum lab_sim_type)type))
        lab_str_addf(out, "%.9g",
                     lab_sim_real_at((enum lab_sim_type)type, p, 0));
    else
        lab_str_add(out,
                    lab_sim_integer_text((enum lab_sim_type)type, p, 0, text));
    lab_str_addf(out, "  %s, in memory%s\n",
                 lab_sim_type_name((enum lab_sim_type)type),
                 written ? "" : ": nothing has written it");
    return lab_str_check(out, "an element");
}

enum lab_status lab_kernel_print_add(struct lab_str *out,
                                     struct lab_kernel_values *v,
                                     const struct lab_sim_debug *d, int warp,
                                     const char *word)
{
    struct lab_sim_warp_view w;
    lab_sim_debug_warp(d, warp, &w);
    enum lab_status st = lab_kernel_values_read(v, d, warp);
    if (st)
        return st;
    if (!*word)
        return lab_fail(LAB_E_PARSE,
                        "[kernel.print] print what? A variable, "
                        "as sum or threadIdx.x, a register of "
                        "the PTX, as %%f3, or an element, as x[3]");
    if (*word == '%')
        return print_register(out, d, warp, word, w.lanes);
    const struct lab_sim_variable *x = find(v, word);
    if (!x && (strchr(word, '[') || lab_sim_debug_is_shared(d, word)))
        return print_element(out, d, word);
    if (!x)
        return no_variable(v, word);
    if (x->held == LAB_SIM_HELD_NOT)
        return lab_fail(LAB_E_STATE,
                        "[kernel.variable-gone] no register is known to have "
                        "%s here: it has no value yet, or the compiler has it "
                        "in another form; `registers` has what each line "
                        "computed",
                        word);
    lab_str_addf(out, "%s  %s", x->name, x->type);
    if (x->held == LAB_SIM_HELD_REGISTER)
        lab_str_addf(out, ", in %s",
                     lab_sim_debug_function(d)->regs[x->reg].name);
    add_lanes(out, d, x, w.lanes);
    return lab_str_check(out, "a variable");
}
