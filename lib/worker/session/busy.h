/* busy.h - names the session that keeps the device busy, in words; see busy.c. Main lane. */
#ifndef GS_WORKER_SESSION_BUSY_H
#define GS_WORKER_SESSION_BUSY_H

#define BUSY_TEXT_MAX 96

/* Describes whose kernels run: "session 3 (trainer) has had some for 12 s, as have 2 others".
 * Returns text. */
const char *busy_describe(char text[BUSY_TEXT_MAX]);

#endif
