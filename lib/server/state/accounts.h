/*
 * accounts.h - what each user has of the server that is finite: one account for each user who has
 * sessions, or has asked lately. The supervisor's thread.
 */
#ifndef GS_SERVER_ACCOUNTS_H
#define GS_SERVER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/refusal.h"
#include "server/state/settings.h"

#define ACCOUNTS_MAX   4096u
/* Requests of a user in a second, and in a burst: an MPI job's thousand ranks attach at once. */
#define REQUESTS_RATE  1000u
#define REQUESTS_BURST 4096
/* A request that takes the supervisor longer counts as several: an attach or a change of QoS places
 * all sessions of its device anew. */
#define REQUEST_NS     250000u

/* How long a user is a suspect at first, and at most. Each further loss doubles the time, so that
 * who loses devices now and then is a suspect when the next one comes. */
#define SUSPECT_NS     UINT64_C(30000000000)
#define SUSPECT_MAX_NS (32 * SUSPECT_NS)

/* Lines of the log in the present interval. */
struct log_interval {
    uint64_t since_ns;
    uint32_t lines, dropped;
};

struct account {
    uid_t uid;
    uint32_t sessions;
    uint32_t pieces; /* of memory in the vaults of its sessions */
    /* Bytes of each device that its sessions have lent to other devices and given up, and that are
     * mapped there yet (loans.h). */
    uint64_t lingering[SETTINGS_DEVICES_MAX];
    uint32_t lingering_due;  /* as bits: devices whose worker is about to be told of it */
    uint32_t lingering_sent; /* as bits: devices whose worker may count some of it */
    /* The allowance of requests. */
    int32_t tokens; /* below 0: the user's requests took more than there was */
    uint64_t refilled_ns;
    /* Faults of its kernels that lost a device. */
    uint32_t faults;
    uint64_t kept_out_ns;  /* the user may not attach before this time */
    uint64_t suspect_ns;   /* until then one of its sessions may be what has lost a device */
    uint32_t suspicions;   /* losses that have made the user a suspect ... */
    uint64_t suspicion_ns; /* ... and when the last of them was counted */
    /* Lines of the log that it has caused: warnings, and sessions that come and go. */
    struct log_interval log, event;
};

/* All zero: empty. */
struct accounts {
    uint32_t count;
    struct account entry[ACCOUNTS_MAX]; /* by uid */
};

/* Takes over the accounts of a former supervisor: what users have is counted anew, what they are
 * kept from stays. */
void accounts_restore(struct accounts *accounts);
/* The user's account, valid until the next account is made. NULL: there is none. */
struct account *account_find(const struct accounts *accounts, uid_t uid);
/* The same, made if there is none. NULL: all accounts are in use. */
struct account *account_get(struct accounts *accounts, uid_t uid);
/* Takes a request from the user's allowance. false: it is used up for now. */
bool account_ask(struct account *account, uint64_t now_ns);
/* Notes how long a request took the supervisor: what is beyond one request's time goes off the
 * user's allowance. */
void account_took(struct account *account, uint64_t ns);
/* Forgets what the device's worker counted, which has ended. */
void accounts_worker_gone(struct accounts *accounts, int device);
/* Notes another fault, and returns for how long the user is kept out from now on; 0: not this time.
 */
uint64_t account_fault(struct account *account, uint64_t now_ns);
/* GS_ERR_REFUSED with a text while the user is kept out, else GS_OK. NULL: a user without an
 * account. */
gs_status account_admit(const struct account *account, char text[REFUSAL_TEXT_MAX]);
/* Makes the user a suspect: one of its sessions may have lost the worker that became ready at that
 * time (workers/suspects.h). Each session is told of on its own, and one event may lose the workers
 * of several devices: of the workers that were ready at a time, the loss of the first counts. */
void account_suspect(struct account *account, uint64_t ready_ns, uint64_t now_ns);
/* Notes that the user's session has lost a device. If the user was a suspect, nobody is one any
 * more. */
void accounts_culprit(struct accounts *accounts, uid_t uid, uint64_t now_ns);
/* Whether one more line about the user may be logged. May log a line before that says how many were
 * left out. NULL: an account that may log nothing. */
bool account_log(struct account *account, uint64_t now_ns);
/* The same for a line about a session of the user's, of which more are allowed. */
bool account_event(struct account *account, uint64_t now_ns);

#endif
