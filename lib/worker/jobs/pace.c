/* pace.c - see pace.h. */
#include "worker/jobs/pace.h"

#include <stdlib.h>

struct pace_account {
    struct pace_account *next;
    uint32_t uid, percent;
    uint64_t taken; /* CPU time taken that the user's share had not made up for at `since` */
    uint64_t since;
};

/* Multiplies in two steps, so that no product overflows within a year. */
static uint64_t percent_of(uint64_t ns, uint32_t percent)
{
    return ns / 100 * percent + ns % 100 * percent / 100;
}

/* Returns the CPU time that the user has taken and its share has not made up for by now. */
static uint64_t left(const struct pace_account *account, uint32_t percent, uint64_t now)
{
    const uint64_t made_up = now > account->since ? percent_of(now - account->since, percent) : 0;

    return account->taken > made_up ? account->taken - made_up : 0;
}

/* Frees the accounts of users other than `uid` whose share has made up for all that they took. */
static void settle(struct pace *pace, uint32_t uid, uint64_t now)
{
    for (struct pace_account **at = &pace->first, *account; (account = *at);) {
        if (account->uid == uid || left(account, account->percent, now)) {
            at = &account->next;
            continue;
        }
        *at = account->next;
        free(account);
    }
}

static struct pace_account *find(const struct pace *pace, uint32_t uid)
{
    struct pace_account *account = pace->first;

    while (account && account->uid != uid)
        account = account->next;
    return account;
}

void pace_take(struct pace *pace, uint32_t uid, uint32_t percent, uint64_t cpu_ns, uint64_t now)
{
    struct pace_account *account = find(pace, uid);

    settle(pace, uid, now);
    if (!percent)
        return;
    if (!account && (account = calloc(1, sizeof(*account)))) {
        account->uid = uid;
        account->next = pace->first;
        pace->first = account;
    }
    if (!account) /* without memory for the account, the user does not wait */
        return;
    account->taken = left(account, percent, now) + cpu_ns;
    account->since = now;
    account->percent = percent;
}

uint64_t pace_due(const struct pace *pace, uint32_t uid, uint32_t percent, uint64_t now)
{
    const struct pace_account *account = find(pace, uid);
    const uint64_t saved = percent_of(PACE_SAVED_NS, percent);
    const uint64_t taken = account && percent ? left(account, percent, now) : 0;

    return taken > saved ? now + (taken - saved) / percent * 100 + 1 : now;
}
