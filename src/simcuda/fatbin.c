/* fatbin.c -- finds the PTX text in what a compiler registers for a source file.
 *
 * nvcc puts code for several GPUs into one "fat binary". With
 * `-arch=compute_90a -code=compute_90a --compress-mode=none` it holds PTX alone,
 * as text. clang embeds the file that it is given as it is: our build gives it
 * the PTX. NVIDIA does not document the format; the fields below are what nvcc
 * 12 and 13 write, and what looks different is refused. */
#include "simcuda_priv.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    WRAPPER_MAGIC = 0x466243b1,
    ENTRY_PTX = 1,
    FLAG_COMPRESSED = 0x2000,
    FLAG_COMPRESSED_ZSTD = 0x8000
};
#define BINARY_MAGIC 0xBA55ED50u

struct wrapper {
    int32_t magic;
    int32_t version;
    const void *data;
    const void *unused;
};

struct binary {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t bytes; /* of the payload, padded with NUL */
    uint32_t compressed_bytes;
    uint32_t options_at;
    uint16_t minor; /* of the PTX version */
    uint16_t major;
    uint32_t arch;
    uint32_t name_at; /* from the entry's start */
    uint32_t name_bytes;
    uint64_t flags;
};

static struct lab_sim_image *image_of(const char *name, size_t name_bytes,
                                      const char *text, size_t bytes)
{
    struct lab_sim_image *image = lab_alloc(sizeof(*image));
    char *copy = lab_strndup(name, name_bytes);
    if (!image || !copy) {
        lab_free(image);
        lab_free(copy);
        return NULL;
    }
    *image = (struct lab_sim_image){copy, text, bytes};
    return image;
}

void simcuda_image_free(struct lab_sim_image *image)
{
    if (!image)
        return;
    lab_free((void *)(uintptr_t)image->name);
    lab_free(image);
}

/* The PTX for the newest GPU. */
static const char *newest(const char *at, const char *end, struct entry *best)
{
    const char *found = NULL;
    while ((size_t)(end - at) >= sizeof(struct entry)) {
        struct entry e;
        memcpy(&e, at, sizeof(e));
        size_t left = (size_t)(end - at);
        if (e.header_bytes < sizeof(e) || e.header_bytes > left ||
            e.bytes > left - e.header_bytes)
            return NULL;
        if (e.kind == ENTRY_PTX && (!found || e.arch > best->arch)) {
            found = at;
            *best = e;
        }
        at += e.header_bytes + e.bytes;
    }
    return found;
}

struct lab_sim_image *simcuda_image(const void *wrapper, char *why, size_t cap)
{
    static const char prologue[] = "//";
    struct wrapper w;
    struct binary b;
    struct entry e = {0};
    memcpy(&w, wrapper, sizeof(w));
    if (w.magic != WRAPPER_MAGIC || !w.data) {
        snprintf(why, cap, "no fat binary, but magic 0x%x", (unsigned)w.magic);
        return NULL;
    }
    const char *data = w.data;
    if (memcmp(data, prologue, strlen(prologue)) == 0 ||
        strncmp(data, ".version", 8) == 0)
        return image_of("PTX", 3, data, strlen(data));
    memcpy(&b, data, sizeof(b));
    if (b.magic != BINARY_MAGIC || b.version != 1 ||
        b.header_bytes < sizeof(b)) {
        snprintf(why, cap, "a fat binary of an unknown kind (0x%x, version %u)",
                 b.magic, b.version);
        return NULL;
    }
    const char *first = data + b.header_bytes;
    const char *found = newest(first, first + b.bytes, &e);
    if (!found) {
        snprintf(why, cap, "a fat binary without PTX");
        return NULL;
    }
    if (e.compressed_bytes ||
        (e.flags & (FLAG_COMPRESSED | FLAG_COMPRESSED_ZSTD))) {
        snprintf(why, cap, "PTX that is compressed");
        return NULL;
    }
    const char *text = found + e.header_bytes;
    size_t bytes = strnlen(text, e.bytes);
    bool named = (uint64_t)e.name_at + e.name_bytes <= e.header_bytes;
    return image_of(named ? found + e.name_at : "PTX", named ? e.name_bytes : 3,
                    text, bytes);
}
