/* compile.c -- FILE.cu to PTX: finds nvcc or clang, runs it in a directory of its
 * own, and reads what it wrote. With clang the headers of sim/clang stand in for
 * NVIDIA's, so that a machine needs none of NVIDIA's packages. */
#include "sim/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"

enum {
    TEXT_MOST = 256 << 20, /* bytes of PTX; all lessons have 3 MB */
    WORDS_MOST = 1 << 20,  /* of a compiler's messages */
    ARGS_MOST = 160
};

extern char **environ;

/* ---- files ---- */

static enum lab_status read_file(const char *path, size_t most,
                                 struct lab_str *out)
{
    struct stat about;
    char block[65536];
    enum lab_status st = LAB_OK;
    size_t total = 0;
    if (stat(path, &about))
        return lab_fail(LAB_E_IO, "[sim.source-read] cannot read %s: %s", path,
                        strerror(errno));
    if (!S_ISREG(about.st_mode))
        return lab_fail(LAB_E_IO, "[sim.source-kind] %s is no file", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return lab_fail(LAB_E_IO, "[sim.source-read] cannot read %s: %s", path,
                        strerror(errno));
    for (size_t n; !st && (n = fread(block, 1, sizeof(block), f)) > 0;) {
        total += n;
        if (total > most)
            st = lab_fail(LAB_E_RANGE,
                          "[sim.source-size] %s is larger than %zu MiB", path,
                          most >> 20);
        else
            lab_str_add_bytes(out, block, n);
    }
    if (!st && ferror(f))
        st = lab_fail(LAB_E_IO, "[sim.source-read] cannot read %s: %s", path,
                      strerror(errno));
    fclose(f);
    return st ? st : lab_str_check(out, "a file");
}

/* ---- which compiler ---- */

static bool is_program(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           access(path, X_OK) == 0;
}

/* A program of PATH, or at a path. */
static bool find_program(const char *name, struct lab_str *out)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        lab_str_clear(out);
        lab_str_add(out, name);
        return is_program(name);
    }
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        lab_str_clear(out);
        lab_str_add_bytes(out, n ? p : ".", n ? n : 1);
        lab_str_addf(out, "/%s", name);
        if (!out->failed && is_program(lab_str_text(out)))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static bool find_nvcc(struct lab_str *out)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    if (find_program("nvcc", out))
        return true;
    for (int i = 0; i < 3; i++) {
        const char *home = homes[i] ? getenv(homes[i]) : "/usr/local/cuda";
        lab_str_clear(out);
        lab_str_addf(out, "%s/bin/nvcc", home ? home : "");
        if (home && !out->failed && is_program(lab_str_text(out)))
            return true;
    }
    return false;
}

static bool find_clang(struct lab_str *out)
{
    char name[16];
    if (find_program("clang", out))
        return true;
    for (int version = 22; version >= 14; version--) {
        snprintf(name, sizeof(name), "clang-%d", version);
        if (find_program(name, out))
            return true;
    }
    return false;
}

static bool is_clang(const char *path)
{
    const char *name = strrchr(path, '/');
    return strncmp(name ? name + 1 : path, "clang", 5) == 0;
}

static bool is_auto(const char *compiler)
{
    return !compiler || strcmp(compiler, "auto") == 0;
}

/* The path of the compiler that would be taken. */
static enum lab_status find_compiler(const char *wanted, struct lab_str *out)
{
    bool any = is_auto(wanted);
    bool nvcc = any || strcmp(wanted, "nvcc") == 0;
    bool clang = any || strcmp(wanted, "clang") == 0;
    if ((nvcc && find_nvcc(out)) || (clang && find_clang(out)) ||
        (!nvcc && !clang && find_program(wanted, out)))
        return lab_str_check(out, "the path of a compiler");
    lab_str_clear(out);
    if (!nvcc && !clang)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[sim.compiler-name] there is no compiler %s", wanted);
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[sim.no-compiler] no compiler of CUDA C++: %s%s; "
                    "install "
                    "it, in Debian and Ubuntu: %s%s%s",
                    !clang  ? "nvcc is not on PATH"
                    : !nvcc ? "clang is not on PATH"
                            : "neither nvcc nor clang is on PATH",
                    nvcc ? ", and no nvcc in CUDA_HOME or /usr/local/cuda" : "",
                    clang ? "`apt install clang`" : "",
                    any ? " (or nvcc: " : "",
                    any    ? "`apt install nvidia-cuda-toolkit`)"
                    : nvcc ? "`apt install nvidia-cuda-toolkit`"
                           : "");
}

/* ---- its command line ---- */

struct command {
    char *args[ARGS_MOST + 1];
    int count;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void add(struct command *c,
                                                      const char *fmt, ...)
{
    struct lab_str text;
    va_list args;
    lab_str_init(&text);
    va_start(args, fmt);
    lab_str_addv(&text, fmt, args);
    va_end(args);
    if (c->count == ARGS_MOST || text.failed)
        c->failed = true;
    else if (!(c->args[c->count] = lab_str_detach(&text)))
        c->failed = true;
    else
        c->count++;
    lab_str_release(&text);
}

static void release(struct command *c)
{
    for (int i = 0; i < c->count; i++)
        lab_free(c->args[i]);
    *c = (struct command){.count = 0};
}

/* What clang gets to know of the machine: the newest that version 14 knows. `kept` is
 * the option by which a variable without a value may be handed to a function. */
static void add_clang(struct command *c, const char *headers, const char *kept)
{
    static const char *const flags[] = {"-x",
                                        "cuda",
                                        "--cuda-device-only",
                                        "--cuda-gpu-arch=sm_80",
                                        "-Xclang",
                                        "-target-feature",
                                        "-Xclang",
                                        "+ptx70",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "-std=c++17",
                                        "-fms-extensions",
                                        "-S",
                                        "-O2",
                                        "-gline-tables-only",
                                        "-D__CUDACC__=1",
                                        "-D__NVCC__=1",
                                        "-Wno-unknown-cuda-version",
                                        "-Wuninitialized",
                                        "-Wno-unknown-warning-option",
                                        "-Wno-pragma-once-outside-header"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        add(c, "%s", flags[i]);
    add(c, "-Xclang");
    add(c, "%s", kept);
    add(c, "-isystem%s", headers);
    add(c, "-include");
    add(c, "%s/cuda_runtime.h", headers);
}

static void add_nvcc(struct command *c, const char *arch)
{
    static const char *const flags[] = {"-ptx", "-std=c++17", "-lineinfo"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        add(c, "%s", flags[i]);
    add(c, "-arch=%s", arch);
}

static void add_source(struct command *c, const struct lab_sim_source *s,
                       const char *output)
{
    const char *slash = strrchr(s->path, '/');
    for (int i = 0; i < s->define_count; i++)
        add(c, "-D%s", s->define[i]);
    for (int i = 0; i < s->include_count; i++)
        add(c, "-I%s", s->include[i]);
    if (slash)
        add(c, "-I%.*s", slash == s->path ? 1 : (int)(slash - s->path),
            s->path);
    else
        add(c, "-I.");
    add(c, "-o");
    add(c, "%s", output);
    /* A path that begins with a dash is no option. */
    add(c, "%s%s", s->path[0] == '-' ? "./" : "", s->path);
}

/* ---- running it ---- */

static enum lab_status run(struct command *c, const char *errors, int *code)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    int state = 0;
    if (c->failed)
        return lab_fail(LAB_E_USAGE,
                        "[sim.compiler-words] too many words for a compiler");
    if (posix_spawn_file_actions_init(&actions))
        return lab_no_memory("a compiler's files");
    int wrong =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!wrong)
        wrong = posix_spawn_file_actions_addopen(
            &actions, 1, errors, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!wrong)
        wrong = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!wrong)
        wrong = posix_spawn(&pid, c->args[0], &actions, NULL, c->args, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (wrong)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[sim.compiler-start] cannot run %s: %s", c->args[0],
                        strerror(wrong));
    while (waitpid(pid, &state, 0) < 0) {
        if (errno != EINTR)
            return lab_fail(LAB_E_IO, "[sim.compiler-lost] %s is lost: %s",
                            c->args[0], strerror(errno));
    }
    if (WIFSIGNALED(state) &&
        (WTERMSIG(state) == SIGINT || WTERMSIG(state) == SIGTERM ||
         WTERMSIG(state) == SIGHUP))
        return lab_fail(LAB_E_CANCELLED, "interrupted");
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return LAB_OK;
}

/* Does clang miss a header or a function? */
static bool is_not_there(const char *words)
{
    static const char *const ways[] = {
        "file not found", "undeclared identifier", "no matching function",
        "in 'cooperative_groups::", "in namespace 'cooperative_groups"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strstr(words, ways[i]))
            return true;
    return false;
}

/* One try, for `arch` by nvcc, with `kept` by clang. LAB_E_PARSE: the compiler refuses;
 * its reasons are in `words`. */
static enum lab_status try(const struct lab_sim_source *s, const char *compiler,
                           const char *arch, const char *kept, const char *dir,
                           struct lab_str *ptx, struct lab_str *words)
{
    struct command c = {.count = 0};
    struct lab_str headers;
    char output[PATH_MAX];
    char errors[PATH_MAX];
    int code = 0;
    lab_str_init(&headers);
    snprintf(output, sizeof(output), "%s/kernel.ptx", dir);
    snprintf(errors, sizeof(errors), "%s/words", dir);
    add(&c, "%s", compiler);
    enum lab_status st = LAB_OK;
    if (arch) {
        add_nvcc(&c, arch);
    } else {
        st = lab_data_path("sim/clang", &headers);
        add_clang(&c, lab_str_text(&headers), kept);
    }
    add_source(&c, s, output);
    if (!st)
        st = run(&c, errors, &code);
    lab_str_clear(words);
    if (!st)
        st = read_file(errors, WORDS_MOST, words);
    if (!st && code)
        st = lab_fail(LAB_E_PARSE, "[sim.compile] %s does not compile (%s)%s",
                      s->path, compiler,
                      !arch && is_not_there(lab_str_text(words))
                          ? ": what CUDA has and the program's own headers do "
                            "not (docs/sim.md) needs nvcc"
                          : "");
    if (!st)
        st = read_file(output, TEXT_MOST, ptx);
    unlink(output);
    unlink(errors);
    lab_str_release(&headers);
    release(&c);
    return st;
}

/* nvcc of the device; an older one that does not know it, of what it knows. */
static enum lab_status by_nvcc(const struct lab_sim_source *s,
                               const char *compiler, const char *dir,
                               struct lab_str *ptx, struct lab_str *words)
{
    char own[32];
    const char *const archs[] = {own, "compute_80", "compute_75"};
    int major = s->device ? s->device->major : 9;
    int minor = s->device ? s->device->minor : 0;
    snprintf(own, sizeof(own), "compute_%d%d%s", major, minor,
             major >= 9 ? "a" : "");
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        st = try(s, compiler, archs[i], NULL, dir, ptx, words);
        if (st != LAB_E_PARSE ||
            !strstr(lab_str_text(words), "nsupported gpu architecture"))
            break;
    }
    return st;
}

/* Only the lane that has the value hands one on in __shfl_sync(v, leader): in the others
 * `v` may be without one, as in NVIDIA's own examples, and nvcc leaves it there. clang
 * takes such a branch as always true, without this option. Version 15 has renamed
 * the option. */
static enum lab_status by_clang(const struct lab_sim_source *s,
                                const char *compiler, const char *dir,
                                struct lab_str *ptx, struct lab_str *words)
{
    static const char *const kept[] = {"-disable-noundef-analysis",
                                       "-no-enable-noundef-analysis"};
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        st = try(s, compiler, NULL, kept[i], dir, ptx, words);
        if (st != LAB_E_PARSE ||
            !strstr(lab_str_text(words), "unknown argument"))
            break;
    }
    return st;
}

static bool is_ptx(const char *path)
{
    size_t n = strlen(path);
    return n >= 4 && strcmp(path + n - 4, ".ptx") == 0;
}

/* nvcc without a host compiler, or with one that is too new for it. */
static bool has_no_host(const char *words)
{
    return strstr(words, "host compiler") || strstr(words, "host_config.h");
}

static enum lab_status compile(const struct lab_sim_source *s, const char *dir,
                               struct lab_str *path, struct lab_str *ptx,
                               struct lab_str *words)
{
    enum lab_status st;
    if (is_clang(lab_str_text(path)))
        return by_clang(s, lab_str_text(path), dir, ptx, words);
    st = by_nvcc(s, lab_str_text(path), dir, ptx, words);
    if (st == LAB_E_PARSE && is_auto(s->compiler) &&
        has_no_host(lab_str_text(words)) && find_clang(path)) {
        st = by_clang(s, lab_str_text(path), dir, ptx, words);
        lab_str_add(words, "nvcc has no host compiler here that it can use: "
                           "clang is taken\n");
    }
    return st;
}

enum lab_status lab_sim_compile(const struct lab_sim_source *source,
                                struct lab_str *ptx, struct lab_str *words)
{
    struct lab_str path;
    char dir[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    struct stat about;
    if (is_ptx(source->path))
        return read_file(source->path, TEXT_MOST, ptx);
    if (stat(source->path, &about))
        return lab_fail(LAB_E_IO, "[sim.source-read] cannot read %s: %s",
                        source->path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return lab_fail(LAB_E_IO, "[sim.source-kind] %s is no file",
                        source->path);
    lab_str_init(&path);
    enum lab_status st = find_compiler(source->compiler, &path);
    snprintf(dir, sizeof(dir), "%s/lapenna-lab-XXXXXX",
             tmp && *tmp && strlen(tmp) < PATH_MAX / 2 ? tmp : "/tmp");
    if (!st && !mkdtemp(dir))
        st = lab_fail(LAB_E_IO, "[sim.folder] cannot make %s: %s", dir,
                      strerror(errno));
    if (!st) {
        st = compile(source, dir, &path, ptx, words);
        rmdir(dir);
    }
    lab_str_release(&path);
    return st;
}
