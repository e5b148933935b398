/* doctor_fixture.h -- what the doctor of the played home screen says. */
#pragma once
#include "report/doc.h"

enum lab_status fixture_write_doctor(void *user, struct lab_doc *out);
