/* log_allowance.c - see log_allowance.h. */
#include "common/log_allowance.h"

#include "common/util.h"

/* Returns the index of the user's entry, or of the entry that was begun longest ago. The caller
 * holds the lock. */
static uint32_t user_find(const struct log_allowance *allowance, uint32_t uid)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < LOG_ALLOWANCE_USERS; i++) {
        if (allowance->user[i].since_ns && allowance->user[i].uid == uid)
            return i;
        if (allowance->user[i].since_ns < allowance->user[found].since_ns)
            found = i;
    }
    return found;
}

bool log_allowance_take(struct log_allowance *allowance, uint32_t uid)
{
    const uint64_t now = clock_ns();

    pthread_mutex_lock(&allowance->lock);
    const uint32_t at = user_find(allowance, uid);
    if (allowance->user[at].uid != uid ||
        now - allowance->user[at].since_ns >= allowance->interval_ns) {
        allowance->user[at].since_ns = now;
        allowance->user[at].uid = uid;
        allowance->user[at].lines = 0;
    }
    const bool allowed = allowance->user[at].lines < allowance->lines;
    allowance->user[at].lines += allowed;
    pthread_mutex_unlock(&allowance->lock);
    return allowed;
}
