/* supervisor_link.h - messages from the worker to the supervisor, and the worker's end; see
 * supervisor_link.c. Any thread. */
#ifndef GS_WORKER_DRIVER_SUPERVISOR_LINK_H
#define GS_WORKER_DRIVER_SUPERVISOR_LINK_H

#include "common/link.h"
#include "worker/driver/driver.h"

/* descriptor: goes along with it; -1: none. */
void link_send(const struct link_message *message, int descriptor);

/* Tells the supervisor that the device is lost and why, and ends the process. blame: slot, stream,
 * position and kernel of the session that did it; NULL: nobody is known to. */
struct link_blame {
    uint32_t slot;
    struct link_fatal fatal;
};
_Noreturn void worker_end(CUresult result, const char *text, const struct link_blame *blame);

#endif
