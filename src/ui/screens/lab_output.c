/* lab_output.c -- starts this program again with other words and hands on what it
 * prints. A process of its own: what a demonstration prints goes to its standard
 * output, and a screen has the terminal. */
#include "screens/lab_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

extern char **environ;

enum { MOST_WORDS = 16, MOMENT_MS = 50 };
static const int64_t PATIENCE_NS = 5000000000;

/* The environment with COLUMNS; NULL: no memory. The strings stay where they are. */
static char **environment(char *columns)
{
    size_t n = 0;
    size_t k = 0;
    while (environ[n])
        n++;
    char **out = lab_alloc_array(n + 2, sizeof(*out));
    for (size_t i = 0; i < n && out; i++)
        if (strncmp(environ[i], "COLUMNS=", 8) != 0)
            out[k++] = environ[i];
    if (out)
        out[k] = columns;
    return out;
}

static int spawn(const struct lab_output *o, int to, char **env, pid_t *pid)
{
    const char *words[MOST_WORDS] = {"lapenna-lab"};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    for (int i = 0; o->words[i] && i + 2 < MOST_WORDS; i++)
        words[i + 1] = o->words[i];
    int wrong = posix_spawn_file_actions_init(&files);
    if (wrong)
        return wrong;
    wrong = posix_spawnattr_init(&how);
    if (wrong) {
        posix_spawn_file_actions_destroy(&files);
        return wrong;
    }
    sigemptyset(&none);
    wrong =
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    for (int fd = 1; fd <= 2 && !wrong; fd++)
        wrong = posix_spawn_file_actions_adddup2(&files, to, fd);
    if (!wrong)
        wrong = posix_spawnattr_setsigmask(&how, &none);
    if (!wrong)
        wrong = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    if (!wrong)
        wrong = posix_spawn(pid, "/proc/self/exe", &files, &how,
                            (char **)(uintptr_t)words, env);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return wrong;
}

/* True: it was stopped; one that does not end by itself then is killed. */
static bool read_all(const struct lab_output *o, int from, pid_t pid)
{
    char chunk[4096];
    struct pollfd p = {.fd = from, .events = POLLIN};
    int64_t stopped = 0; /* when */
    for (;;) {
        int ready = poll(&p, 1, MOMENT_MS);
        if (!stopped && o->stop(o->user)) {
            stopped = lab_clock_monotonic_ns();
            kill(pid, SIGTERM);
        } else if (stopped &&
                   lab_clock_monotonic_ns() - stopped > PATIENCE_NS) {
            kill(pid, SIGKILL);
            return true;
        }
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = read(from, chunk, sizeof(chunk));
        if (n > 0)
            o->text(o->user, chunk, (size_t)n);
        else if (n == 0 || errno != EINTR)
            return stopped != 0;
    }
}

enum lab_status lab_output_run(const struct lab_output *o, int *code)
{
    char columns[32];
    int ends[2];
    int state = 0;
    pid_t pid = -1;
    snprintf(columns, sizeof(columns), "COLUMNS=%d", o->columns);
    char **env = environment(columns);
    if (!env)
        return lab_no_memory("a lab's output");
    if (pipe2(ends, O_CLOEXEC)) {
        lab_free(env);
        return lab_fail(LAB_E_IO, "[screen.lab-pipe] cannot make a pipe: %s",
                        strerror(errno));
    }
    int wrong = spawn(o, ends[1], env, &pid);
    lab_free(env);
    close(ends[1]);
    bool stopped = !wrong && read_all(o, ends[0], pid);
    close(ends[0]);
    if (wrong)
        return lab_fail(LAB_E_IO, "[screen.lab-start] cannot start %s: %s",
                        "the lab's command", strerror(wrong));
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return stopped ? lab_fail(LAB_E_CANCELLED, "stopped") : LAB_OK;
}
