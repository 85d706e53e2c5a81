/* status.h - the one table of statuses: names and texts. Any thread. */
#ifndef GS_COMMON_STATUS_H
#define GS_COMMON_STATUS_H

#include "gshare.h"

const char *status_name(gs_status status); /* "GS_STATUS_?" for an unknown status */
const char *status_text(gs_status status); /* "unknown status" for an unknown one */

#endif
