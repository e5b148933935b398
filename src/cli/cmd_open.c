/* cmd_open.c -- lapenna-lab [LESSON]: the screens, or text where there is no
 * terminal.
 *
 * Decides which: home screen, stepper, --plain on standard input, or the tour
 * of debug/walkthrough.h. Everything after that is theirs. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "debug/plain.h"
#include "ui/screens.h"
#include "debug/walkthrough.h"
#include "debug/lesson_run.h"

static const struct lab_command_line usage = {
    .name = "lapenna-lab",
    .commands = LAB_FOR_SCREEN,
    .knows = LAB_FOR_SHARED,
    .args = "[LESSON]",
    .doc = "The home screen, or LESSON in the stepper. With --plain the "
           "stepper reads its commands from standard input and answers in "
           "lines of text.\v"
           "LESSON is an id of `lapenna-lab lesson list` or a path. Without a "
           "terminal and without LESSON the default lesson is walked once as "
           "text, trained for five epochs and recorded."};

/* The id of the lesson that may have been meant; the caller's, or NULL. */
static char *nearest_lesson(const char *word)
{
    struct lab_catalog *c = NULL;
    char *found = NULL;
    if (lab_catalog_load(&c, NULL))
        return NULL;
    const char **ids = lab_alloc_array(c->count, sizeof(*ids));
    for (size_t i = 0; ids && i < c->count; i++)
        ids[i] = c->items[i].id;
    const char *near = ids ? lab_nearest(word, ids, c->count) : NULL;
    if (near)
        found = lab_strdup(near);
    lab_free(ids);
    lab_catalog_free(c);
    return found;
}

static int unknown_word(const char *word, const char *command)
{
    char *lesson = nearest_lesson(word);
    enum lab_status st =
        command && lesson
            ? lab_fail(LAB_E_NOTFOUND,
                       "[usage.first-word] no command and no lesson '%s': did "
                       "you mean the command %s, or the lesson %s?",
                       word, command, lesson)
        : command || lesson
            ? lab_fail(LAB_E_NOTFOUND,
                       "[usage.first-word] no command and no lesson '%s': did "
                       "you mean the %s %s?",
                       word, command ? "command" : "lesson",
                       command ? command : lesson)
            : lab_fail(LAB_E_NOTFOUND,
                       "[usage.first-word] no command and no lesson '%s': "
                       "`lapenna-lab --help` has the commands, `lapenna-lab "
                       "lesson list` the lessons",
                       word);
    lab_free(lesson);
    return lab_exit_error(st);
}

static bool is_lesson(const char *word)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_lesson_find(word, &path);
    lab_str_release(&path);
    return st != LAB_E_NOTFOUND;
}

static bool has_terminal(void)
{
    if (!isatty(STDOUT_FILENO))
        return false;
    if (isatty(STDIN_FILENO))
        return true;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC); /* for the keys */
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A lesson that cannot be read is worse than a terminal that is missing. */
static int no_terminal(const char *lesson, const char *db)
{
    struct lab_lesson *l = NULL;
    enum lab_status st = lab_lesson_run_lesson(lesson, db, &l);
    lab_lesson_free(l);
    if (st)
        return lab_exit_error(st);
    struct lab_str step =
        lab_suggest_command_text(db, LAB_WORDS("step", lesson));
    st = lab_fail(LAB_E_UNSUPPORTED,
                  "[terminal.none] the stepper's screen needs a terminal: use "
                  "--plain, or `%s`",
                  lab_str_text(&step));
    lab_str_release(&step);
    return lab_exit_error(st);
}

/* The first word that is neither an option nor the value of one; NULL: none. */
static const char *first_word(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
        i += lab_options_takes_next(argv[i], usage.commands) ? 2 : 1;
    return i < argc && argv[i][0] != '-' ? argv[i] : NULL;
}

int lab_cmd_open(int argc, char **argv,
                 const char *(*nearest)(const char *word))
{
    struct lab_options o;
    /* A mistyped command is no lesson with arguments: report what it may be. */
    if (argc > 1 && argv[1][0] != '-' && !is_lesson(argv[1]))
        return unknown_word(argv[1], nearest(argv[1]));
    const char *word = first_word(argc, argv);
    const char *command = word && !is_lesson(word) ? nearest(word) : NULL;
    if (command && strcmp(command, word) == 0)
        return lab_exit_error(
            lab_fail(LAB_E_USAGE,
                     "[usage.command-first] options come behind the command: "
                     "lapenna-lab %s ...",
                     command));
    lab_options_parse(&o, argc, argv, &usage);
    if (o.json)
        return lab_exit_error(
            lab_fail(LAB_E_USAGE,
                     "[usage.json] --json belongs to a command: step, run, "
                     "lesson, profile or doctor; see `lapenna-lab --help`"));
    bool screens = o.record || o.replay || o.cast || o.picture;
    if (screens && (o.plain || (!o.picture && !has_terminal())))
        return lab_exit_error(lab_fail(
            LAB_E_USAGE,
            "[usage.screens] --record, --replay, --cast and --picture are the "
            "screens': all but --picture need a terminal, and none goes with "
            "--plain"));
    if (o.lesson && !is_lesson(o.lesson))
        return unknown_word(o.lesson, nearest(o.lesson));
    if (o.plain)
        return lab_plain_session(&o, o.lesson ? o.lesson : LAB_DEFAULT_LESSON);
    if (o.picture)
        return lab_open_screens(&o);
    if (!o.lesson && !isatty(STDOUT_FILENO))
        return lab_walkthrough(&o);
    if (o.lesson && !has_terminal())
        return no_terminal(o.lesson, o.db);
    return lab_open_screens(&o);
}
