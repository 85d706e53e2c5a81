/*
 * leftovers.h - takes an instance's lock, makes its control queue, and removes what a killed server
 * left behind.
 *
 * The process that holds LOCK_EX on the lock queue, which only the server's user can open, serves
 * the instance; the kernel drops the lock with the process. Each server makes the control queue,
 * which tenants can open, anew, so no lock or content that a tenant leaves in a queue outlives the
 * server. All functions but the last run before the server is ready; control_lock_take may wait
 * some milliseconds.
 */
#ifndef GS_SERVER_LEFTOVERS_H
#define GS_SERVER_LEFTOVERS_H

#include <mqueue.h>
#include <sys/types.h>

/* Takes the lock. Returns 0 or -errno; -EBUSY: another server has it; -EPERM: another user has made
 * a queue of that name, which only root removes. */
int control_lock_take(const char *name, mqd_t *queue);
/* Makes the control queue, with the read lock by which clients know that it is served. The caller
 * holds the instance's lock. Returns 0 or -errno; -EPERM as above. */
int control_queue_make(const char *name, mode_t mode, mqd_t *queue);
/* Removes the queues and segments of a killed server of this name. `devices` is the most devices
 * that it can have had. */
void leftovers_remove(const char *instance, int devices);
/* Removes the segments that a killed supervisor or worker of this user has made and that no process
 * has attached. */
void leftover_segments_remove(void);

#endif
