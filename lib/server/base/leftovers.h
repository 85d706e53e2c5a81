/*
 * leftovers.h - an instance's lock, its control queue, and what a killed server left.
 *
 * Who holds LOCK_EX on the lock queue, which only the server's user can open, serves the instance;
 * the kernel lets go of it with the process. The control queue, which tenants can open, is made
 * anew by each server: so no lock or content that a tenant leaves in a queue outlives the server.
 * All functions but the last run before the server is ready; control_lock_take may wait some
 * milliseconds.
 */
#ifndef GS_SERVER_LEFTOVERS_H
#define GS_SERVER_LEFTOVERS_H

#include <mqueue.h>
#include <sys/types.h>

/* 0 or -errno; -EBUSY: another server lives; -EPERM: another user has taken the name, which root
 * would take away. */
int control_lock_take(const char *name, mqd_t *queue);
/* Makes the control queue under the lock, with the read lock by which clients know that it is
 * served. 0 or -errno; -EPERM as above. */
int control_queue_make(const char *name, mode_t mode, mqd_t *queue);
/* Removes the queues and segments of a killed server of this name. devices: the most that it can
 * have had. */
void leftovers_remove(const char *instance, int devices);
/* Removes the segments that a killed supervisor or worker of this user has made and that nobody
 * has.
 */
void leftover_segments_remove(void);

#endif
