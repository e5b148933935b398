/* Is there a terminal that a screen can use? Looked at before curses starts. */
#include <curses.h>
#include <term.h>

#include "ui/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal_priv.h"

enum lab_status lab_terminal_find_input(FILE **in, int *fd)
{
    *fd = STDIN_FILENO;
    if (!isatty(STDOUT_FILENO))
        return lab_fail(LAB_E_UNSUPPORTED, "the screen needs a terminal on "
                                           "its output: use --plain");
    if (isatty(STDIN_FILENO))
        return LAB_OK;
    *in = fopen("/dev/tty", "r+e");
    if (!*in)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "the screen needs a terminal for its keys: "
                        "use --plain (/dev/tty: %s)",
                        strerror(errno));
    *fd = fileno(*in);
    return LAB_OK;
}

/* A terminal that this machine has no description of, as over ssh from one that
 * is newer: nearly all of them understand what xterm does. */
static const char *find_type(const char *term, int *problem)
{
    static const char *const stand_ins[] = {"xterm-256color", "xterm", "vt100"};
    int ignored;
    if (setupterm(term, STDOUT_FILENO, problem) == OK)
        return term;
    for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++) {
        if (setupterm(stand_ins[i], STDOUT_FILENO, &ignored) == OK)
            return stand_ins[i];
    }
    return NULL;
}

enum lab_status lab_terminal_check(int *colors, const char **type)
{
    int problem = 0;
    const char *term = getenv("TERM");
    if (!term || !term[0])
        return lab_fail(LAB_E_UNSUPPORTED,
                        "TERM is not set: set it, or use --plain");
    *type = find_type(term, &problem);
    if (!*type)
        return lab_fail(LAB_E_UNSUPPORTED,
                        problem < 0 ? "there is no terminfo database: "
                                      "use --plain (TERM=%s)"
                                    : "TERM=%s is not a terminal that this "
                                      "machine knows: use --plain",
                        term);
    const char *place = tigetstr("cup");
    bool usable = place && place != (char *)-1;
    *colors = tigetflag("RGB") > 0 ? 1 << 24 : tigetnum("colors");
    del_curterm(cur_term);
    if (!usable)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "TERM=%s cannot place its cursor: use --plain", term);
    return LAB_OK;
}

enum lab_status lab_terminal_probe(int *colors, const char **type)
{
    FILE *in = NULL;
    int fd;
    int found = 0;
    enum lab_status st = lab_terminal_find_input(&in, &fd);
    if (!st)
        st = lab_terminal_check(&found, type);
    if (in)
        fclose(in);
    if (!st)
        *colors = found > 0 ? found : 0;
    return st;
}
