/*
 * settle.h - waits until a gshared is as it is in service: with its standby. A cell of its own,
 * before that of a row.
 */
#ifndef GS_BENCH_SETTLE_H
#define GS_BENCH_SETTLE_H

/* Attaches, since only a server with a tenant makes a standby, and waits until `gsctl status` names
 * one. */
void server_settle(void);

#endif
