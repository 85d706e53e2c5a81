/* busy.h - describes which session keeps the device busy; see busy.c. Called by the main lane. */
#ifndef GS_WORKER_SESSION_BUSY_H
#define GS_WORKER_SESSION_BUSY_H

#define BUSY_TEXT_MAX 144

/* Writes a description of whose kernels run into `text`, such as "session 3 has had some for 12 s
 * (gsctl kill 3 ends it), as have 2 others". Returns text. */
const char *busy_describe(char text[BUSY_TEXT_MAX]);

#endif
