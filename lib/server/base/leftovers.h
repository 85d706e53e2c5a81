/*
 * leftovers.h - the control queue as the instance's lock, and what a killed server left.
 *
 * Who holds LOCK_EX on the queue serves the instance; the kernel lets go of it with the process. A
 * queue that nobody holds was left by a killed server and is made anew: its size and mode may be
 * anything. Both functions run before the server is ready; control_queue_take may wait some
 * milliseconds.
 */
#ifndef GS_SERVER_LEFTOVERS_H
#define GS_SERVER_LEFTOVERS_H

#include <mqueue.h>
#include <sys/types.h>

/* 0 or -errno; -EBUSY when another server lives. */
int control_queue_take(const char *name, mode_t mode, mqd_t *queue);
/* Removes the queues and segments of a killed server of this name. devices: the most that it can
 * have had. */
void leftovers_remove(const char *instance, int devices);

#endif
