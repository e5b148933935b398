/* gradcheck.c -- compares a gradient with central differences of the loss, in
 * double. */
#include "engine/gradcheck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "verify/reference_run.h"

struct checker {
    int64_t most; /* elements of a parameter */
    double loss;  /* where nothing is moved */
    struct lab_walk *w;
    struct lab_reference_run r;
    lab_check_cancelled_fn *cancelled;
    void *user;
    int64_t done; /* elements, of all that are asked for */
    int64_t of;
    void *host; /* one tensor of the walk */
    double *gradient;
};

static bool is_cancelled(const struct checker *c)
{
    return c->cancelled && c->cancelled(c->user, c->done, c->of);
}

static enum lab_status copy_tensor(struct checker *c, int tensor, double *out)
{
    const struct lab_tensor *t = &lab_walk_plan(c->w)->tensors[tensor];
    enum lab_status st = lab_walk_read(c->w, tensor, true, c->host);
    for (int64_t i = 0; i < t->count && !st; i++)
        out[i] = lab_number_at(c->host, t->dtype, i);
    return st;
}

/* Data and parameters of the walk's iteration, in double. */
static enum lab_status load(struct checker *c)
{
    const struct lab_plan *plan = c->r.plan;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        void *to = lab_reference_run_data(&c->r, i);
        if (t->role == LAB_TENSOR_DATA)
            st = lab_data_fill(lab_walk_data(c->w), plan, i,
                               lab_walk_iteration(c->w), to);
        else if (t->persistent)
            st = copy_tensor(c, i, to);
    }
    return st;
}

static enum lab_status run_phases(struct checker *c, enum lab_phase last)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->r.plan->n_steps && !st; i++) {
        if (c->r.plan->steps[i].phase > last)
            continue;
        st = lab_walk_look_for_stop(c->w);
        if (!st)
            st = lab_reference_run_step(&c->r, i, lab_walk_iteration(c->w));
    }
    return st;
}

static enum lab_status loss_at(struct checker *c, double *loss)
{
    enum lab_status st = run_phases(c, LAB_LOSS);
    *loss = *(double *)lab_reference_run_data(&c->r, c->r.plan->loss);
    return st;
}

static int gradient_of(const struct lab_plan *plan, int param)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].gradient_of == param)
            return i;
    }
    return -1;
}

/* The gradient to be judged, into c->gradient. Without one the loss should not
 * depend on the parameter: the slope must be 0. */
static enum lab_status analytic(struct checker *c, int param, int grad,
                                struct lab_check_result *result)
{
    const struct lab_tensor *t = &c->r.plan->tensors[param];
    if (grad < 0) {
        memset(c->gradient, 0, (size_t)t->count * sizeof(double));
        return LAB_OK;
    }
    result->from_walk = lab_walk_written(c->w, grad);
    if (result->from_walk)
        return copy_tensor(c, grad, c->gradient);
    enum lab_status st = run_phases(c, LAB_BACKWARD);
    memcpy(c->gradient, lab_reference_run_data(&c->r, grad),
           (size_t)t->count * sizeof(double));
    return st;
}

/* Of the loss, along one element. */
struct slopes {
    double left;
    double right;
    double both; /* the central difference */
};

static enum lab_status slopes_at(struct checker *c, double *p,
                                 struct slopes *out)
{
    double kept = *p;
    double h = 1e-6 * (1 + fabs(kept));
    double up = 0;
    double down = 0;
    *p = kept + h;
    double after = *p - kept; /* what really lies between, after rounding */
    enum lab_status st = loss_at(c, &up);
    *p = kept - h;
    double before = kept - *p;
    if (!st)
        st = loss_at(c, &down);
    *p = kept;
    out->left = (c->loss - down) / before;
    out->right = (up - c->loss) / after;
    out->both = (up - down) / (after + before);
    return st;
}

/* How far the gradient is from the slope. At a corner of the loss, as where a
 * relu's input is exactly 0, there are two slopes, and whatever lies between
 * them is a gradient. *corner: it was judged so. */
static double error_of(double gradient, const struct slopes *s, bool *corner)
{
    double error = fabs(gradient - s->both);
    double unit = 1e-5 * (1 + fabs(s->both));
    double low = fmin(s->left, s->right);
    double high = fmax(s->left, s->right);
    *corner = error > 1e-7 * (1 + fabs(s->both)) && high - low > unit &&
              gradient >= low - unit && gradient <= high + unit;
    return *corner ? 0 : error;
}

static int64_t checked_of(const struct checker *c, const struct lab_tensor *t)
{
    return t->count < c->most ? t->count : c->most;
}

static enum lab_status check_parameter(struct checker *c, int param,
                                       struct lab_check_result *result)
{
    const struct lab_tensor *t = &c->r.plan->tensors[param];
    int grad = gradient_of(c->r.plan, param);
    double *p = lab_reference_run_data(&c->r, param);
    double largest = 0;
    *result = (struct lab_check_result){.of = t->count};
    snprintf(result->parameter, sizeof(result->parameter), "%s", t->name);
    enum lab_status st = analytic(c, param, grad, result);
    int64_t n = checked_of(c, t);
    for (int64_t k = 0; k < n && !st; k++) {
        int64_t i = k * t->count / n;
        struct slopes slope;
        bool corner = false;
        if (is_cancelled(c))
            return lab_fail(LAB_E_CANCELLED, "the check was cancelled");
        st = slopes_at(c, &p[i], &slope);
        double error = error_of(c->gradient[i], &slope, &corner);
        largest = fmax(largest, fabs(slope.both));
        result->elements++;
        result->corners += corner;
        c->done++;
        if (k > 0 && !(error > result->max_error) && !isnan(error))
            continue;
        result->max_error = error;
        result->worst = i;
        result->analytic = c->gradient[i];
        result->numeric = slope.both;
        if (isnan(error))
            break; /* nothing is worse */
    }
    double unit = result->from_walk ? 1e-5 : 1e-7;
    result->tolerance = unit * (1 + largest);
    result->passed = result->max_error <= result->tolerance; /* not for NaN */
    return st;
}

static enum lab_status take_memory(struct checker *c)
{
    int64_t most = 1;
    for (int i = 0; i < c->r.plan->n_tensors; i++) {
        if (c->r.plan->tensors[i].count > most)
            most = c->r.plan->tensors[i].count;
    }
    c->host = lab_alloc_array((size_t)most, sizeof(double));
    c->gradient = lab_alloc_array((size_t)most, sizeof(double));
    if (!c->host || !c->gradient)
        return lab_fail(LAB_E_NOMEM, "no memory to check the gradient");
    return LAB_OK;
}

static bool wanted(const struct lab_tensor *t, const char *name)
{
    bool all = !name || !name[0];
    return t->role == LAB_TENSOR_PARAM && (all || strcmp(t->name, name) == 0);
}

static enum lab_status check_all(struct checker *c, const char *name,
                                 struct lab_check_result **out, int *n)
{
    const struct lab_plan *plan = c->r.plan;
    int count = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!wanted(&plan->tensors[i], name))
            continue;
        count++;
        c->of += checked_of(c, &plan->tensors[i]);
    }
    if (count == 0)
        return lab_fail(LAB_E_NOTFOUND, "'%s' is no parameter of this network",
                        name ? name : "");
    struct lab_check_result *list =
        lab_alloc_array((size_t)count, sizeof(*list));
    if (!list)
        return lab_fail(LAB_E_NOMEM, "no memory to check the gradient");
    enum lab_status st = LAB_OK;
    for (int i = 0, k = 0; i < plan->n_tensors && !st; i++) {
        if (wanted(&plan->tensors[i], name))
            st = check_parameter(c, i, &list[k++]);
    }
    if (st) {
        lab_free(list);
        return st;
    }
    *out = list;
    *n = count;
    return LAB_OK;
}

enum lab_status lab_gradcheck(struct lab_walk *w,
                              const struct lab_network_spec *spec,
                              const char *parameter,
                              lab_check_cancelled_fn *cancelled, void *user,
                              struct lab_check_result **out, int *n)
{
    return lab_gradcheck_sample(w, spec, parameter, LAB_CHECK_ELEMENTS,
                                cancelled, user, out, n);
}

enum lab_status lab_gradcheck_sample(struct lab_walk *w,
                                     const struct lab_network_spec *spec,
                                     const char *parameter, int64_t most,
                                     lab_check_cancelled_fn *cancelled,
                                     void *user, struct lab_check_result **out,
                                     int *n)
{
    struct checker c = {
        .w = w, .most = most, .cancelled = cancelled, .user = user};
    struct lab_data_shapes shapes;
    lab_data_get_shapes(lab_walk_data(w), &shapes);
    enum lab_status st = lab_reference_run_open(&c.r, spec, &shapes);
    if (!st)
        st = take_memory(&c);
    if (!st)
        st = load(&c);
    if (!st)
        st = loss_at(&c, &c.loss);
    if (!st)
        st = check_all(&c, parameter, out, n);
    lab_reference_run_close(&c.r);
    lab_free(c.host);
    lab_free(c.gradient);
    return st;
}
