/*
 * descriptor_table.h - makes room for descriptors before there are threads.
 *
 * The kernel doubles a process's table of descriptors when it is full. If threads share the table,
 * the one that opens the next descriptor then waits for an RCU grace period: 10 to 25 ms on a
 * machine with an H200, in which the supervisor and the worker each held up a tenant's attach.
 * Before the second thread starts, growing the table does not wait.
 */
#ifndef GS_COMMON_DESCRIPTOR_TABLE_H
#define GS_COMMON_DESCRIPTOR_TABLE_H

/* The number of descriptors for which the supervisor and a worker make room: some thirty for each
 * of a thousand sessions, 256 KiB of kernel memory. */
#define DESCRIPTOR_TABLE_SIZE 32768u

/* Makes room for `count` descriptors, or for as many as RLIMIT_NOFILE allows; does not shrink a
 * larger table. A forked process gets a table only for the open descriptors, so each process with a
 * table of its own calls this. A failure costs only time. */
void descriptor_table_reserve(unsigned count);

#endif
