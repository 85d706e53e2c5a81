/* refusal.h - a status and one line that names what was wrong and its limit. Pure; any thread. */
#ifndef GS_SERVER_REFUSAL_H
#define GS_SERVER_REFUSAL_H

#include "gshare.h"

/* The length of an answer's text. */
#define REFUSAL_TEXT_MAX 128u

/* Writes the text, cut where it does not fit, and returns the status. */
gs_status refusal(char text[REFUSAL_TEXT_MAX], gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
