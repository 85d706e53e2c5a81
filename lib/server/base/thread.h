/*
 * thread.h - the supervisor's few threads beside the loop's: each does one thing that may take long
 * (the policy file's groups, the state file's disk) and tells the loop by an eventfd.
 */
#ifndef GS_SERVER_THREAD_H
#define GS_SERVER_THREAD_H

#include <pthread.h>

/* Starts a thread that blocks all signals, which are for the loop. Returns 0 or -errno. */
int server_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
