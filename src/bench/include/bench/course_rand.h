/* course_rand.h -- the numbers of the course's vector addition: rand() of the
 * GNU C library, the same on every machine. */
#pragma once
#include <stdint.h>

/* x(k) = x(k-3) + x(k-31) modulo 2^32, without the lowest bit: the library's
 * additive feedback generator of degree 31 (TYPE_3), as random(3) has it. */
struct lab_course_rand {
    uint32_t word[31]; /* the last 31, the oldest at `at` */
    int at;
};

enum { LAB_COURSE_RAND_MAX = 2147483647 };

/* srand(seed); a seed of 0 is one of 1, as there. */
void lab_course_rand_init(struct lab_course_rand *r, uint32_t seed);
/* rand(): 0 to LAB_COURSE_RAND_MAX. */
int32_t lab_course_rand_next(struct lab_course_rand *r);
