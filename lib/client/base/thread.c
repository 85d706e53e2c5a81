/* thread.c - see thread.h. */
#include "client/base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

int thread_start(void *(*run)(void *), const int *open)
{
    sigset_t blocked, before;
    pthread_t thread;

    sigfillset(&blocked);
    /* A SIGSEGV is raised by the thread itself, and the program may have a handler that repairs its
     * cause, as the CUDA runtime has for heap memory. A blocked SIGSEGV would end the process. */
    sigdelset(&blocked, SIGSEGV);
    for (; open && *open; open++)
        sigdelset(&blocked, *open);
    /* The new thread inherits the mask. */
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int failed = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}
