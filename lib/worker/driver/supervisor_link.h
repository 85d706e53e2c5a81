/*
 * supervisor_link.h - messages from the worker to the supervisor, and the end of the worker
 * process; see supervisor_link.c. Any thread.
 */
#ifndef GS_WORKER_DRIVER_SUPERVISOR_LINK_H
#define GS_WORKER_DRIVER_SUPERVISOR_LINK_H

#include "common/link.h"
#include "worker/driver/driver.h"

/* Sends a message, with a file descriptor; -1: without one. */
void link_send(const struct link_message *message, int descriptor);

/* Waits until the supervisor kills the process or closes the link, and then ends the process. */
_Noreturn void link_await_end(void);

/* Tells the supervisor that the device is lost and why, and ends the process. blame has the session
 * at fault: its slot, and the stream, position and kernel in `fatal`; NULL: no session is known to
 * be at fault. `at_rest`: as in struct link_fatal; the process then ends when the supervisor
 * chooses. */
struct link_blame {
    uint32_t slot;
    struct link_fatal fatal;
};
_Noreturn void worker_end(CUresult result, const char *text, const struct link_blame *blame,
                          bool at_rest);

#endif
