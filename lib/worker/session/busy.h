/* busy.h - names the session that keeps the device busy, in words; see busy.c. Main lane. */
#ifndef GS_WORKER_SESSION_BUSY_H
#define GS_WORKER_SESSION_BUSY_H

#define BUSY_TEXT_MAX 144

/* Describes whose kernels run: "session 3 has had some for 12 s (gsctl kill 3 ends it), as have 2
 * others". Returns text. */
const char *busy_describe(char text[BUSY_TEXT_MAX]);

#endif
