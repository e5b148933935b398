/* Memory for the length of a call, kept between calls, in one slot: kernels run one after
 * the other. A call that finds it empty, as the second room of a kernel that holds two,
 * allocates. */
#include "cpu/room.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/mem.h"

/* In front of the floats, a line of the cache. */
struct room {
    size_t bytes; /* of floats */
    _Alignas(64) float data[];
};

static _Atomic(struct room *) kept;

float *lab_room_take(int64_t count)
{
    size_t bytes = (size_t)count * sizeof(float);
    struct room *r = atomic_exchange(&kept, NULL);
    if (r && r->bytes >= bytes)
        return r->data;
    lab_free(r);
    r = lab_alloc_uncleared(sizeof(*r) + bytes);
    if (!r)
        return NULL;
    r->bytes = bytes;
    return r->data;
}

void lab_room_give(float *room)
{
    if (!room)
        return;
    struct room *r =
        (struct room *)(void *)((char *)room - offsetof(struct room, data));
    lab_free(r->bytes <= LAB_ROOM_KEPT ? atomic_exchange(&kept, r) : r);
}
