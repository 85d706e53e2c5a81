/*
 * peer_window.h - peer windows: the windows that other sessions of the process have on other
 * devices. Their addresses are reserved here too, so that imports and joined host blocks lie at
 * their owners' addresses. A fenced session has none, for its kernels do not leave its own window.
 * Service threads, in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_PEER_WINDOW_H
#define GS_WORKER_MEMORY_PEER_WINDOW_H

#include "worker/session_parts.h"

/* Reserves a peer window. False: the addresses are not free here. */
bool peer_window_reserve(struct session *session, uint64_t base, uint64_t size);
/* The same for one that a former worker has noted in the journal. */
bool peer_window_reserve_again(struct session *session, uint64_t base, uint64_t size);
/* Whether the address is in a peer window of the session. */
bool peer_window_has(struct session *session, uint64_t address);
/* Whether the session can have no further peer window. */
bool peer_windows_full(const struct session *session);
/* Takes the place of a chunk in a peer window. False: the place is in none of them, or taken. */
bool peer_window_put(struct session *session, uint64_t address, uint64_t size, void *tag);
/* Notes that a chunk has left its place, which may be in a peer window: one that has no chunk any
 * more is freed. */
void peer_window_left(struct session *session, uint64_t address);
/* Notes that what lies at the address, which may be in a peer window, waits for its deferred
 * release: the window's addresses are given up after it. */
void peer_window_deferred(struct session *session, uint64_t address);
/* Frees the peer windows that have no chunk: a former worker was lost over an import. */
void peer_windows_settle(struct session *session);

#endif
