/* pieces.c - see pieces.h. */
#include "server/session/pieces.h"

#include <fcntl.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/preload.h"
#include "server/state/qos.h"
#include "server/state/server.h"
#include "server/state/session.h"

bool pieces_leave_none(const struct server *server, int fd)
{
    const uint32_t half = server->descriptors_max / 2, sessions = server->registry.capacity;
    const uint32_t reserve = DESCRIPTORS_RESERVE + (sessions < half ? sessions : half);

    return (uint32_t)fd + reserve >= server->descriptors_max;
}

const char *piece_refusal(const struct session *session, int fd)
{
    const struct account *account = account_find(&session->server->accounts, session->uid);
    const struct ctl_settings limit = qos_of_user(session->server, session->uid, session->device);

    if (fd < 0) /* the kernel had no descriptor left for this process; the memory itself is good */
        return "no descriptor is left (RLIMIT_NOFILE)";
    /* Clients and workers must still be served. */
    if (pieces_leave_none(session->server, fd))
        return "the vault is full (RLIMIT_NOFILE)";
    if (limit.fields & CTL_USER_PIECES && account && account->pieces >= limit.user_pieces)
        return "its user has as many pieces as it may (user-pieces)";
    return NULL;
}

void piece_charge(const struct session *session)
{
    struct account *account = account_find(&session->server->accounts, session->uid);

    if (account)
        account->pieces++;
}

void piece_discharge(const struct session *session)
{
    struct account *account = account_find(&session->server->accounts, session->uid);

    if (account && account->pieces)
        account->pieces--;
}

bool piece_put(struct session *session, const struct link_vault *vault, int *fd)
{
    struct account *account = account_find(&session->server->accounts, session->uid);
    const char *refused = piece_refusal(session, *fd);
    enum vault_result result = VAULT_OK;

    if (!refused)
        result = vault_put(&session->vault, vault->address, vault->size, NULL, *fd);
    if (result == VAULT_NO_MEMORY)
        refused = "no memory for the vault";
    if (refused) {
        session->vault_short = true;
        if (account_log(account, clock_ns()))
            log_warning("event=vault-short device=%d session=%llu user=%s uid=%u reason=\"%s\"",
                        session->device->index, (unsigned long long)session->id,
                        log_user_name(session->uid), (unsigned)session->uid, refused);
    } else if (result == VAULT_OK) {
        *fd = -1;
        piece_charge(session);
    }
    return result != VAULT_OVERLAP;
}

/* Shared memory gets a descriptor of its own for each session, so that it does not matter which
 * session ends first. The other session may have none, if the vault was full. */
bool piece_share(struct session *session, const struct link_vault_share *share)
{
    const struct session *from = registry_by_slot(&session->server->registry, share->from_slot);
    const struct vault_entry *entry =
        from && from->device == session->device
            ? vault_find(&from->vault, share->from_address, share->vault.size)
            : NULL;
    CLEANUP_FD int fd = -1;

    if (!entry) {
        session->vault_short = true;
        return true;
    }
    fd = fcntl(entry->fd, F_DUPFD_CLOEXEC, 0);
    return piece_put(session, &share->vault, &fd);
}

void piece_remove(struct session *session, const struct link_vault *vault)
{
    const struct vault_entry *entry = vault_at(&session->vault, vault->address);
    struct vault_loan loan;

    if (!entry)
        return;
    loan = entry->loan;
    preload_gone(session, entry->number);
    vault_remove(&session->vault, vault->address);
    loan_entry_gone(session, &loan);
    piece_discharge(session);
}

void pieces_remove_all(struct session *session)
{
    struct account *account;

    for (uint32_t i = 0; i < session->vault.count; i++)
        loan_entry_gone(session, &session->vault.entry[i]->loan);
    account = account_find(&session->server->accounts, session->uid);
    if (account)
        account->pieces -=
            session->vault.count < account->pieces ? session->vault.count : account->pieces;
    vault_deinit(&session->vault);
}
