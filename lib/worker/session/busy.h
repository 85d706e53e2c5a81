/* busy.h - who keeps the device busy, in words; see busy.c. Dispatcher. */
#ifndef GS_WORKER_SESSION_BUSY_H
#define GS_WORKER_SESSION_BUSY_H

#define BUSY_TEXT_MAX 96

/* "session 3 (trainer) has had some for 12 s, as have 2 others": of running kernels. Returns
 * text. */
const char *busy_describe(char text[BUSY_TEXT_MAX]);

#endif
