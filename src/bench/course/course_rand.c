/* The generator of the course's numbers. */
#include "bench/course_rand.h"

enum { DEGREE = 31, APART = 3, THROWN_AWAY = 10 * DEGREE };

/* The first 31 words: 16807 times the one before modulo 2^31 - 1, in signed
 * arithmetic by Schrage's method, as the library does it. */
static int32_t first_word(int32_t before)
{
    int32_t v = 16807 * (before % 127773) - 2836 * (before / 127773);
    return v < 0 ? v + LAB_COURSE_RAND_MAX : v;
}

void lab_course_rand_init(struct lab_course_rand *r, uint32_t seed)
{
    int32_t v = (int32_t)(seed ? seed : 1);
    for (int i = 0; i < DEGREE; i++) {
        r->word[i] = (uint32_t)v;
        v = first_word(v);
    }
    r->at = APART; /* the library begins there */
    for (int i = 0; i < THROWN_AWAY; i++)
        (void)lab_course_rand_next(r);
}

int32_t lab_course_rand_next(struct lab_course_rand *r)
{
    int near = (r->at + DEGREE - APART) % DEGREE;
    uint32_t v = r->word[r->at] + r->word[near];
    r->word[r->at] = v;
    r->at = (r->at + 1) % DEGREE;
    return (int32_t)(v >> 1);
}
