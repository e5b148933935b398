/* fatbin.c -- finds the PTX text in what a compiler registers for a source file.
 *
 * nvcc puts code for several GPUs into one "fat binary". With
 * `-gencode arch=compute_90a,code=compute_90a --compress-mode=none` it holds PTX
 * alone, as text, once for each -gencode. clang embeds the file that it is given as it is: our build gives it
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

/* One more text; kept in the order of their GPUs. */
static bool add(struct simcuda_images *to, const char *name, size_t name_bytes,
                const char *text, size_t bytes, int arch)
{
    char *copy = lab_strndup(name, name_bytes);
    if (!copy)
        return false;
    int at = to->count++;
    for (; at > 0 && to->image[at - 1].arch > arch; at--)
        to->image[at] = to->image[at - 1];
    to->image[at] = (struct lab_sim_image){copy, text, bytes, arch};
    return true;
}

void simcuda_images_free(struct simcuda_images *images)
{
    for (int i = 0; images && i < images->count; i++)
        lab_free((void *)(uintptr_t)images->image[i].name);
    lab_free(images);
}

const struct lab_sim_image *simcuda_image(const struct simcuda_images *images,
                                          int capability)
{
    int i = images->count - 1;
    while (i > 0 && images->image[i].arch > capability)
        i--;
    /* A source that is the same for every GPU has the newest one's PTX alone. */
    return &images->image[images->image[i].arch > capability ? images->count - 1
                                                             : i];
}

/* The entry at `at`; false: there is none, or one that is cut off. */
static bool entry_at(const char *at, const char *end, struct entry *out)
{
    if ((size_t)(end - at) < sizeof(*out))
        return false;
    memcpy(out, at, sizeof(*out));
    size_t left = (size_t)(end - at);
    return out->header_bytes >= sizeof(*out) && out->header_bytes <= left &&
           out->bytes <= left - out->header_bytes;
}

/* Why nothing can be used, or NULL. */
static const char *read_entries(struct simcuda_images *to, const char *at,
                                const char *end)
{
    struct entry e;
    for (; entry_at(at, end, &e); at += e.header_bytes + e.bytes) {
        if (e.kind != ENTRY_PTX)
            continue;
        if (e.compressed_bytes ||
            (e.flags & (FLAG_COMPRESSED | FLAG_COMPRESSED_ZSTD)))
            return "PTX that is compressed";
        if (to->count == SIMCUDA_IMAGES)
            return "PTX for more GPUs than are known";
        const char *text = at + e.header_bytes;
        bool named = (uint64_t)e.name_at + e.name_bytes <= e.header_bytes;
        if (!add(to, named ? at + e.name_at : "PTX", named ? e.name_bytes : 3,
                 text, strnlen(text, e.bytes), (int)e.arch))
            return "PTX, and there is no memory for its name";
    }
    return to->count > 0 ? NULL : "a fat binary without PTX";
}

/* Why the data cannot be used, or NULL. */
static const char *read_data(struct simcuda_images *to, const char *data)
{
    static const char prologue[] = "//";
    struct binary b;
    if (memcmp(data, prologue, strlen(prologue)) == 0 ||
        strncmp(data, ".version", 8) == 0)
        return add(to, "PTX", 3, data, strlen(data), 0) ? NULL
                                                        : "PTX, without memory";
    memcpy(&b, data, sizeof(b));
    if (b.magic != BINARY_MAGIC || b.version != 1 || b.header_bytes < sizeof(b))
        return "a fat binary of an unknown kind";
    const char *first = data + b.header_bytes;
    return read_entries(to, first, first + b.bytes);
}

struct simcuda_images *simcuda_images(const void *wrapper, char *why,
                                      size_t cap)
{
    struct wrapper w;
    memcpy(&w, wrapper, sizeof(w));
    struct simcuda_images *images = lab_alloc(sizeof(*images));
    const char *wrong = !images ? "PTX, and there is no memory for its place"
                        : w.magic != WRAPPER_MAGIC || !w.data
                            ? "no fat binary"
                            : read_data(images, w.data);
    if (!wrong)
        return images;
    snprintf(why, cap, "%s", wrong);
    simcuda_images_free(images);
    return NULL;
}
