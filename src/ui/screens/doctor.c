/* doctor.c -- examines the program, processors, libraries, GPU, lessons, terminal
 * and database, and reports what is missing and how to get it. */
#include "ui/doctor.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command.h"
#include "base/format.h"
#include "base/version.h"
#include "report/print.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/parallel.h"
#include "engine/backend.h"
#include "engine/op.h"
#include "engine/sim_backend.h"
#include "profiler/gpu.h"
#include "report/doc.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "library/blas.h"
#include "store/ceilings.h"
#include "store/query.h"
#include "store/tuned.h"
#include "store/variant_times.h"
#include "ui/picture.h"
#include "ui/terminal.h"

const char *const lab_doctor_state_text[] = {"ok", "missing", "warning"};

static void report(struct lab_doctor *d, const char *name,
                   enum lab_doctor_state state, const char *remedy,
                   const char *detail, ...) LAB_PRINTF(5, 6);

/* remedy NULL: none is needed. */
static void report(struct lab_doctor *d, const char *name,
                   enum lab_doctor_state state, const char *remedy,
                   const char *detail, ...)
{
    struct lab_str spelt;
    struct lab_str text;
    va_list args;
    lab_str_init(&spelt);
    lab_str_init(&text);
    va_start(args, detail);
    lab_str_addv(&text, detail, args);
    va_end(args);
    lab_command_spell(&spelt, remedy ? remedy : "", "`", lab_print_is_ascii());
    const struct lab_finding_line f = {name, state, lab_str_text(&text),
                                       remedy ? lab_str_text(&spelt) : NULL};
    d->line(d->user, &f);
    lab_str_release(&text);
    lab_str_release(&spelt);
}

static void ok(struct lab_doctor *d, const char *name, const char *detail)
{
    report(d, name, LAB_DOCTOR_OK, NULL, "%s", detail);
}

/* "cannot do X. Remedy: do Y" is two things. */
static void report_error(struct lab_doctor *d, const char *name,
                         enum lab_doctor_state state, const char *remedy)
{
    static const char word[] = "Remedy: ";
    const char *text = lab_error();
    const char *mark = strstr(text, word);
    const char *end = mark ? mark : text + strlen(text);
    while (mark && end > text && (end[-1] == ' ' || end[-1] == '.'))
        end--;
    report(d, name, state, mark ? mark + strlen(word) : remedy, "%.*s",
           (int)(end - text), text);
}

/* doctor: processors, their libraries, the modules, the variants. */

enum { MAX_NAMES = 32, MAX_DEVICES = 64 };

/* Does any step of the op take that variant here? */
static bool offers(struct lab_backend *be, const char *op, const char *variant)
{
    const char *names[MAX_NAMES];
    int n = lab_backend_variant_names(be, LAB_F32, op, names, MAX_NAMES);
    for (int i = 0; i < n && i < MAX_NAMES; i++) {
        if (strcmp(names[i], variant) == 0)
            return true;
    }
    return false;
}

/* One line, or one for each variant that was withdrawn. */
static void check_variants(struct lab_doctor *d, struct lab_backend *be)
{
    struct lab_str reasons;
    char name[32];
    lab_str_init(&reasons);
    snprintf(name, sizeof(name), "variants (%s)", be->ops->name);
    if (lab_backend_check(be, NULL, &reasons)) {
        report_error(d, name, LAB_DOCTOR_WARNING, NULL);
    } else if (reasons.len == 0) {
        ok(d, name, "every variant agrees with the reference");
    }
    for (char *line = reasons.data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        report(d, name, LAB_DOCTOR_WARNING,
               "none is needed: it is not offered; please report it", "%s",
               line);
        line = end ? end + 1 : NULL;
    }
    lab_str_release(&reasons);
}

/* ---- CPU ---- */

static void check_openblas(struct lab_doctor *d, struct lab_backend *be)
{
    const char *version = lab_blas_version();
    if (!version)
        report(d, "OpenBLAS", LAB_DOCTOR_MISSING,
               "install libopenblas0; steps run without it",
               "not found, so no step offers the variant blas");
    else if (offers(be, "dense", "blas"))
        ok(d, "OpenBLAS", version);
    else
        report(d, "OpenBLAS", LAB_DOCTOR_WARNING,
               "see the line of the variants",
               "loaded, but no step offers the variant blas");
}

static void check_onednn(struct lab_doctor *d, struct lab_backend *be)
{
    static const char install[] =
        "install libdnnl-dev and build again; steps run without it";
    struct version { /* the head of dnnl_version_t */
        int major;
        int minor;
        int patch;
    };
    const struct version *(*version)(void);
    void *handle;
    if (lab_module_open("lapenna-lab-onednn.so", &handle)) {
        report_error(d, "oneDNN", LAB_DOCTOR_MISSING, install);
        return;
    }
    if (!offers(be, "dense", "onednn")) {
        report(d, "oneDNN", LAB_DOCTOR_WARNING,
               "build the program and its modules together",
               "the module is there, but no step offers the variant onednn");
        return;
    }
    if (lab_module_symbol(handle, "dnnl_version", &version)) {
        ok(d, "oneDNN", "loaded");
        return;
    }
    const struct version *v = version();
    report(d, "oneDNN", LAB_DOCTOR_OK, NULL, "version %d.%d.%d", v->major,
           v->minor, v->patch);
}

/* OpenBLAS and oneDNN too */
static void doctor_cpu(struct lab_doctor *d)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    if (lab_backend_open(&be, "cpu", 0)) {
        report_error(d, "CPU", LAB_DOCTOR_WARNING, NULL);
        return;
    }
    lab_backend_info(be, &info);
    report(d, "CPU", LAB_DOCTOR_OK, NULL, "%s, %d cores, %d threads, %s",
           info.name, info.sm_count, lab_threads(),
           LAB_BYTES_TEXT((double)info.memory_bytes));
    check_openblas(d, be);
    check_onednn(d, be);
    check_variants(d, be);
    lab_backend_close(be);
}

/* ---- GPU ---- */

/* What the kernel's module reports, without CUDA. */
static bool driver_version(char *out, size_t size)
{
    FILE *f = fopen("/sys/module/nvidia/version", "r");
    bool found = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (found)
        out[strcspn(out, "\n")] = '\0';
    return found;
}

static void check_driver(struct lab_doctor *d, const struct lab_device_info *i)
{
    char version[LAB_DEVICE_TEXT] = "";
    if (i && i->driver[0])
        snprintf(version, sizeof(version), "%s", i->driver);
    else
        driver_version(version, sizeof(version));
    if (!version[0]) {
        report(d, "driver", LAB_DOCTOR_MISSING,
               "on a machine with an NVIDIA GPU install its driver",
               "no NVIDIA driver is loaded");
        return;
    }
    report(d, "driver", LAB_DOCTOR_OK, NULL, "%s%s%s", version,
           i && i->runtime[0] ? ", runtime " : "", i ? i->runtime : "");
}

static void report_device(struct lab_doctor *d, const struct lab_device_info *i)
{
    char name[32];
    snprintf(name, sizeof(name), "device %d", i->device_id);
    report(d, name, LAB_DOCTOR_OK, NULL,
           "%s, compute capability %d.%d, %d multiprocessors, %s", i->name,
           i->compute_major, i->compute_minor, i->sm_count,
           LAB_BYTES_TEXT((double)i->memory_bytes));
}

static void check_cublas(struct lab_doctor *d, struct lab_backend *be)
{
    if (offers(be, "dense", "cublas"))
        ok(d, "cuBLAS", "loaded");
    else
        report(d, "cuBLAS", LAB_DOCTOR_MISSING,
               "install the cuBLAS of the module's CUDA version, or "
               "add its directory to LD_LIBRARY_PATH",
               "no step offers the variant cublas");
}

/* The version, and the ops that have a variant of it. */
static void check_cudnn(struct lab_doctor *d, struct lab_backend *be,
                        const struct lab_cuda_module *module)
{
    static const char install[] =
        "install cuDNN 9 of the module's CUDA version, or add its directory to "
        "LD_LIBRARY_PATH; steps run without it";
    const char *answer = "";
    struct lab_str list;
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    if (!module->cudnn(&answer)) {
        report(d, "cuDNN", LAB_DOCTOR_MISSING, install, "%s", answer);
        return;
    }
    lab_str_init(&list);
    for (int i = 0; i < n_ops; i++)
        if (offers(be, ops[i]->name, "cudnn"))
            lab_str_addf(&list, "%s %s", list.len ? "," : "", ops[i]->name);
    if (list.len)
        report(d, "cuDNN", LAB_DOCTOR_OK, NULL, "%s, for%s", answer,
               lab_str_text(&list));
    else
        report(d, "cuDNN", LAB_DOCTOR_WARNING, "see the line of the variants",
               "loaded, but no step offers the variant cudnn");
    lab_str_release(&list);
}

/* `of`: the line that has the reason. */
static void untried(struct lab_doctor *d, const char *name, const char *without,
                    const char *of)
{
    char see[64];
    char detail[96];
    snprintf(see, sizeof(see), "see the line of the %s", of);
    snprintf(detail, sizeof(detail), "cannot be tried without %s", without);
    const struct lab_finding_line f = {name, LAB_DOCTOR_MISSING, detail, see,
                                       true};
    d->line(d->user, &f);
}

/* Devices, the driver that they report, and what the first one offers. False:
 * there is none. */
static bool check_devices(struct lab_doctor *d,
                          const struct lab_cuda_module *module)
{
    struct lab_device_info info;
    struct lab_backend *be = NULL;
    if (lab_backend_open(&be, "cuda", 0)) {
        check_driver(d, NULL);
        report_error(d, "device", LAB_DOCTOR_MISSING, "steps run on the CPU");
        untried(d, "cuBLAS", "a device", "device");
        untried(d, "cuDNN", "a device", "device");
        return false;
    }
    lab_backend_info(be, &info);
    check_driver(d, &info);
    report_device(d, &info);
    check_cublas(d, be);
    check_variants(d, be); /* first: it withdraws what does not fit */
    check_cudnn(d, be, module);
    lab_backend_close(be);
    for (int i = 1; i < MAX_DEVICES; i++) {
        if (lab_backend_open(&be, "cuda", i))
            break; /* there are no more */
        lab_backend_info(be, &info);
        report_device(d, &info);
        lab_backend_close(be);
    }
    return true;
}

static void check_tracing(struct lab_doctor *d,
                          const struct lab_gpu_profiler_ops *ops, bool device)
{
    char text[LAB_GPU_TEXT] = "";
    if (!ops || ops->abi != LAB_GPU_PROFILER_ABI) {
        const char *why = ops ? "the module's profiler is of another version"
                              : "the CUDA module was built without CUPTI";
        report(d, "CUPTI", LAB_DOCTOR_MISSING,
               "install cuda-cupti-dev and build again; until then "
               "times come from CUDA events",
               "%s", why);
        report(d, "NVTX", LAB_DOCTOR_MISSING,
               "as for CUPTI; only nsys and ncu need it", "%s", why);
        return;
    }
    if (!device)
        untried(d, "CUPTI", "a device", "device");
    else if (ops->probe(text, sizeof(text)))
        report(d, "CUPTI", LAB_DOCTOR_MISSING,
               "end another profiler of this process (nsys, ncu), or "
               "install the CUPTI of the module's CUDA version; until "
               "then times come from CUDA events",
               "%s", ops->error());
    else
        ok(d, "CUPTI", text);
    ok(d, "NVTX", "ranges in the domain lapenna-lab, for nsys and ncu");
}

/* Counters belong to a device that is open: the first one is, for this. */
static void check_counters(struct lab_doctor *d,
                           const struct lab_gpu_profiler_ops *gpu)
{
    static const char name[] = "hardware counters";
    struct lab_backend *be = NULL;
    char text[LAB_GPU_TEXT];
    if (!gpu || gpu->abi != LAB_GPU_PROFILER_ABI || !gpu->counters) {
        report(d, name, LAB_DOCTOR_MISSING, "build program and module together",
               "the CUDA module has none");
        return;
    }
    if (lab_backend_open(&be, "cuda", 0)) {
        untried(d, name, "a device", "device");
        return;
    }
    if (gpu->counters->probe(text, sizeof(text)))
        report(d, name, LAB_DOCTOR_MISSING, gpu->error(),
               "refused: FLOPs and bytes are analytic, occupancy is "
               "theoretical");
    else
        report(d, name, LAB_DOCTOR_OK, NULL,
               "readable (%s): --counters basic or full", text);
    lab_backend_close(be);
}

static void without_module(struct lab_doctor *d)
{
    static const char *const rest[] = {"device", "cuBLAS", "cuDNN",
                                       "CUPTI",  "NVTX",   "hardware counters"};
    check_driver(d, NULL);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        untried(d, rest[i], "the CUDA module", "CUDA module");
}

/* Our CUDA kernels on a GPU inside the program: whether the module is there, and
 * what it is like. */
static void check_simulator(struct lab_doctor *d)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    if (lab_backend_open(&be, "sim", 0)) {
        report_error(d, "simulator", LAB_DOCTOR_MISSING,
                     "put nvcc on PATH or install clang, and build again; "
                     "neither needs a GPU");
        return;
    }
    lab_backend_info(be, &info);
    lab_backend_close(be);
    const char *missing = lab_sim_backend_registers_missing();
    report(d, "simulator", LAB_DOCTOR_OK, NULL,
           "--backend sim: the CUDA kernels on %s%s%s", info.name,
           missing ? "; registers and occupancy n/a: " : "",
           missing ? missing : "");
}

void lab_doctor_gpu(struct lab_doctor *d)
{
    const struct lab_cuda_module *module;
    if (lab_cuda_load(&module)) {
        report_error(d, "CUDA module", LAB_DOCTOR_MISSING,
                     "put nvcc on PATH and build again; steps run on "
                     "the CPU");
        without_module(d);
    } else {
        ok(d, "CUDA module", "loaded");
        bool device = check_devices(d, module);
        check_tracing(d, module->profiler, device);
        check_counters(d, module->profiler);
    }
    check_simulator(d);
}

/* doctor: lessons, terminal, database. */

enum { PLACE_TEXT = 1024, LEAST_COLUMNS = 60, LEAST_LINES = 16 };

/* ---- lessons ---- */

static void doctor_lessons(struct lab_doctor *d)
{
    struct lab_catalog *c = NULL;
    char unread[48] = "";
    size_t broken = 0;
    if (lab_catalog_load(&c, NULL)) {
        report_error(d, "lessons", LAB_DOCTOR_MISSING,
                     "install the program again, or name the directory "
                     "above lessons in LAPENNA_LAB_DATA_DIR");
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        broken += c->items[i].lesson == NULL;
    if (broken)
        snprintf(unread, sizeof(unread), ", %zu cannot be read", broken);
    report(d, "lessons", broken ? LAB_DOCTOR_WARNING : LAB_DOCTOR_OK,
           broken ? "`lapenna-lab lesson lint` lists the errors" : NULL,
           "%zu in %s%s", c->count, c->dir, unread);
    lab_catalog_free(c);
}

/* ---- terminal ---- */

static void doctor_terminal(struct lab_doctor *d)
{
    int h = 0;
    int w = 0;
    int colors = 0;
    const char *type = NULL;
    char place[32] = "of unknown size";
    char colours[32] = "";
    const char *charset = nl_langinfo(CODESET);
    bool utf8 = strcmp(charset, "UTF-8") == 0;
    const char *term = getenv("TERM");
    /* A screen that is open has answered; asking would take curses' place. */
    if (!d->screen_open && lab_terminal_probe(d->color, &colors, &type)) {
        report_error(d, "terminal", LAB_DOCTOR_MISSING,
                     "--plain and the commands need none");
        return;
    }
    const bool known = lab_terminal_get_size(&h, &w);
    const bool small = known && (w < LEAST_COLUMNS || h < LEAST_LINES);
    if (known)
        snprintf(place, sizeof(place), "%dx%d", w, h);
    if (!d->screen_open)
        snprintf(colours, sizeof(colours), "%d colours, ", colors);
    bool stand_in = type && strcmp(type, term) != 0;
    report(d, "terminal",
           small || stand_in || !utf8 ? LAB_DOCTOR_WARNING : LAB_DOCTOR_OK,
           small      ? "the screens need at least 60x16"
           : !utf8    ? "set LC_ALL or LANG to a locale with UTF-8 for "
                        "formulas and finer charts"
           : stand_in ? "install the terminfo entry of this terminal "
                        "(Debian: ncurses-term, kitty-terminfo)"
                      : NULL,
           "%s, %s, %s%s%s%s", term ? term : "?", place, colours, charset,
           stand_in ? "; not in the terminfo database: used as " : "",
           stand_in ? type : "");
}

static void check_pictures(struct lab_doctor *d)
{
    const char *font = lab_picture_font();
    if (font)
        ok(d, "pictures", font);
    else
        report(d, "pictures", LAB_DOCTOR_WARNING,
               "install libfreetype-dev, libfontconfig-dev and "
               "fonts-dejavu-core and build again; SVG needs none of them",
               "no font for text in PNG");
}

/* ---- database ---- */

static bool count_run(void *user, const struct lab_run_row *row)
{
    (void)row;
    ++*(int64_t *)user;
    return true;
}

/* Can a file be made there? The nearest folder that exists decides. */
static bool can_make(const char *path)
{
    char dir[PLACE_TEXT];
    snprintf(dir, sizeof(dir), "%s", path);
    for (char *slash; (slash = strrchr(dir, '/'));) {
        *slash = '\0';
        if (dir[0] == '\0')
            return access("/", W_OK) == 0;
        if (access(dir, F_OK) == 0)
            return access(dir, W_OK | X_OK) == 0;
    }
    return access(".", W_OK | X_OK) == 0;
}

/* A line for each winner of tuning, the first few. */
struct winners {
    struct lab_doctor *d;
    int64_t reported;
    int64_t more;
};

static bool report_winner(void *user, const struct lab_tuned_row *r)
{
    enum { MOST = 12 };
    struct winners *w = user;
    if (w->reported == MOST) {
        w->more++;
        return true;
    }
    report(w->d, "tuned", LAB_DOCTOR_OK, NULL,
           "%s %s %s on %s: %s, the fastest of %lld, measured %s", r->lab,
           r->precision, r->size_class, r->device, r->candidate,
           (long long)r->candidates, r->measured ? r->measured : LAB_NA);
    w->reported++;
    return true;
}

static void cannot_tell(struct lab_doctor *d, const char *option)
{
    struct lab_str remedy;
    lab_str_init(&remedy);
    lab_str_add_char(&remedy, '`');
    lab_suggest_command(&remedy, option, LAB_WORDS("lab", "tune", "gemm"));
    lab_str_add(&remedy, "` measures again");
    report_error(d, "tuned", LAB_DOCTOR_WARNING, lab_str_text(&remedy));
    lab_str_release(&remedy);
}

static void report_winners(struct lab_doctor *d, struct lab_database *db,
                           const char *option)
{
    struct winners w = {.d = d};
    if (lab_tuned_list(db, report_winner, &w))
        cannot_tell(d, option);
    else if (w.more > 0)
        report(d, "tuned", LAB_DOCTOR_OK, NULL, "and %lld more",
               (long long)w.more);
}

/* What the device can do at best, as far as it is known. */
static void report_roofs(struct lab_doctor *d, struct lab_database *db,
                         const char *backend,
                         const struct lab_device_info *info)
{
    struct lab_ceiling_device here;
    struct lab_str text;
    enum lab_status st = LAB_OK;
    lab_str_init(&text);
    lab_ceiling_device_here(backend, info->name, info->uuid, &here);
    for (int i = 0; !st && i < LAB_ROOF_NAMES; i++) {
        struct lab_roof roof;
        char rate[LAB_FORMAT_BYTES];
        st = lab_roof_find(db, &here, lab_roof_names[i], &roof);
        if (st || roof.origin == LAB_ROOF_NONE)
            continue;
        lab_format_amount(roof.per_s, i == 0 ? "B/s" : "FLOP/s", rate,
                          sizeof(rate));
        lab_str_addf(&text, "%s %s %s (%s)", text.len ? "," : "",
                     lab_roof_names[i], rate,
                     lab_roof_origin_text(roof.origin));
    }
    if (text.len == 0)
        lab_command_spell(&text,
                          " none measured yet; `lapenna-lab profile ceilings` "
                          "measures them",
                          "`", lab_print_is_ascii());
    if (st)
        report_error(d, "ceilings", LAB_DOCTOR_WARNING,
                     "`lapenna-lab profile ceilings` measures them again");
    else
        report(d, "ceilings", LAB_DOCTOR_OK, NULL, "%s:%s", info->name,
               lab_str_text(&text));
    lab_str_release(&text);
}

/* ---- kept times of variants ---- */

enum { MOST_WINS = 512 };

struct wins {
    struct {
        char op[48];
        char variant[48];
        int64_t n; /* shapes of its steps that it is the fastest at */
        double ns; /* of those that another has a time of, too */
        double next_ns;
    } list[MOST_WINS];
    int n;
    struct lab_str step; /* that is read now */
    char variant[48];
    double ns;      /* its best so far; NaN: none */
    double next_ns; /* the best of the others */
};

static void count_win(struct wins *w)
{
    const char *step = lab_str_text(&w->step);
    const int op = (int)strcspn(step, ".");
    int i = 0;
    while (i < w->n &&
           (strncmp(w->list[i].op, step, (size_t)op) != 0 ||
            w->list[i].op[op] || strcmp(w->list[i].variant, w->variant) != 0))
        i++;
    if (isnan(w->ns) || i == MOST_WINS || op >= (int)sizeof(w->list[i].op))
        return;
    if (i == w->n) {
        snprintf(w->list[i].op, sizeof(w->list[i].op), "%.*s", op, step);
        snprintf(w->list[i].variant, sizeof(w->list[i].variant), "%s",
                 w->variant);
        w->list[i].n = 0;
        w->list[i].ns = w->list[i].next_ns = 0;
        w->n++;
    }
    w->list[i].n++;
    if (!isnan(w->next_ns)) {
        w->list[i].ns += w->ns;
        w->list[i].next_ns += w->next_ns;
    }
}

static enum lab_status see_time(void *user, const struct lab_variant_time *t)
{
    struct wins *w = user;
    if (strcmp(lab_str_text(&w->step), t->step) != 0) {
        count_win(w);
        lab_str_clear(&w->step);
        lab_str_add(&w->step, t->step);
        w->ns = w->next_ns = NAN;
    }
    if (isnan(w->ns) || t->ns < w->ns) {
        w->next_ns = w->ns;
        w->ns = t->ns;
        snprintf(w->variant, sizeof(w->variant), "%s", t->variant);
    } else if (isnan(w->next_ns) || t->ns < w->next_ns) {
        w->next_ns = t->ns;
    }
    return LAB_OK;
}

/* Of a device's kept times. */
static enum lab_status read_wins(struct wins *w, struct lab_database *db,
                                 const struct lab_variant_time_of *of)
{
    struct lab_variant_times_left left;
    w->n = 0;
    w->ns = w->next_ns = NAN;
    lab_str_init(&w->step);
    enum lab_status st = lab_variant_times_read(db, of, see_time, w, &left);
    if (!st)
        count_win(w);
    lab_str_release(&w->step);
    return st;
}

/* "; the fastest in fp32 of dense: vector (12 shapes, the next takes 1.8 times as long),
 * onednn (3 shapes); of relu: vector (2 shapes)" */
static void add_wins(struct lab_str *out, const struct wins *w)
{
    for (int i = 0; i < w->n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || strcmp(w->list[k].op, w->list[i].op) == 0;
        if (seen)
            continue;
        lab_str_addf(out,
                     "; %s %s:", out->len ? "of" : "the fastest in fp32 of",
                     w->list[i].op);
        const char *before = " ";
        for (int k = i; k < w->n; k++) {
            if (strcmp(w->list[k].op, w->list[i].op) != 0)
                continue;
            lab_str_addf(out, "%s%s (%lld shape%s", before, w->list[k].variant,
                         (long long)w->list[k].n, w->list[k].n == 1 ? "" : "s");
            if (w->list[k].ns > 0)
                lab_str_addf(out, ", the next takes %.3g times as long",
                             w->list[k].next_ns / w->list[k].ns);
            lab_str_add_char(out, ')');
            before = ", ";
        }
    }
}

/* How many times are kept for a device, and which variants they make the fastest of how
 * many shapes: a time is of all steps of one op, phase and shapes. */
static void report_kept(struct lab_doctor *d, struct lab_database *db,
                        const struct lab_variant_time_of *of)
{
    struct wins *w = lab_alloc(sizeof(*w));
    struct lab_str fastest;
    char threads[32] = "";
    int64_t n = 0;
    lab_str_init(&fastest);
    if (of->threads > 0)
        snprintf(threads, sizeof(threads), " with %d threads",
                 (int)of->threads);
    struct lab_variant_time_of all = *of;
    all.precision = NULL; /* those of each one count */
    enum lab_status st = w ? read_wins(w, db, of) : LAB_OK;
    if (!st)
        st = lab_variant_times_count(db, &all, &n);
    if (!st && w)
        add_wins(&fastest, w);
    if (st)
        report_error(d, "variant times", LAB_DOCTOR_WARNING,
                     "variants are measured again");
    else
        report(d, "variant times", LAB_DOCTOR_OK, NULL, "%lld kept for %s%s%s",
               (long long)n, of->device, threads, lab_str_text(&fastest));
    lab_str_release(&fastest);
    lab_free(w);
}

/* The times of variants that are kept for each device that opens, and its ceilings. */
static void report_times(struct lab_doctor *d, struct lab_database *db)
{
    static const char *const backends[] = {"cpu", "cuda"};
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        struct lab_backend *be = NULL;
        struct lab_device_info info;
        if (lab_backend_open(&be, backends[i], 0))
            continue;
        lab_backend_info(be, &info);
        const struct lab_variant_time_of of = {.backend = backends[i],
                                               .device = info.name,
                                               .precision = "fp32",
                                               .threads =
                                                   i == 0 ? lab_threads() : 0};
        report_kept(d, db, &of);
        report_roofs(d, db, backends[i], &info);
        lab_backend_close(be);
    }
}

/* lab_error() of a database that cannot be used: "FILE: what is wrong; what can
 * be done"; or `remedy` is what can be done. */
static void report_refused(struct lab_doctor *d, const char *path,
                           const char *remedy)
{
    const char *text = lab_error();
    size_t n = strlen(path);
    const char *end =
        strstr(text + (strncmp(text, path, n) == 0 ? n : 0), "; ");
    if (!remedy)
        remedy = end ? end + 2 : "name another file with --db FILE";
    report(d, "database", LAB_DOCTOR_WARNING, remedy, "%.*s",
           (int)(end ? end - text : (long)strlen(text)), text);
}

/* Of an older schema, or with nothing in it: any writer mends that. */
static void report_unfinished(struct lab_doctor *d, const char *path,
                              const char *option)
{
    struct lab_str remedy;
    lab_str_init(&remedy);
    lab_str_add_char(&remedy, '`');
    if (access(path, W_OK) == 0) {
        lab_suggest_command(&remedy, option, LAB_WORDS("profile", "list"));
        lab_str_add(&remedy, "` brings it up to date");
    } else {
        lab_suggest_command(
            &remedy, NULL,
            LAB_WORDS("profile", "import", path, "--db", "FILE"));
        lab_str_add(&remedy, "` copies its runs into another file");
    }
    report_refused(d, path, lab_str_text(&remedy));
    lab_str_release(&remedy);
}

/* A database that could be read. */
static void report_usable(struct lab_doctor *d, const char *path, int64_t runs,
                          bool checked)
{
    bool writable = access(path, W_OK) == 0 && can_make(path);
    report(d, "database", writable ? LAB_DOCTOR_OK : LAB_DOCTOR_WARNING,
           writable ? NULL
                    : "change its rights, and its directory's, with "
                      "`chmod u+w`, or name another file with --db "
                      "FILE",
           "%s, schema %d, %lld run%s, %s%s", path,
           lab_database_schema_version(), (long long)runs, runs == 1 ? "" : "s",
           writable ? "writable" : "read only",
           checked ? "" : ", too large to look for damage here");
}

/* `option`: what --db named, or NULL. */
static void look_into(struct lab_doctor *d, const char *path,
                      const char *option)
{
    static const int64_t most_checked = INT64_C(256) << 20; /* about 1 s */
    const struct lab_database_options read = {.read_only = true,
                                              .busy_timeout_ms = 1000};
    struct lab_database *db = NULL;
    bool checked = true;
    int64_t runs = 0;
    enum lab_status st = lab_database_open(&db, path, &read);
    if (st == LAB_E_STATE) {
        report_unfinished(d, path, option);
        return;
    }
    if (!st)
        st = lab_database_check_most(db, most_checked, &checked);
    if (!st)
        st = lab_query_runs(db, count_run, &runs);
    if (st) {
        report_refused(d, path, NULL);
    } else {
        report_usable(d, path, runs, checked);
        report_times(d, db);
        report_winners(d, db, option);
    }
    lab_database_close(db);
}

/* db NULL: the usual place. */
static void doctor_database(struct lab_doctor *d, const char *db)
{
    struct lab_str path;
    lab_str_init(&path);
    if (db)
        lab_str_add(&path, db);
    else if (lab_database_default_path(&path)) {
        report_error(d, "database", LAB_DOCTOR_WARNING,
                     "set HOME, or name a file with --db");
        lab_str_release(&path);
        return;
    }
    if (access(lab_str_text(&path), F_OK) == 0) {
        look_into(d, lab_str_text(&path), db);
    } else {
        bool possible = can_make(lab_str_text(&path));
        report(d, "database", possible ? LAB_DOCTOR_OK : LAB_DOCTOR_WARNING,
               possible ? NULL : "name another file with --db FILE",
               "%s, schema %d, %s", lab_str_text(&path),
               lab_database_schema_version(),
               possible ? "made with the first run"
                        : "not there, and its folder cannot be written");
    }
    lab_str_release(&path);
}

/* ---- the variants of each op, and which were fastest here ---- */

/* None where there is no database, or none that can be read. */
static void look_for_wins(struct wins *w, const char *option,
                          const char *backend,
                          const struct lab_device_info *info)
{
    const struct lab_database_options read = {.read_only = true,
                                              .busy_timeout_ms = 1000};
    const struct lab_variant_time_of of = {
        .backend = backend,
        .device = info->name,
        .precision = "fp32",
        .threads = strcmp(backend, "cpu") == 0 ? lab_threads() : 0};
    struct lab_database *db = NULL;
    struct lab_str path;
    lab_str_init(&path);
    w->n = 0;
    if (option)
        lab_str_add(&path, option);
    if ((option || lab_database_default_path(&path) == LAB_OK) &&
        access(lab_str_text(&path), F_OK) == 0 &&
        lab_database_open(&db, lab_str_text(&path), &read) == LAB_OK)
        read_wins(w, db, &of);
    lab_database_close(db);
    lab_str_release(&path);
}

static int64_t wins_of(const struct wins *w, const char *op,
                       const char *variant)
{
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->list[i].op, op) == 0 &&
            strcmp(w->list[i].variant, variant) == 0)
            return w->list[i].n;
    return 0;
}

static void write_op(struct lab_doc *out, struct lab_backend *be,
                     const char *op, const struct wins *w)
{
    enum { NAMES_X = 24 };
    const char *names[MAX_NAMES];
    int n = lab_backend_variant_names(be, LAB_F32, op, names, MAX_NAMES);
    if (n < 2)
        return; /* there is no choice */
    lab_doc_para(out, 0, NAMES_X, true);
    lab_doc_addf(out, LAB_ROLE_HEADING, "%-*s", NAMES_X - 1, op);
    for (int i = 0; i < n && i < MAX_NAMES; i++) {
        int64_t won = wins_of(w, op, names[i]);
        lab_doc_addf(out, won ? LAB_ROLE_GOOD : LAB_ROLE_NORMAL, " %s",
                     names[i]);
        if (won)
            lab_doc_addf(out, LAB_ROLE_GOOD, " (%lld)", (long long)won);
    }
}

void lab_doctor_write_variants(struct lab_doc *out, const char *db)
{
    static const char *const backends[] = {"cpu", "cuda"};
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    struct wins *w = lab_alloc(sizeof(*w));
    for (size_t i = 0; w && i < sizeof(backends) / sizeof(backends[0]); i++) {
        struct lab_backend *be = NULL;
        struct lab_device_info info;
        if (lab_backend_open(&be, backends[i], 0))
            continue;
        lab_backend_info(be, &info);
        look_for_wins(w, db, backends[i], &info);
        if (i > 0)
            lab_doc_blank(out);
        lab_doc_para(out, 0, 0, true);
        lab_doc_addf(out, LAB_ROLE_HEADING, "Variants on %s, %s", backends[i],
                     info.name);
        lab_doc_para(out, 0, 0, true);
        lab_doc_add(out, LAB_ROLE_DIM,
                    w->n ? "(9): the fastest of this op for 9 of the shapes "
                           "that were measured here; a step runs it, or the "
                           "usual one within 15 % of it"
                         : "which is the fastest is measured when a lesson "
                           "opens, and kept with its run");
        for (int op = 0; op < n_ops; op++)
            write_op(out, be, ops[op]->name, w);
        lab_backend_close(be);
    }
    lab_free(w);
}

static void check_program(struct lab_doctor *d)
{
    report(d, "program", LAB_DOCTOR_OK, NULL, "lapenna-lab %s%s%s",
           lab_version(), lab_commit()[0] ? " " : "", lab_commit());
}

void lab_doctor_examine(struct lab_doctor *d, const char *db)
{
    check_program(d);
    doctor_lessons(d);
    doctor_cpu(d);
    lab_doctor_gpu(d);
    doctor_terminal(d);
    check_pictures(d);
    doctor_database(d, db);
}
