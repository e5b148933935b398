#include "args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *out = v;
    return true;
}

bool lab_arg_is_number(const char *text, int64_t *out)
{
    int64_t v;
    if (!read_number(text, &v) || v < 0)
        return false;
    *out = v;
    return true;
}

int64_t lab_arg_number(const char *text, const char *option, int64_t least,
                       int64_t most, struct argp_state *state)
{
    int64_t v = least;
    bool right = read_number(text, &v) && v >= least && v <= most;
    if (!right && most == INT64_MAX)
        argp_error(state, "--%s '%s': a whole number from %lld is needed",
                   option, text, (long long)least);
    else if (!right)
        argp_error(state, "--%s '%s': a whole number from %lld to %lld", option,
                   text, (long long)least, (long long)most);
    return v;
}

int lab_arg_device(const char *text, struct argp_state *state)
{
    enum { MOST_DEVICES = 1024 };
    return (int)lab_arg_number(text, "device", 0, MOST_DEVICES - 1, state);
}

uint64_t lab_arg_seed(const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        argp_error(state,
                   "--seed '%s': a whole number from 0 to 2^64 - 1 is needed",
                   text);
    return v;
}

const char *lab_arg_one_of(const char *text, const char *const *names,
                           const char *option, struct argp_state *state)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0)
            return text;
    }
    argp_error(state, "--%s '%s': use %s, %s%s%s", option, text, names[0],
               names[1], names[2] ? " or " : "", names[2] ? names[2] : "");
    return text;
}

const char *lab_arg_backend(const char *text, struct argp_state *state)
{
    static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
    return lab_arg_one_of(text, backends, "backend", state);
}

const char *lab_arg_counters(const char *text, struct argp_state *state)
{
    static const char *const sets[] = {"off", "basic", "full", NULL};
    if (strchr(text, ':'))
        argp_error(state,
                   "--counters '%s': nothing follows a set: use off, basic or "
                   "full, which count every step; `count step`, in the "
                   "stepper, counts one",
                   text);
    return lab_arg_one_of(text, sets, "counters", state);
}
