// run: --grid 2 --block 40 --budget 60000 --arg in:double[80]=random --arg inout:double[80]=zero --arg int:80
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
#include <cstdio>

// A thread's own struct, by pointer, with a method that another fills; and printf.
struct state {
    double value;
    int steps;
    bool done;
    __device__ void step(double by)
    {
        value = value * 0.5 + by; // fault 2: budget
        steps++; // fault 1: uninitialised // fault 2: budget
        done = steps > 3; // fault 2: budget
    }
};

__device__ __noinline__ void fill(state *s, double v)
{
    s->value = v;
    s->done = false;
#if FAULT != 1 // a member is forgotten
    s->steps = 0;
#endif
}

__global__ void printer(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    state s;
    fill(&s, in[i]);
#if FAULT == 2 // a way that never ends for some
    while (!(s.done && s.value < 0.1)) { // fault 2: budget
        s.step(0.1); // fault 2: budget
    }
#else
    while (!s.done) // fault 1: uninitialised
        s.step(0.1); // fault 1: uninitialised
#endif
    if (i == 3)
        printf("%d: %g after %d\n", i, s.value, s.steps);
#if FAULT == 3 // the const is cast away
    const_cast<double *>(in)[i] = s.value; // fault 3: memory
#endif
#if FAULT == 4 // bytes, not elements
    *reinterpret_cast<double *>(reinterpret_cast<char *>(out) + 4 * i) = s.value; // fault 4: memory
#else
    out[i] = s.value;
#endif
}
