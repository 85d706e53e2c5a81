/*
 * cpu_time.h - processor time, of user and system together: a tenant's, and that of what serves it.
 * In a cell.
 */
#ifndef GS_BENCH_CPU_TIME_H
#define GS_BENCH_CPU_TIME_H

#include <sys/types.h>

#define CPU_SERVERS_MAX 16

/* The processes that serve the tenants of plan.side: gshared and its workers, or the MPS daemon and
 * its servers. None on the other sides, nor those whose time the system does not tell. */
struct cpu_servers {
    unsigned count;
    pid_t pid[CPU_SERVERS_MAX];
};

void cpu_servers_find(struct cpu_servers *servers);

/* Processor time of all servers since they started, in nanoseconds. */
double cpu_servers_ns(const struct cpu_servers *servers);

/* Processor time of all threads of that process. */
double cpu_process_ns(pid_t pid);

/* Processor time of all threads of the calling process. */
double cpu_self_ns(void);

#endif
