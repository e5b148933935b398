/* Writes doctor's lines for the home screen's fixture, the same on every
 * machine. */
#include "doctor_fixture.h"

enum lab_status fixture_write_doctor(void *user, struct lab_doc *out)
{
    (void)user;
    lab_doc_add(out, LAB_ROLE_HEADING, "Backends\n");
    lab_doc_add(out, LAB_ROLE_GOOD, "  ok       cpu: naive, blas, onednn\n");
    lab_doc_add(out, LAB_ROLE_WARN, "  missing  cuda: no NVIDIA driver\n");
    lab_doc_para(out, 11, 11, true);
    lab_doc_add(out, LAB_ROLE_NORMAL,
                "Remedy: install the driver of the machine's GPU, then run "
                "\"lapenna-lab doctor\" again. Until then everything runs on "
                "the CPU.");
    return LAB_OK;
}
