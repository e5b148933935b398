/* Words and lines of a kernel that is walked: its source, and what lanes touch. */
#include "debug/kernel_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "profiler/kernel_name.h"

enum { LANES = 32, SECTOR = 32, SOURCE_MOST = 8 << 20 };

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

void lab_kernel_name(const char *symbol, char *out, size_t cap)
{
    char *types = lab_kernel_demangle(symbol);
    lab_kernel_short_name(out, cap, types ? types : symbol);
    lab_free(types);
}

/* A file that PTX names, from here or from the folder of `beside`. */
static FILE *open_source(const char *beside, const char *path)
{
    struct stat about;
    struct lab_str there;
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    lab_str_init(&there);
    if (slash && path[0] != '/')
        lab_str_add_bytes(&there, beside, (size_t)(slash + 1 - beside));
    lab_str_add(&there, path);
    const char *const paths[] = {path, lab_str_text(&there)};
    FILE *f = NULL;
    for (int i = 0; i < 2 && !f; i++) {
        if (stat(paths[i], &about) == 0 && S_ISREG(about.st_mode))
            f = fopen(paths[i], "rb");
    }
    lab_str_release(&there);
    return f;
}

static void read_file(struct lab_kernel_source *s, const struct lab_ptx *ptx,
                      int32_t file)
{
    char block[4096];
    const char *path = path_of(ptx, file);
    FILE *f = path ? open_source(s->beside, path) : NULL;
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

static void add_element(struct lab_str *out, const struct lab_sim_debug *d,
                        uint64_t address)
{
    struct lab_sim_finding f;
    if (!lab_sim_debug_element(d, address, &f)) {
        lab_str_addf(out, "0x%" PRIx64, address);
        return;
    }
    if (f.name[0])
        lab_str_add_visible(out, f.name, strlen(f.name), false);
    else
        lab_str_addf(out, "argument %d", f.argument);
    for (int k = 0; k < f.rank; k++)
        lab_str_addf(out, "%s%" PRId64, k ? "," : "[", f.index[k]);
    lab_str_add(out, f.rank > 0 ? "]" : "");
}

bool lab_kernel_is_global(const struct lab_sim_access_view *v)
{
    return v->space == LAB_PTX_GLOBAL || v->space == LAB_PTX_GENERIC ||
           v->space == LAB_PTX_CONST;
}

static const char *space_name(const struct lab_sim_access_view *v)
{
    return v->space == LAB_PTX_SHARED  ? "shared memory"
           : v->space == LAB_PTX_LOCAL ? "local memory"
           : v->space == LAB_PTX_PARAM ? "the parameters"
                                       : "global memory";
}

/* Pieces of 32 bytes that the lanes' bytes lie in. */
int lab_kernel_sectors(const struct lab_sim_access_view *v)
{
    uint64_t seen[LANES * 2];
    int n = 0;
    for (int l = 0; l < LANES; l++) {
        if (!(v->lanes >> l & 1))
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
    if (lab_kernel_is_global(v))
        add_element(out, d, v->address[lane]);
    else
        lab_str_addf(out, "byte %" PRIu64, v->address[lane]);
}

void lab_kernel_access_add(struct lab_str *out, const struct lab_sim_debug *d,
                           const struct lab_ptx *ptx,
                           const struct lab_sim_access_view *v)
{
    int n = __builtin_popcount(v->lanes);
    if (n == 0)
        return;
    int first = __builtin_ctz(v->lanes);
    int last = 31 - __builtin_clz(v->lanes);
    if (v->place >= 0)
        lab_str_addf(out, "line %d: ", ptx->places[v->place].line);
    lab_str_addf(out, "%d lane%s %s %d bytes each of %s, ", n,
                 n == 1 ? "" : "s",
                 v->atomic  ? "changed atomically"
                 : v->write ? "wrote"
                            : "read",
                 v->bytes, space_name(v));
    lab_kernel_place_add(out, d, v, first);
    if (last != first) {
        lab_str_add(out, " to ");
        lab_kernel_place_add(out, d, v, last);
    }
    if (lab_kernel_is_global(v))
        lab_str_addf(out, ": %d sector%s of 32 bytes", lab_kernel_sectors(v),
                     lab_kernel_sectors(v) == 1 ? "" : "s");
}
