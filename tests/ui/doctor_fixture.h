/* doctor_fixture.h -- the lines of doctor on the played home screen. */
#pragma once
#include "report/doc.h"

enum lab_status fixture_write_doctor(void *user, struct lab_doc *out);
