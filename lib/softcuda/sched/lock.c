// The scheduling lock: it guards streams, operations, grids, SMs and the queues.
#include "softcuda/sched/sched.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sched_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sched_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void sched_lock_wait(pthread_cond_t *signalled)
{
    pthread_cond_wait(signalled, &lock);
}
