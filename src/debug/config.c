/* config.c -- finds and reads the configuration file, and reports what is wrong in
 * it with its line. */
#include "debug/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

enum { MOST_BYTES = 1 << 20 };

static struct {
    bool read;
    char path[4096];
    char *text; /* its bytes; names and values point into it */
    struct lab_setting *list;
    size_t room;
    struct lab_config config;
} file;

static void find_path(void)
{
    int n = lab_user_path("XDG_CONFIG_HOME", ".config", "config", file.path,
                          sizeof(file.path));
    if (n < 0 || (size_t)n >= sizeof(file.path))
        file.path[0] = '\0';
}

static enum lab_status read_text(int fd, int64_t bytes)
{
    if (bytes > MOST_BYTES)
        return lab_fail(LAB_E_PARSE, "[config.too-large] %s: larger than 1 MiB",
                        file.path);
    size_t size = (size_t)bytes;
    file.text = lab_alloc(size + 1);
    if (!file.text)
        return lab_no_memory("the configuration");
    enum lab_status st = lab_file_read(fd, file.path, 0, file.text, size);
    if (st)
        return st;
    file.text[size] = '\0';
    return strlen(file.text) == size
               ? LAB_OK
               : lab_fail(LAB_E_PARSE,
                          "[config.byte-zero] %s: no text: a byte 0 is in it",
                          file.path);
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

static enum lab_status read_line(char *line, int number)
{
    char *name = trim(line);
    char *equals = strchr(name, '=');
    if (!name[0] || name[0] == '#')
        return LAB_OK;
    /* "key.= = v": a name may be an equals sign itself. */
    if (strncmp(name, "key.=", 5) == 0)
        equals = strchr(name + 5, '=');
    if (!equals || equals == name)
        return lab_fail(
            LAB_E_PARSE,
            "[config.line] %s:%d:%d: \"%s\" is not a line NAME = VALUE",
            file.path, number, (int)(name - line) + 1, name);
    *equals = '\0';
    size_t n = (size_t)file.config.n;
    if (lab_grow(&file.list, n, &file.room, sizeof(*file.list),
                 "the configuration"))
        return LAB_E_NOMEM;
    struct lab_setting *s = &file.list[n];
    *s = (struct lab_setting){trim(name), trim(equals + 1), number};
    s->name_at = (int)(s->name - line) + 1;
    s->value_at = (int)(s->value - line) + 1;
    file.config.n++;
    return file.list[n].value[0]
               ? LAB_OK
               : lab_config_fail(&file.list[n],
                                 "[config.value-missing] %s has no value",
                                 file.list[n].name);
}

static enum lab_status read_file(void)
{
    find_path();
    file.config.path = file.path;
    if (!file.path[0])
        return LAB_OK;
    int64_t bytes;
    int fd;
    enum lab_status st = lab_file_open(file.path, &fd, &bytes);
    if (st)
        return errno == ENOENT || errno == ENOTDIR ? LAB_OK : st;
    st = read_text(fd, bytes);
    close(fd);
    char *next = file.text;
    for (int number = 1; !st && next; number++) {
        char *line = next;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        st = read_line(line, number);
    }
    file.config.list = file.list;
    return st;
}

static void forget(void)
{
    lab_free(file.text);
    lab_free(file.list);
    file.text = NULL;
    file.list = NULL;
    file.room = 0;
    file.read = false;
    file.config = (struct lab_config){.path = file.path};
}

enum lab_status lab_config_get(const struct lab_config **out)
{
    enum lab_status st = LAB_OK;
    if (!file.read) {
        forget();
        st = read_file();
        file.read = !st;
    }
    *out = &file.config;
    return st;
}

const struct lab_setting *lab_config_find(const struct lab_config *config,
                                          const char *name)
{
    for (int i = config->n - 1; i >= 0; i--)
        if (strcmp(config->list[i].name, name) == 0)
            return &config->list[i];
    return NULL;
}

enum lab_status lab_config_fail_at(const struct lab_setting *setting)
{
    const bool comment = strstr(setting->value, " #") != NULL;
    return lab_fail_context(
        LAB_E_PARSE, "%s:%d:%d%s", file.path, setting->line, setting->value_at,
        comment ? " (a comment needs a line of its own)" : "");
}

enum lab_status lab_config_fail(const struct lab_setting *setting,
                                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(LAB_E_PARSE, fmt, args);
    va_end(args);
    return lab_config_fail_at(setting);
}

enum lab_status lab_config_fail_name(const struct lab_setting *setting,
                                     const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(LAB_E_PARSE, fmt, args);
    va_end(args);
    return lab_fail_context(LAB_E_PARSE, "%s:%d:%d", file.path, setting->line,
                            setting->name_at);
}
