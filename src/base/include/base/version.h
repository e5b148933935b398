/* base/version.h -- which program this is. */
#pragma once

const char *lab_version(void); /* "0.1.0" */
const char *lab_commit(void);  /* of the source tree; "" when unknown */
