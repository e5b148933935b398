/* What the tests' tensors are filled with. */
#include <time.h>

#include "gpu_harness.h"

static uint64_t state;

void gpu_seed(void)
{
    const char *given = getenv("LAB_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state = given ? strtoull(given, NULL, 10)
                  : (uint64_t)now.tv_sec * 1000003u ^ (uint64_t)now.tv_nsec;
    print_message("LAB_TEST_SEED=%llu repeats these inputs\n",
                  (unsigned long long)state);
}

/* SplitMix64 (G. Steele, D. Lea, C. Flood, 2014), to [0, 1). */
static double random_unit(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

float gpu_draw(enum fill fill, int64_t i)
{
    static const float hard[] = {0.0f, -0.0f, 100.0f, -100.0f, 1e-30f, -20.0f};
    static const float special[] = {NAN, INFINITY, -INFINITY};
    double u = random_unit();
    switch (fill) {
    case FILL_SMALL:
        return (float)(u / 2 - 0.25);
    case FILL_TIES:
        return (float)(int)(3 * u);
    case FILL_POSITIVE:
        return (float)u;
    case FILL_WIDE:
        return i < 6 ? hard[i] : (float)(60 * u - 30);
    case FILL_SPECIAL:
        return i % 7 == 3 ? special[i / 7 % 3] : (float)(4 * u - 2);
    case FILL_LOW:
        return -INFINITY;
    default:
        return (float)(4 * u - 2);
    }
}

int32_t gpu_draw_label(enum fill fill, int64_t i, int64_t limit)
{
    int32_t label = (int32_t)(random_unit() * (double)limit);
    if (fill == FILL_BAD_LABELS && i % 2 == 0)
        label = i % 4 == 0 ? -1 : (int32_t)limit;
    return label;
}
