/* A whole session of `--plain`: the bytes are what is typed. It ends with 0,
 * whatever that was.
 *
 * Numbers are cut to two digits, or a training would last for hours. */
#include "fuzz.h"

#include <ctype.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/exit.h"
#include "debug/options.h"
#include "debug/plain.h"

static const char lesson[] =
    "---\n"
    "format: 1\n"
    "title: small\n"
    "data: {source: inline, x: [[1, 2], [3, -4]], y: [0, 1]}\n"
    "network:\n"
    "  - {id: fc1, op: dense, units: 3}\n"
    "  - {id: relu1, op: relu}\n"
    "  - {id: fc2, op: dense, units: 2}\n"
    "loss: {op: softmax_cross_entropy}\n"
    "optimizer: {op: adam, lr: 0.1}\n"
    "run: {iterations: 9}\n"
    "watch: [fc1.W.grad]\n"
    "break: [{step: relu1.relu, phase: backward}]\n"
    "---\n"
    "Words.\n"
    "## step: fc1.matmul\n"
    "**Forward.** One. **Backward.** Two.\n";

/* Output goes nowhere, errors to libFuzzer's own copy of stderr. */
static void silence(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    int fd = open("/dev/null", O_WRONLY);
    fuzz_check(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0, "no /dev/null");
    close(fd);
    stderr = fopen("/dev/null", "w");
}

static void type(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    size_t n = 0;
    int digits = 0;
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    fuzz_check(bytes && fd >= 0, "no input can be made");
    for (size_t i = 0; i < size; i++) {
        digits = isdigit(data[i]) ? digits + 1 : 0;
        if (digits <= 2)
            bytes[n++] = data[i];
    }
    fuzz_check(write(fd, bytes, n) == (ssize_t)n &&
                   lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) == 0,
               "no input can be given");
    close(fd);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { NEW_AFTER = 50 };
    static int sessions;
    struct lab_options o;
    silence();
    if (sessions++ % NEW_AFTER == 0) {
        fuzz_empty();
        fuzz_write("10-small.md", lesson, sizeof(lesson) - 1);
    }
    type(data, size);
    lab_options_init(&o);
    o.backend = "cpu";
    o.db = fuzz_path("runs.db");
    o.plain = true;
    o.color = "never";
    fuzz_check(lab_plain_session(&o, fuzz_path("10-small.md")) == LAB_EXIT_DONE,
               "a session fails");
    if (size > 0)
        fuzz_accepted();
    return 0;
}
