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

enum lab_status lab_terminal_check(int *colors)
{
    int problem = 0;
    const char *term = getenv("TERM");
    if (!term || !term[0])
        return lab_fail(LAB_E_UNSUPPORTED,
                        "TERM is not set: set it, or use --plain");
    if (setupterm(NULL, STDOUT_FILENO, &problem) != OK)
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

enum lab_status lab_terminal_probe(int *colors)
{
    FILE *in = NULL;
    int fd;
    int found = 0;
    enum lab_status st = lab_terminal_find_input(&in, &fd);
    if (!st)
        st = lab_terminal_check(&found);
    if (in)
        fclose(in);
    if (!st)
        *colors = found > 0 ? found : 0;
    return st;
}
