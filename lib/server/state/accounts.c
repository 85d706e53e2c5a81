/* accounts.c - see accounts.h. */
#include "server/state/accounts.h"

#include <string.h>

#include "common/log_event.h"
#include "common/util.h"

#define LOG_INTERVAL_NS   10000000000u
#define LOG_LINES         8u
/* A job of a thousand ranks attaches and detaches within a moment. */
#define EVENT_INTERVAL_NS 60000000000u
#define EVENT_LINES       2048u

#define FAULT_OUT_NS     UINT64_C(1000000000)
#define FAULT_OUT_MAX_NS UINT64_C(600000000000)
#define FAULTS_FORGET_NS UINT64_C(600000000000)

/* The former supervisor may have been killed while it moved entries. Accounts from the first one
 * out of order on are dropped. */
void accounts_restore(struct accounts *accounts)
{
    for (uint32_t i = 0; i < accounts->count; i++) {
        accounts->entry[i].sessions = accounts->entry[i].pieces = 0;
        memset(accounts->entry[i].lingering, 0, sizeof(accounts->entry[i].lingering));
        accounts->entry[i].lingering_due = 0;
        if (i && accounts->entry[i - 1].uid >= accounts->entry[i].uid) {
            accounts->count = i;
            break;
        }
    }
}

/* Returns the index of the user's account, or the index at which it would be inserted. */
static uint32_t account_index(const struct accounts *accounts, uid_t uid)
{
    uint32_t low = 0, high = accounts->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (accounts->entry[middle].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct account *account_find(const struct accounts *accounts, uid_t uid)
{
    uint32_t at = account_index(accounts, uid);

    if (at == accounts->count || accounts->entry[at].uid != uid)
        return NULL;
    return (struct account *)(uintptr_t)&accounts->entry[at]; /* constant only if the caller's is */
}

static bool lingers(const struct account *account)
{
    bool any = account->lingering_sent;

    for (uint32_t i = 0; i < ARRAY_SIZE(account->lingering); i++)
        any = any || account->lingering[i];
    return any;
}

static bool faults_forgotten(const struct account *account, uint64_t now_ns)
{
    return account->faults == 0 || now_ns > account->kept_out_ns + FAULTS_FORGET_NS;
}

static bool suspicions_forgotten(const struct account *account, uint64_t now_ns)
{
    return account->suspicions == 0 || now_ns > account->suspect_ns + FAULTS_FORGET_NS;
}

/* Returns the time until which faults or suspicions count against the user; 0: none do. */
static uint64_t counted_until(const struct account *account, uint64_t now_ns)
{
    uint64_t until = faults_forgotten(account, now_ns) ? 0 : account->kept_out_ns;

    if (!suspicions_forgotten(account, now_ns) && account->suspect_ns > until)
        until = account->suspect_ns;
    return until;
}

/* Returns whether this user is to be forgotten before the other one. */
static bool goes_before(const struct account *account, const struct account *other, uint64_t now_ns)
{
    const uint64_t until = counted_until(account, now_ns);
    const uint64_t other_until = counted_until(other, now_ns);

    return until != other_until ? until < other_until : account->refilled_ns < other->refilled_ns;
}

/* Forgets one user who has neither sessions nor lingering memory: the one who has asked longest
 * ago. A user against whom faults or suspicions count is forgotten only if there is no other. Such
 * users must be forgotten too, since an attacker who loses the device with thousands of uids could
 * otherwise fill the table and keep all others from the server. Returns false if there is no user
 * to forget. */
static bool account_evict(struct accounts *accounts)
{
    const uint64_t now = clock_ns();
    struct account *found = NULL;

    for (struct account *a = accounts->entry; a < accounts->entry + accounts->count; a++) {
        if (a->sessions == 0 && !lingers(a) && (!found || goes_before(a, found, now)))
            found = a;
    }
    if (!found)
        return false;
    accounts->count--;
    memmove(found, found + 1, (size_t)(accounts->entry + accounts->count - found) * sizeof(*found));
    return true;
}

struct account *account_get(struct accounts *accounts, uid_t uid)
{
    struct account *found = account_find(accounts, uid), *made;
    uint32_t at;

    if (found)
        return found;
    if (accounts->count == ACCOUNTS_MAX && !account_evict(accounts))
        return NULL;
    at = account_index(accounts, uid);
    made = &accounts->entry[at];
    memmove(made + 1, made, (accounts->count - at) * sizeof(*made));
    accounts->count++;
    *made = (struct account){.uid = uid, .tokens = REQUESTS_BURST};
    return made;
}

bool account_ask(struct account *account, uint64_t now_ns)
{
    const uint64_t token_ns = 1000000000u / REQUESTS_RATE;
    uint64_t more = (now_ns - account->refilled_ns) / token_ns;

    if (more >= (uint64_t)(REQUESTS_BURST - account->tokens)) {
        account->tokens = REQUESTS_BURST;
        account->refilled_ns = now_ns;
    } else {
        account->tokens += (int32_t)more;
        account->refilled_ns += more * token_ns;
    }
    if (account->tokens <= 0)
        return false;
    account->tokens--;
    return true;
}

void account_took(struct account *account, uint64_t ns)
{
    const uint64_t more = ns / REQUEST_NS;

    account->tokens -= more < REQUESTS_BURST ? (int32_t)more : REQUESTS_BURST;
    if (account->tokens < -REQUESTS_BURST)
        account->tokens = -REQUESTS_BURST;
}

void accounts_worker_gone(struct accounts *accounts, int device)
{
    for (uint32_t i = 0; i < accounts->count; i++)
        accounts->entry[i].lingering_sent &= ~(1u << device);
}

/* The first fault counts as an accident; from the second on each fault doubles the time. */
uint64_t account_fault(struct account *account, uint64_t now_ns)
{
    uint64_t out_ns = 0;

    if (faults_forgotten(account, now_ns))
        account->faults = 0;
    account->faults++;
    if (account->faults > 1)
        out_ns = account->faults < 12 ? FAULT_OUT_NS << (account->faults - 2) : FAULT_OUT_MAX_NS;
    if (out_ns > FAULT_OUT_MAX_NS)
        out_ns = FAULT_OUT_MAX_NS;
    account->kept_out_ns = now_ns + out_ns;
    return out_ns;
}

gs_status account_admit(const struct account *account, char text[REFUSAL_TEXT_MAX])
{
    const uint64_t now = clock_ns();

    if (!account || account->kept_out_ns <= now)
        return GS_OK;
    return refusal(text, GS_ERR_REFUSED,
                   "user %s has lost the device %u times, and is kept out for %llu s more",
                   log_user_name(account->uid), account->faults,
                   (unsigned long long)((account->kept_out_ns - now) / 1000000000u + 1));
}

void account_suspect(struct account *account, uint64_t ready_ns, uint64_t now_ns)
{
    uint64_t suspect_ns = SUSPECT_MAX_NS;

    if (suspicions_forgotten(account, now_ns))
        account->suspicions = 0;
    if (account->suspicions == 0 || ready_ns > account->suspicion_ns) {
        account->suspicions++;
        account->suspicion_ns = now_ns;
    }
    if (account->suspicions < 6)
        suspect_ns = SUSPECT_NS << (account->suspicions - 1);
    account->suspect_ns = now_ns + suspect_ns;
}

void accounts_culprit(struct accounts *accounts, uid_t uid, uint64_t now_ns)
{
    const struct account *culprit = account_find(accounts, uid);

    if (!culprit || culprit->suspect_ns <= now_ns)
        return;
    for (uint32_t i = 0; i < accounts->count; i++) {
        accounts->entry[i].suspect_ns = 0;
        accounts->entry[i].suspicions = 0;
    }
}

static bool line_take(const struct account *account, struct log_interval *log, uint32_t lines,
                      uint64_t interval_ns, uint64_t now_ns)
{
    if (now_ns - log->since_ns >= interval_ns) {
        if (log->dropped)
            log_warning("event=lines-dropped user=%s lines=%u", log_user_name(account->uid),
                        log->dropped);
        *log = (struct log_interval){.since_ns = now_ns};
    }
    if (log->lines == lines) {
        log->dropped++;
        return false;
    }
    log->lines++;
    return true;
}

bool account_log(struct account *account, uint64_t now_ns)
{
    return account && line_take(account, &account->log, LOG_LINES, LOG_INTERVAL_NS, now_ns);
}

bool account_event(struct account *account, uint64_t now_ns)
{
    return account && line_take(account, &account->event, EVENT_LINES, EVENT_INTERVAL_NS, now_ns);
}
