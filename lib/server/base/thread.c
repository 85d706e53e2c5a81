/* thread.c - see thread.h. */
#include "server/base/thread.h"

#include <signal.h>
#include <stddef.h>

int server_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, former;
    int r;

    /* The new thread inherits the mask. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    r = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return -r;
}
