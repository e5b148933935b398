/* Runs `lapenna-lab profile` as a child process for the tests of
 * profile_program.h, and keeps its output and exit status. */
#include "profile_program.h"

#include "test.h"

#include <sys/wait.h>

#include "store_samples.h"

char output[1 << 20];
char errors[1 << 16];

int profile(const char *db, const char *args)
{
    char command[4096];
    size_t n = (size_t)snprintf(command, sizeof(command), "'%s' profile ",
                                getenv("LAB_EXE"));
    for (; *args && n < sizeof(command) - 600; args++) {
        if (*args == '@')
            n += (size_t)snprintf(command + n, 512, "--db '%s'", db);
        else
            command[n++] = *args;
    }
    snprintf(command + n, sizeof(command) - n, " </dev/null 2>'%s'",
             sample_path("stderr"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof(output) - 1, pipe)] = '\0';
    int status = pclose(pipe);
    FILE *f = fopen(sample_path("stderr"), "r");
    assert_non_null(f);
    errors[fread(errors, 1, sizeof(errors) - 1, f)] = '\0';
    fclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

json_t *line_object(int nth)
{
    const char *line = output;
    json_error_t error;
    for (; nth > 0 && line; nth--) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line || !*line)
        return NULL;
    size_t length = strcspn(line, "\n");
    json_t *object = json_loadb(line, length, 0, &error);
    if (!json_is_object(object))
        fail_msg("not an object: %.*s", (int)length, line);
    return object;
}

const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "(none)";
}

int64_t int_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v))
        fail_msg("%s is not an integer", key);
    return json_integer_value(v);
}

double real_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v))
        fail_msg("%s is not a number", key);
    return json_number_value(v);
}
