/* fuzz_driver.c -- runs a fuzz target without libFuzzer, with those of its
 * options that the targets use.
 *
 * FUZZER [-max_total_time=SECONDS] [-seed=N] [-max_len=BYTES] DIRECTORY...
 *
 * First every file of the directories as it is, then mutations of them until
 * the time is over (at once: 0, the default), the same ones for the same seed.
 * FUZZ_KEEP_INPUT=FILE: the input of a crash is in FILE afterwards. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FILES = 10000 };

struct input {
    uint8_t *data;
    size_t size;
};

static struct input corpus[MAX_FILES];
static size_t corpus_count;
static uint64_t random_state;
static size_t max_bytes = 65536;

/* xorshift64*: the same sequence on every machine. */
static uint64_t draw(uint64_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * 2685821657736338717u >> 16) % below;
}

static void add_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(max_bytes);
    if (!f || !data || corpus_count == MAX_FILES) {
        fprintf(stderr, "%s: cannot read it\n", path);
        exit(2);
    }
    size_t size = fread(data, 1, max_bytes, f);
    fclose(f);
    corpus[corpus_count++] = (struct input){data, size};
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_directory(const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, by_name);
    if (n < 0) {
        fprintf(stderr, "%s: not a directory\n", path);
        exit(2);
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            add_file(name);
        free(names[i]);
    }
    free(names);
}

static const char *const words[] = {"- ",     "[",      "]",
                                    "{",      "}",      ": ",
                                    "\n",     "---",    "|",
                                    "$",      "$$",     "`",
                                    "```",    "*",      "&",
                                    "!",      "#",      "\n## ",
                                    "\\frac", "\\sqrt", "_{",
                                    "1e9",    "-1",     "null",
                                    "nan",    "0",      "999999999999999999999",
                                    "\t",     "\r\n",   "\x1b",
                                    "\xff",   "\"",     "'",
                                    "> ",     "|-|",    "from",
                                    "op: ",   "shape:", "values",
                                    "<b>",    "&#27;"};

/* Changes `data` in place; returns its new size. */
static size_t mutate(uint8_t *data, size_t size)
{
    const char *word = words[draw(sizeof(words) / sizeof(*words))];
    size_t len = strlen(word);
    size_t at = size ? draw(size) : 0;
    const struct input *other = &corpus[draw(corpus_count)];
    size_t n = 1 + draw(64);
    switch (draw(6)) {
    case 0: /* one bit */
        if (size)
            data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1: /* a word in */
        if (size + len <= max_bytes) {
            memmove(data + at + len, data + at, size - at);
            memcpy(data + at, word, len);
            size += len;
        }
        break;
    case 2: /* a piece out */
        n = n < size - at ? n : size - at;
        memmove(data + at, data + at + n, size - at - n);
        size -= n;
        break;
    case 3: /* a piece of another file over it */
        for (size_t i = 0; i < n && at + i < size && i < other->size; i++)
            data[at + i] = other->data[(at + i) % other->size];
        break;
    case 4: /* a piece twice */
        n = n < size - at ? n : size - at;
        if (size + n <= max_bytes) {
            memmove(data + at + n, data + at, size - at);
            size += n;
        }
        break;
    default: /* cut */
        if (draw(8) == 0)
            size = at;
        break;
    }
    return size;
}

static void run_one(const uint8_t *data, size_t size)
{
    const char *keep = getenv("FUZZ_KEEP_INPUT");
    FILE *f = keep ? fopen(keep, "wb") : NULL;
    if (f) {
        fwrite(data, 1, size, f);
        fclose(f);
    }
    LLVMFuzzerTestOneInput(data, size);
}

/* "-NAME=NUMBER"; other options are libFuzzer's and mean nothing here. */
static bool option(const char *arg, const char *name, uint64_t *out)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0)
        return false;
    *out = strtoull(arg + n, NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t seconds = 0;
    uint64_t seed = 1;
    uint64_t most = max_bytes;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (!option(argv[i], "-max_total_time=", &seconds) &&
            !option(argv[i], "-seed=", &seed))
            option(argv[i], "-max_len=", &most);
    time_t end = time(NULL) + (time_t)seconds;
    random_state = seed * 2654435761u + 1;
    max_bytes = most;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            add_directory(argv[i]);
    uint8_t *data = malloc(max_bytes);
    if (corpus_count == 0 || !data) {
        fprintf(stderr, "%s: no seeds\n", argv[0]);
        return 2;
    }
    unsigned long runs = 0;
    for (size_t i = 0; i < corpus_count; i++, runs++)
        run_one(corpus[i].data, corpus[i].size);
    while (time(NULL) < end) {
        const struct input *base = &corpus[draw(corpus_count)];
        size_t size = base->size;
        memcpy(data, base->data, size);
        for (uint64_t k = 1 + draw(8); k > 0; k--)
            size = mutate(data, size);
        run_one(data, size);
        runs++;
    }
    printf("%lu inputs, of %zu files\n", runs, corpus_count);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    free(data);
    return 0;
}
