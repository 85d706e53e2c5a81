/* accounts.c - see accounts.h. */
#include "server/state/accounts.h"

#include <stdatomic.h>
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

/* Returns the place in the order of the user's account, or the place at which it would be
 * inserted. */
static uint32_t order_place(const struct accounts *accounts, uid_t uid)
{
    uint32_t low = 0, high = accounts->ordered;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (accounts->entry[accounts->order[middle]].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void order_add(struct accounts *accounts, const struct account *account)
{
    const uint32_t place = order_place(accounts, account->uid);
    uint16_t *at = &accounts->order[place];

    memmove(at + 1, at, (accounts->ordered - place) * sizeof(*at));
    *at = (uint16_t)(account - accounts->entry);
    accounts->ordered++;
}

static void order_remove(struct accounts *accounts, const struct account *account)
{
    const uint32_t place = order_place(accounts, account->uid);
    uint16_t *at = &accounts->order[place];

    accounts->ordered--;
    memmove(at, at + 1, (accounts->ordered - place) * sizeof(*at));
}

/* The former supervisor may have been killed while it moved the order, which is made anew. */
void accounts_restore(struct accounts *accounts)
{
    accounts->ordered = 0;
    for (uint32_t i = 0; i < accounts->count; i++) {
        struct account *account = &accounts->entry[i];

        if (!account->used)
            memset(account, 0, sizeof(*account));
        account->sessions = account->pieces = 0;
        memset(account->lingering, 0, sizeof(account->lingering));
        account->lingering_due = 0;
        if (account->used)
            order_add(accounts, account);
    }
}

struct account *account_find(const struct accounts *accounts, uid_t uid)
{
    const uint32_t place = order_place(accounts, uid);
    const struct account *account;

    if (place == accounts->ordered)
        return NULL;
    account = &accounts->entry[accounts->order[place]];
    if (account->uid != uid)
        return NULL;
    return (struct account *)(uintptr_t)account; /* constant only if the caller's is */
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
 * otherwise fill the table and keep all others from the server. Returns the entry, which is not in
 * use any more; NULL: there is no user to forget. */
static struct account *account_evict(struct accounts *accounts)
{
    const uint64_t now = clock_ns();
    struct account *found = NULL;

    for (struct account *a = accounts->entry; a < accounts->entry + accounts->count; a++) {
        if (!a->used) /* of an account that a former supervisor was making */
            return a;
        if (a->sessions == 0 && !lingers(a) && (!found || goes_before(a, found, now)))
            found = a;
    }
    if (found) {
        order_remove(accounts, found);
        found->used = false;
    }
    return found;
}

struct account *account_get(struct accounts *accounts, uid_t uid)
{
    struct account *account = account_find(accounts, uid);

    if (account)
        return account;
    account = accounts->count < ACCOUNTS_MAX ? &accounts->entry[accounts->count++]
                                             : account_evict(accounts);
    if (!account)
        return NULL;
    /* In the order of the program for a next supervisor, which begins when this one has ended. */
    atomic_signal_fence(memory_order_seq_cst);
    *account = (struct account){.uid = uid, .tokens = REQUESTS_BURST};
    atomic_signal_fence(memory_order_seq_cst);
    account->used = true;
    order_add(accounts, account);
    return account;
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
