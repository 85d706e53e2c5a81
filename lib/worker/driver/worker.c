/* worker.c - see worker.h. */
#include "worker/driver/worker.h"

static struct worker the_worker = {.policy = {.accounting = 1, .weights = 1}, .policy_count = 1};
const struct worker *const worker = &the_worker;

struct worker *worker_begin(void)
{
    return &the_worker;
}

void worker_set_policy(const struct link_policy *policy)
{
    the_worker.policy = *policy;
    the_worker.policy_count++;
}
