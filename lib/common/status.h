/* status.h - the one table of statuses: names and texts. Pure; any thread. */
#ifndef GS_COMMON_STATUS_H
#define GS_COMMON_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* Returns whether a number, such as one from another process, is an error of enum gs_status. */
bool status_is_error(int32_t status);
const char *status_name(gs_status status); /* "GS_STATUS_?" for an unknown status */
const char *status_text(gs_status status); /* "unknown status" for an unknown one */

#endif
