/* doctor: lessons, terminal, database. */
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "doctor.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "store/query.h"
#include "store/tuned.h"
#include "ui/terminal.h"

enum { TEXT = 1024, LEAST_COLUMNS = 60, LEAST_LINES = 16 };

/* ---- lessons ---- */

void lab_doctor_lessons(struct lab_doctor *d)
{
    struct lab_catalog *c = NULL;
    char text[TEXT];
    size_t broken = 0;
    if (lab_catalog_load(&c, NULL)) {
        lab_doctor_say_error(d, "lessons", LAB_DOCTOR_MISSING,
                             "install the program again, or name the directory "
                             "above lessons in LAPENNA_LAB_DATA_DIR");
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        broken += c->items[i].lesson == NULL;
    snprintf(text, sizeof(text), "%zu in %s", c->count, c->dir);
    if (broken) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, ", %zu cannot be read",
                 broken);
    }
    lab_doctor_say(
        d, "lessons", broken ? LAB_DOCTOR_WARNING : LAB_DOCTOR_OK, text,
        broken ? "`lapenna-lab lesson lint` says what is wrong" : NULL);
    lab_catalog_free(c);
}

/* ---- terminal ---- */

void lab_doctor_terminal(struct lab_doctor *d)
{
    struct winsize size = {0};
    int colors = 0;
    const char *type = NULL;
    char place[32];
    char text[TEXT];
    const char *charset = nl_langinfo(CODESET);
    bool utf8 = strcmp(charset, "UTF-8") == 0;
    const char *term = getenv("TERM");
    /* A screen that is open has answered; asking would take curses' place. */
    if (!d->doc && lab_terminal_probe(&colors, &type)) {
        lab_doctor_say_error(d, "terminal", LAB_DOCTOR_MISSING,
                             "--plain and the commands need none");
        return;
    }
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    bool known = size.ws_col > 0 && size.ws_row > 0;
    bool small =
        known && (size.ws_col < LEAST_COLUMNS || size.ws_row < LEAST_LINES);
    if (known)
        snprintf(place, sizeof(place), "%dx%d", (int)size.ws_col,
                 (int)size.ws_row);
    else
        snprintf(place, sizeof(place), "of unknown size");
    if (d->doc)
        snprintf(text, sizeof(text), "%s, %s, %s", term ? term : "?", place,
                 charset);
    else
        snprintf(text, sizeof(text), "%s, %s, %d colours, %s", term, place,
                 colors, charset);
    bool stand_in = type && strcmp(type, term) != 0;
    if (stand_in)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "; not in the terminfo database: used as %s", type);
    lab_doctor_say(
        d, "terminal",
        small || stand_in || !utf8 ? LAB_DOCTOR_WARNING : LAB_DOCTOR_OK, text,
        small      ? "the screens need at least 60x16"
        : !utf8    ? "set LC_ALL or LANG to a locale with UTF-8 for "
                     "formulas and finer charts"
        : stand_in ? "install the terminfo entry of this terminal "
                     "(Debian: ncurses-term, kitty-terminfo)"
                   : NULL);
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
    char dir[TEXT];
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
    int64_t told;
    int64_t more;
};

static bool tell_winner(void *user, const struct lab_tuned_row *r)
{
    enum { MOST = 12 };
    struct winners *w = user;
    char text[TEXT];
    if (w->told == MOST) {
        w->more++;
        return true;
    }
    snprintf(text, sizeof(text),
             "%s %s %s on %s: %s, the fastest of %lld, measured %s", r->lab,
             r->precision, r->size_class, r->device, r->candidate,
             (long long)r->candidates, r->measured ? r->measured : "n/a");
    lab_doctor_say(w->d, "tuned", LAB_DOCTOR_OK, text, NULL);
    w->told++;
    return true;
}

static void cannot_tell(struct lab_doctor *d, const char *option)
{
    struct lab_str remedy;
    lab_str_init(&remedy);
    lab_str_add_char(&remedy, '`');
    lab_suggest_command(&remedy, option, LAB_WORDS("lab", "tune", "gemm"));
    lab_str_add(&remedy, "` measures again");
    lab_doctor_say_error(d, "tuned", LAB_DOCTOR_WARNING, lab_str_text(&remedy));
    lab_str_release(&remedy);
}

static void tell_winners(struct lab_doctor *d, struct lab_database *db,
                         const char *option)
{
    struct winners w = {.d = d};
    char text[TEXT];
    if (lab_tuned_list(db, tell_winner, &w)) {
        cannot_tell(d, option);
    } else if (w.more > 0) {
        snprintf(text, sizeof(text), "and %lld more", (long long)w.more);
        lab_doctor_say(d, "tuned", LAB_DOCTOR_OK, text, NULL);
    }
}

/* lab_error() of a database that cannot be used: "FILE: what is wrong; what can
 * be done"; or `remedy` is what can be done. */
static void say_refused(struct lab_doctor *d, const char *path,
                        const char *remedy)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add(&text, lab_error());
    char *at = text.data;
    if (at && strncmp(at, path, strlen(path)) == 0)
        at += strlen(path);
    char *end = at ? strstr(at, "; ") : NULL;
    if (end)
        *end = '\0';
    if (!remedy)
        remedy = end ? end + 2 : "name another file with --db FILE";
    lab_doctor_say(d, "database", LAB_DOCTOR_WARNING, lab_str_text(&text),
                   remedy);
    lab_str_release(&text);
}

/* Of an older schema, or with nothing in it: any writer mends that. */
static void say_unfinished(struct lab_doctor *d, const char *path,
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
    say_refused(d, path, lab_str_text(&remedy));
    lab_str_release(&remedy);
}

/* A database that could be read. */
static void say_usable(struct lab_doctor *d, const char *path, int64_t runs,
                       bool checked)
{
    char text[TEXT];
    bool writable = access(path, W_OK) == 0 && can_make(path);
    snprintf(text, sizeof(text), "%s, schema %d, %lld run%s, %s%s", path,
             lab_database_schema_version(), (long long)runs,
             runs == 1 ? "" : "s", writable ? "writable" : "read only",
             checked ? "" : ", too large to look for damage here");
    lab_doctor_say(d, "database", writable ? LAB_DOCTOR_OK : LAB_DOCTOR_WARNING,
                   text,
                   writable ? NULL
                            : "change its rights, and its directory's, with "
                              "`chmod u+w`, or name another file with --db "
                              "FILE");
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
        say_unfinished(d, path, option);
        return;
    }
    if (!st)
        st = lab_database_check_most(db, most_checked, &checked);
    if (!st)
        st = lab_query_runs(db, count_run, &runs);
    if (st) {
        say_refused(d, path, NULL);
    } else {
        say_usable(d, path, runs, checked);
        tell_winners(d, db, option);
    }
    lab_database_close(db);
}

void lab_doctor_database(struct lab_doctor *d, const char *db)
{
    struct lab_str path;
    char text[TEXT];
    lab_str_init(&path);
    if (db)
        lab_str_add(&path, db);
    else if (lab_database_default_path(&path)) {
        lab_doctor_say_error(d, "database", LAB_DOCTOR_WARNING,
                             "set HOME, or name a file with --db");
        lab_str_release(&path);
        return;
    }
    if (access(lab_str_text(&path), F_OK) == 0) {
        look_into(d, lab_str_text(&path), db);
    } else {
        bool possible = can_make(lab_str_text(&path));
        snprintf(text, sizeof(text), "%s, schema %d, %s", lab_str_text(&path),
                 lab_database_schema_version(),
                 possible ? "made with the first run"
                          : "not there, and its folder cannot be written");
        lab_doctor_say(d, "database",
                       possible ? LAB_DOCTOR_OK : LAB_DOCTOR_WARNING, text,
                       possible ? NULL : "name another file with --db FILE");
    }
    lab_str_release(&path);
}
