/* loans.c - see loans.h. */
#include "server/state/loans.h"

#include <signal.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/state/server.h"
#include "server/state/session.h"

static struct loan **row_of(struct loans *loans, uint64_t number)
{
    return &loans->row[number * UINT64_C(0x9E3779B97F4A7C15) / (UINT64_MAX / LOAN_ROWS + 1)];
}

struct loan *loan_find(const struct server *server, uint64_t number)
{
    struct loan *loan = *row_of((struct loans *)(uintptr_t)&server->loans, number);

    while (loan && loan->name.number != number)
        loan = loan->next;
    return loan;
}

/* Makes a loan of memory that has none yet. NULL: no memory. */
static struct loan *loan_new(struct server *server, const struct vault_loan *name, uint64_t size)
{
    struct loan **row = row_of(&server->loans, name->number), *loan = calloc(1, sizeof(*loan));

    if (!loan)
        return NULL;
    *loan = (struct loan){.name = *name, .size = size, .slot = LINK_SLOT_NONE, .next = *row};
    *row = loan;
    return loan;
}

static bool taken_back(const struct loan *loan)
{
    return loan->slot == LINK_SLOT_NONE;
}

static void loan_free_unused(struct server *server, struct loan *loan)
{
    struct loan **at = row_of(&server->loans, loan->name.number);

    if (!taken_back(loan) || loan->holders)
        return;
    while (*at != loan)
        at = &(*at)->next;
    *at = loan->next;
    free(loan);
}

/* ---- What workers are told ------------------------------------------------------------------- */

/* Queues a message for a device's worker. If that fails, the worker is killed, since its successor
 * gets all messages. */
static void news_add(struct device *device, uint64_t word)
{
    if (word_queue_push(&device->news.words, word))
        return;
    log_error("event=worker-silent device=%d worker=%d reason=\"it cannot be told of memory that "
              "was taken back\"",
              device->index, (int)device->worker.child.pid);
    child_signal(&device->worker.child, SIGKILL);
}

void loan_revoke_on(struct device *device, uint64_t number)
{
    news_add(device, number);
}

void loan_linger_on(struct device *device, struct account *account)
{
    const uint32_t bit = 1u << device->index;

    if (!(account->lingering_due & bit))
        news_add(device, LOAN_LINGERS | account->uid);
    account->lingering_due |= bit;
}

static void lingering_change(struct server *server, const struct loan *loan, bool more)
{
    struct account *account = account_get(&server->accounts, loan->name.uid);
    const uint32_t device = loan->name.device;

    if (!account)
        return;
    if (more)
        account->lingering[device] += loan->size;
    else if (account->lingering[device] >= loan->size)
        account->lingering[device] -= loan->size;
    loan_linger_on(&server->device[device], account);
}

/* ---- Lending --------------------------------------------------------------------------------- */

struct loan *loan_begin(struct session *owner, uint64_t address, uint64_t size)
{
    const struct vault_entry *entry = vault_find(&owner->vault, address, size);
    const struct vault_loan name = {vault_number(), owner->id, address, owner->uid,
                                    (uint32_t)owner->device->index};
    struct loan *loan;

    if (entry->loan.number)
        return loan_find(owner->server, entry->loan.number);
    loan = loan_new(owner->server, &name, size);
    if (!loan)
        return NULL;
    loan->slot = owner->slot;
    vault_lend(&owner->vault, address, &name);
    return loan;
}

void loan_hold(struct loan *loan, const struct device *device)
{
    loan->holders++;
    loan->devices |= 1u << device->index;
}

/* Uncounts an import. */
static void loan_release(struct server *server, struct loan *loan)
{
    if (--loan->holders == 0 && taken_back(loan))
        lingering_change(server, loan, false);
    loan_free_unused(server, loan);
}

static void take_back(struct server *server, struct loan *loan)
{
    loan->slot = LINK_SLOT_NONE;
    for (int i = 0; i < server->device_count; i++) {
        if (loan->devices >> i & 1)
            news_add(&server->device[i], loan->name.number);
    }
    if (loan->holders)
        lingering_change(server, loan, true);
    loan_free_unused(server, loan);
}

void loan_take_back(struct session *owner, uint64_t address)
{
    const struct vault_entry *entry = vault_at(&owner->vault, address);
    struct loan *loan;

    if (!entry || entry->loan.session_id != owner->id)
        return;
    loan = loan_find(owner->server, entry->loan.number);
    vault_lend(&owner->vault, address, NULL);
    if (loan)
        take_back(owner->server, loan);
}

void loan_entry_gone(struct session *session, const struct vault_loan *name)
{
    struct loan *loan = name->number ? loan_find(session->server, name->number) : NULL;

    if (loan && name->session_id == session->id)
        take_back(session->server, loan);
    else if (loan)
        loan_release(session->server, loan);
}

/* ---- A next supervisor ----------------------------------------------------------------------- */

bool loan_restore(struct session *session, const struct vault_loan *name, uint64_t size)
{
    struct loan *loan = loan_find(session->server, name->number);

    if (!loan)
        loan = loan_new(session->server, name, size);
    if (!loan)
        return false;
    if (name->session_id == session->id)
        loan->slot = session->slot;
    else
        loan_hold(loan, session->device);
    return true;
}

void loans_restored(struct server *server)
{
    for (uint32_t row = 0; row < LOAN_ROWS; row++) {
        for (struct loan *loan = server->loans.row[row], *next; loan; loan = next) {
            next = loan->next;
            if (taken_back(loan))
                take_back(server, loan);
        }
    }
}
