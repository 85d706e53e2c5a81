/*
 * kernel_fault.h - fault notes: what a session's kernels write down about their own faults; see
 * kernel_fault.c.
 */
#ifndef GS_WORKER_MODULE_KERNEL_FAULT_H
#define GS_WORKER_MODULE_KERNEL_FAULT_H

#include "worker/session_parts.h"

/* Returns whether the session's kernels note stray accesses. */
bool kernel_fault_strays(const struct session *session);
/* Returns whether kernels of the module may note a fault, so that the session needs a print block.
 */
bool kernel_fault_possible(const struct ptx_rewrite_report *report);
/* Tells a loaded module where its kernels note faults, and its number in the session. Service
 * thread, after print_open. */
CUresult kernel_fault_bind(const struct session *session, const struct module *module,
                           uint32_t number);
/* Has the session's lane look for fault notes from now on. Called by the module's install. */
void kernel_fault_watch(struct session *session, const struct module *module);

/* Adds new stray accesses to the session's figures. Called by the session's lane, or by the job
 * that closes the session. */
void kernel_strays_count(struct session *session);
/* Ends the session if one of its kernels has noted a fault, which includes a stray access in a
 * strict session; counts stray accesses. Costs one load where none of the modules can note a fault.
 * The session's lane. */
void kernel_fault_poll(struct session *session);

#endif
