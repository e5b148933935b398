/* Networks that cannot be built: the message has the file, the line, the nodes
 * and the shapes. */
#include "test.h"

#include "unit/net.h"

static void begin(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 5,4", NULL);
    net_labels(n, "y 5", 3);
}

static void end(struct net *n)
{
    if (!n->spec.loss.op)
        net_loss(n, "softmax_cross_entropy");
}

/* Builds, expects `want` and the error of the first part, with what else the others
 * name. */
static void refused(struct net *n, enum lab_status want,
                    const char *const *part)
{
    end(n);
    enum lab_status st = net_build(n);
    if (st != want)
        fail_msg("status %d (%s), not %d", st, st ? lab_error() : "built",
                 want);
    assert_true(error_is(*part));
    while (*++part)
        if (!strstr(lab_error(), *part))
            fail_msg("%s is not in: %s", *part, lab_error());
    assert_null(n->plan && st == LAB_OK ? n->plan : NULL);
    net_free(n);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* These nodes behind x [5,4] and labels y [5]. */
static void refuse(enum lab_status want, const char *const *nodes,
                   const char *const *part)
{
    struct net n;
    begin(&n);
    net_nodes_of(&n, nodes);
    refused(&n, want, part);
}

TEST_CASE(a_parameter_of_another_shape)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    net_param(&n, "fc1.b 3", NULL);
    net_param(&n, "fc1.W 3,4", NULL);
    refused(&n, LAB_E_SHAPE,
            LIST("[network.parameter-shape] net.md:51:3: ", "fc1.W", "[4,3]",
                 "[3,4]"));
}

TEST_CASE(a_parameter_that_is_none)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    net_param(&n, "fc1.w 4,3", NULL);
    refused(&n, LAB_E_NOTFOUND,
            LIST("[network.watch] net.md:50:3: ", "'fc1.w'", "'fc1.W'"));
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    net_param(&n, "fc1.out 5,3", NULL); /* a tensor, but no parameter */
    refused(&n, LAB_E_NOTFOUND,
            LIST("[network.watch] net.md:50:3: ", "'fc1.out'"));
}

TEST_CASE(a_y_of_another_shape)
{
    struct net n;
    net_init(&n);
    net_tensor(&n, "x 5,4", NULL);
    net_labels(&n, "y 4", 3);
    net_node(&n, "fc1 dense units=3");
    refused(
        &n, LAB_E_SHAPE,
        LIST("[op.loss.targets] net.md:11:3: ", "loss", "[5,3]", "[5]", "[4]"));
    net_init(&n);
    net_tensor(&n, "x 5,4", NULL);
    net_tensor(&n, "y 5,2", NULL);
    net_node(&n, "fc1 dense units=3");
    net_loss(&n, "mse");
    refused(&n, LAB_E_SHAPE,
            LIST("[op.loss.targets] net.md:11:3: ", "[5,3]", "[5,2]"));
}

TEST_CASE(labels_with_fractions_or_out_of_range)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    n.spec.data.tensors[1].integers = false;
    refused(&n, LAB_E_PARSE, LIST("[network.fractions] net.md:11:3: y "));
    const double bad[] = {3, -1, 1e300, NAN, 2.5};
    for (int i = 0; i < 5; i++) {
        begin(&n);
        net_node(&n, "fc1 dense units=3");
        n.spec.data.tensors[1].values[4] = bad[i];
        end(&n);
        assert_int_equal(net_build(&n), LAB_E_RANGE);
        assert_true(error_is(bad[i] == 1e300 || isnan(bad[i])
                                 ? "[data.not-finite] net.md:11:3: "
                                 : "[data.label] net.md:11:3: "));
        net_free(&n);
    }
}

TEST_CASE(a_node_that_is_not_there)
{
    refuse(
        LAB_E_PARSE, LIST("hidden dense units=6", "act relu from=hiden"),
        LIST("[network.from] net.md:101:30: ", "'act'", "'hiden'", "'hidden'"));
    refuse(LAB_E_PARSE, LIST("act relu from=fc9", "fc9 dense units=3"),
           LIST("[network.from-later] net.md:100:30: ", "'act'", "'fc9'"));
    refuse(LAB_E_PARSE, LIST("act relu from=act"),
           LIST("[network.from-later] net.md:100:30: ", "'act'"));
}

TEST_CASE(too_many_inputs)
{
    refuse(LAB_E_PARSE, LIST("a dense units=3", "b relu from=a,x"),
           LIST("[network.inputs] net.md:101:5: b (relu)", "1 input"));
    refuse(LAB_E_PARSE,
           LIST("b relu "
                "from=x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x"),
           LIST("[network.from-count] net.md:100:30: "));
}

TEST_CASE(class_labels_are_no_input)
{
    refuse(LAB_E_PARSE, LIST("fc1 dense units=3 from=y"),
           LIST("[network.from-labels] net.md:100:30: ", "'fc1'", "'y'"));
}

TEST_CASE(ids_that_mean_something_else)
{
    static const char *const id[] = {"x", "y", "a.b", "loss", "q"};
    struct net n;
    for (int i = 0; i < 5; i++) {
        char node[64];
        begin(&n);
        net_tensor(&n, "q 2", NULL);
        snprintf(node, sizeof(node), "%s dense units=3", id[i]);
        net_node(&n, node);
        refused(&n, LAB_E_PARSE,
                LIST(strchr(id[i], '.') ? "[network.id-dot] net.md:100:5: "
                                        : "[network.id-name] net.md:100:5: ",
                     id[i]));
    }
}

TEST_CASE(two_of_one_name)
{
    struct net n;
    refuse(LAB_E_PARSE, LIST("fc1 dense units=3", "fc1 dense units=3"),
           LIST("[network.tensor-twice] net.md:101:5: ", "fc1"));
    begin(&n);
    net_tensor(&n, "x 5,4", NULL);
    net_node(&n, "fc1 dense units=3");
    refused(&n, LAB_E_PARSE, LIST("[network.data-twice] net.md:12:3: ", "'x'"));
}

TEST_CASE(shapes_that_overflow)
{
    struct net n;
    net_init(&n);
    net_tensor(&n, "x 1000000000,1000000000", NULL);
    net_labels(&n, "y 5", 3);
    net_node(&n, "fc1 dense units=3");
    refused(&n, LAB_E_SHAPE,
            LIST("[network.data-shape] net.md:10:3: ", "x",
                 "[1000000000,1000000000]"));
    refuse(LAB_E_SHAPE,
           LIST("a dense units=1073741824", "b dense units=1073741824"),
           LIST("[network.tensor-shape] net.md:101:5: b (dense)", "b.W",
                "[1073741824,1073741824]"));
}

NET_CASE(a_network_larger_than_memory)
{
    struct lab_backend *be;
    begin(n);
    net_node(n, "wide dense units=1073741824"); /* W: 16 GiB */
    net_node(n, "wider dense units=4096");      /* W: 16 TiB */
    net_node(n, "fc dense units=3");
    net_loss(n, "softmax_cross_entropy");
    assert_ok(net_build(n));
    assert_ok(lab_backend_open(&be, "cpu", 0));
    assert_int_equal(lab_walk_new(&n->walk, n->plan, be, n->data, NULL),
                     LAB_E_RANGE);
    assert_null(n->walk);
    assert_true(error_is("[walk.memory] net.md:101:5: "));
    assert_non_null(strstr(lab_error(), " TiB and "));
    assert_non_null(strstr(lab_error(), "wider.W"));
    assert_non_null(strstr(lab_error(), "[1073741824,4096]"));
    lab_backend_close(be); /* still the caller's */
}

TEST_CASE(dropout_and_nesterov)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    net_optimizer(&n, "sgd lr=0.1 nesterov=true");
    refused(
        &n, LAB_E_PARSE,
        LIST("[op.sgd.nesterov] net.md:201:5: optimizer (sgd)", "momentum"));
    refuse(LAB_E_RANGE, LIST("fc1 dense units=3", "drop dropout p=1"),
           LIST("[op.dropout.p] net.md:101:5: drop (dropout)"));
    refuse(LAB_E_RANGE, LIST("fc1 dense units=3", "drop dropout p=-0.5"),
           LIST("[op.dropout.p] net.md:101:5: drop (dropout)"));
}

TEST_CASE(precisions_to_come)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    n.spec.precision = LAB_BF16;
    refused(&n, LAB_E_UNSUPPORTED,
            LIST("[network.precision] net.md: ", "bf16"));
    begin(&n); /* as a lesson has it */
    net_node(&n, "fc1 dense units=3");
    n.spec.precision = LAB_TF32;
    n.spec.precision_place = (struct lab_place){7, 12};
    refused(&n, LAB_E_UNSUPPORTED,
            LIST("[network.precision] net.md:7:12: ", "tf32"));
}

TEST_CASE(scalars_have_no_features)
{
    static const char *const bad[][2] = {
        {"a dense units=3", "[op.dense.shape] net.md:100:5: a (dense)"},
        {"a layer_norm", "[op.layer-norm.shape] net.md:100:5: a (layer_norm)"},
        {"a softmax", "[op.softmax.shape] net.md:100:5: a (softmax)"},
        {"a flatten", "[op.flatten.shape] net.md:100:5: a (flatten)"}};
    struct net n;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        net_init(&n);
        net_tensor(&n, "x", NULL);
        net_labels(&n, "y 5", 3);
        net_node(&n, bad[i][0]);
        refused(&n, LAB_E_SHAPE, LIST(bad[i][1]));
    }
}

TEST_CASE(no_x_no_y_no_network)
{
    struct net n;
    net_init(&n);
    net_tensor(&n, "q 5,4", NULL);
    net_labels(&n, "y 5", 3);
    net_node(&n, "fc1 dense units=3");
    refused(&n, LAB_E_PARSE, LIST("[network.no-x] net.md:100:5: "));
    net_init(&n);
    net_tensor(&n, "x 5,4", NULL);
    net_node(&n, "fc1 dense units=3");
    refused(&n, LAB_E_PARSE, LIST("[network.no-y] net.md:200:5: ", "y"));
    begin(&n);
    refused(&n, LAB_E_PARSE, LIST("[network.empty] net.md: "));
}

TEST_CASE(watches_breaks_and_printed_values)
{
    struct net n;
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    n.spec.watch = (const char *[]){"fc1.ou"};
    n.spec.n_watch = 1;
    refused(&n, LAB_E_NOTFOUND,
            LIST("[network.watch] net.md: ", "'fc1.ou'", "'fc1.out'"));
    begin(&n);
    net_node(&n, "fc1 dense units=3");
    n.spec.breaks = &(struct lab_break_spec){
        .kind = LAB_BREAK_STEP, .step = "fc1.matmull", .place = {70, 3}};
    n.spec.n_breaks = 1;
    refused(
        &n, LAB_E_NOTFOUND,
        LIST("[network.break] net.md:70:3: ", "'fc1.matmull'", "'fc1.matmul'"));
}

/* One printed value beside fc1.out [5,3]. */
static void print_value(struct net *n, const char *tensor, struct lab_shape at,
                        int values)
{
    begin(n);
    net_node(n, "fc1 dense units=3");
    static double value[3];
    static struct lab_course_values_spec printed;
    printed = (struct lab_course_values_spec){.tensor = tensor,
                                              .at = at,
                                              .values = value,
                                              .n_values = values,
                                              .place = {80, 3}};
    n->spec.printed = &printed;
    n->spec.n_printed = 1;
}

TEST_CASE(printed_values_lie_in_their_tensor)
{
    struct net n;
    print_value(&n, "fc1.oot", (struct lab_shape){0}, 1);
    refused(&n, LAB_E_NOTFOUND,
            LIST("[network.watch] net.md:80:3: ", "'fc1.oot'", "'fc1.out'"));
    print_value(&n, "fc1.out", (struct lab_shape){2, {5, 0}}, 1);
    refused(&n, LAB_E_SHAPE,
            LIST("[network.printed] net.md:80:3: ", "fc1.out", "[5,3]"));
    print_value(&n, "fc1.out", (struct lab_shape){1, {0}}, 1);
    refused(&n, LAB_E_SHAPE,
            LIST("[network.printed] net.md:80:3: ", "fc1.out", "[5,3]"));
    print_value(&n, "fc1.out", (struct lab_shape){2, {4, 1}}, 3);
    refused(&n, LAB_E_SHAPE,
            LIST("[network.printed] net.md:80:3: ", "fc1.out", "[5,3]"));
    print_value(&n, "fc1.out", (struct lab_shape){2, {4, 1}}, 2);
    end(&n);
    assert_ok(net_build(&n));
    net_free(&n);
    print_value(&n, "loss", (struct lab_shape){0}, 1);
    end(&n);
    assert_ok(net_build(&n));
    net_free(&n);
}

TEST_CASE(nan_and_infinity_are_no_data)
{
    struct net n;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (int i = 0; i < 8; i++) {
        begin(&n);
        net_node(&n, "fc1 dense units=3");
        if (i % 2) {
            n.spec.data.tensors[0].values = NULL;
            n.spec.data.tensors[0].fill = bad[i / 2];
        } else {
            n.spec.data.tensors[0].values[7] = bad[i / 2];
        }
        refused(&n, LAB_E_RANGE, LIST("[data.not-finite] net.md:10:3: x "));
    }
}

RUN_TESTS()
