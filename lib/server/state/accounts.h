/*
 * accounts.h - the account of each user who has sessions or has asked lately: what the user has of
 * the server's finite resources. The supervisor's thread.
 */
#ifndef GS_SERVER_ACCOUNTS_H
#define GS_SERVER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/refusal.h"
#include "server/state/settings.h"

#define ACCOUNTS_MAX   4096u
/* The most requests of a user in a second, and in a burst. The thousand ranks of an MPI job attach
 * at once. */
#define REQUESTS_RATE  1000u
#define REQUESTS_BURST 4096
/* A request that takes the supervisor longer counts as several: an attach or a change of QoS places
 * all sessions of its device anew. */
#define REQUEST_NS     250000u

/* How long a user is a suspect at first, and at most. Each further loss doubles the time, so that a
 * user who loses devices now and then is still a suspect at the next loss. */
#define SUSPECT_NS     UINT64_C(30000000000)
#define SUSPECT_MAX_NS (32 * SUSPECT_NS)

/* Lines of the log in the present interval. */
struct log_interval {
    uint64_t since_ns;
    uint32_t lines, dropped;
};

struct account {
    bool used; /* set last, and cleared first, so that a next supervisor finds whole accounts */
    uid_t uid;
    uint32_t sessions;
    uint32_t pieces; /* number of pieces in the vaults of its sessions */
    /* Bytes of each device that linger: its sessions have lent them to other devices and revoked or
     * freed them, and importers still map them (loans.h). */
    uint64_t lingering[SETTINGS_DEVICES_MAX];
    uint32_t lingering_due;  /* bits of the devices whose worker is about to be told of it */
    uint32_t lingering_sent; /* bits of the devices whose worker may count some of it */
    /* The allowance of requests. */
    int32_t tokens; /* below 0: the user's requests took more time than allowed */
    uint64_t refilled_ns;
    /* number of faults of its kernels that lost a device */
    uint32_t faults;
    uint64_t kept_out_ns;  /* the user may not attach before this time */
    uint64_t suspect_ns;   /* until this time the user is suspected of having lost a device */
    uint32_t suspicions;   /* number of losses that made the user a suspect ... */
    uint64_t suspicion_ns; /* ... and when the last of them was counted */
    /* Lines of the log that the user has caused: warnings, and sessions that begin and end. */
    struct log_interval log, event;
};

/* All zero: empty. */
struct accounts {
    uint32_t count; /* entries at and behind it have never been used */
    struct account entry[ACCOUNTS_MAX];
    uint32_t ordered;             /* number of entries in use */
    uint16_t order[ACCOUNTS_MAX]; /* their indices, by uid */
};

/* Takes over the accounts of a former supervisor. Resources are counted anew; bans and suspicions
 * stay. An account that the former supervisor was just making is dropped. */
void accounts_restore(struct accounts *accounts);
/* Returns the user's account, valid until the next account is made; NULL: there is none. */
struct account *account_find(const struct accounts *accounts, uid_t uid);
/* Returns the user's account, and makes one if there is none. NULL: all accounts are in use. */
struct account *account_get(struct accounts *accounts, uid_t uid);
/* Takes a request from the user's allowance. Returns false if that is used up for now. */
bool account_ask(struct account *account, uint64_t now_ns);
/* Notes how long the supervisor took for a request. Time beyond REQUEST_NS is taken from the user's
 * allowance too. */
void account_took(struct account *account, uint64_t ns);
/* Forgets what the device's worker, which has ended, had been told of lingering memory. */
void accounts_worker_gone(struct accounts *accounts, int device);
/* Notes another fault. Returns for how long the user is kept out from now on, in nanoseconds; 0:
 * not this time. */
uint64_t account_fault(struct account *account, uint64_t now_ns);
/* Returns GS_ERR_REFUSED and a text while the user is kept out, else GS_OK. NULL stands for a user
 * without an account. */
gs_status account_admit(const struct account *account, char text[REFUSAL_TEXT_MAX]);
/* Makes the user a suspect, since one of its sessions may have lost the worker that became ready at
 * ready_ns (workers/suspects.h). The function is called for each suspected session, and one event
 * may lose the workers of several devices. So of workers that were ready at the same time only the
 * first loss counts. */
void account_suspect(struct account *account, uint64_t ready_ns, uint64_t now_ns);
/* Notes that the user's session has lost a device. If the user was a suspect, all suspicions
 * end. */
void accounts_culprit(struct accounts *accounts, uid_t uid, uint64_t now_ns);
/* Returns whether one more line about the user may be logged. May first log how many lines were
 * left out. NULL stands for an account that may log nothing. */
bool account_log(struct account *account, uint64_t now_ns);
/* Returns the same for a line about the beginning or end of a session, of which more are
 * allowed. */
bool account_event(struct account *account, uint64_t now_ns);

#endif
