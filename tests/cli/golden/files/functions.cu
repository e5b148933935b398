/* Functions of CUDA, one a column of y: thread t takes element t and the one after it. */
enum { COLUMNS = 44 };

__global__ void functions(const float *f, const double *d, const int *a,
                          double *y)
{
    const int t = threadIdx.x;
    const int n = blockDim.x;
    const float x = f[t];
    const float z = f[(t + 1) % n];
    const double v = d[t];
    const double w = d[(t + 1) % n];
    const int i = a[t];
    const int j = a[(t + 1) % n];
    int e;
    float whole;
    double wide;
    double *out = y + t * COLUMNS;
    *out++ = frexpf(x, &e);
    *out++ = e;
    *out++ = frexp(v, &e);
    *out++ = e;
    *out++ = modff(x, &whole);
    *out++ = whole;
    *out++ = modf(v, &wide);
    *out++ = wide;
    *out++ = ilogbf(x);
    *out++ = ilogb(v);
    *out++ = nextafterf(x, z);
    *out++ = nextafter(v, w);
    *out++ = scalbnf(x, i % 200);
    *out++ = ldexp(v, i % 2200);
    *out++ = remquof(x, z, &e);
    *out++ = e & 7;
    *out++ = remquo(v, w, &e);
    *out++ = e & 7;
    *out++ = (double)llroundf(fminf(fmaxf(x, -1e9f), 1e9f));
    *out++ = (double)lrint(fmin(fmax(v, -1e9), 1e9));
    *out++ = norm3df(x, z, 0.5f);
    *out++ = norm4d(v, w, 0.5, 2);
    *out++ = __dadd_ru(v, w);
    *out++ = __dmul_rd(v, w);
    *out++ = __fsqrt_rd(fabsf(x));
    *out++ = __fadd_rz(x, z);
    *out++ = __hiloint2double(__double2hiint(v), __double2loint(v));
    *out++ = __vadd4(i, j);
    *out++ = __vmaxs2(i, j);
    *out++ = __vcmpgtu4(i, j);
    *out++ = __vabsdiffu4(i, j);
    *out++ = __vavgs2(i, j);
    *out++ = __vaddss4(i, j);
    *out++ = __vsadu4(i, j);
    *out++ = (int)__fns(i, 0, 3);
    *out++ = __hadd(i, j);
    *out++ = __rhadd(i, j);
    *out++ = __sad(i, j, 7);
    *out++ = (double)(__mul64hi((long long)i << 40, (long long)j << 30));
    *out++ = __funnelshift_rc(i, j, 36) == (unsigned)j;
    *out++ = __popc(__match_all_sync(~0u >> (32 - n), t / n, &e)) == n && e;
    *out++ = __popc(__match_any_sync(~0u >> (32 - n), (double)(t % 2)));
    memset(&whole, 0, sizeof(whole));
    *out++ = whole;
    memcpy(&whole, &x, sizeof(whole));
    *out++ = whole;
}
