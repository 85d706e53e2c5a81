/*
 * kernel_fault.h - what a session's kernels note of their own faults; see kernel_fault.c.
 */
#ifndef GS_WORKER_MODULE_KERNEL_FAULT_H
#define GS_WORKER_MODULE_KERNEL_FAULT_H

#include "worker/session_parts.h"

/* Whether the session's kernels note their strays. */
bool kernel_fault_strays(const struct session *session);
/* Whether kernels of the module may note a fault, so that the session needs a print block. */
bool kernel_fault_possible(const struct ptx_rewrite_report *report);
/* Tells a loaded module where its kernels note, and its number in the session. Service thread,
 * after print_open. */
CUresult kernel_fault_bind(const struct session *session, const struct module *module,
                           uint32_t number);
/* The session's lane looks at the note from now on. At the module's install. */
void kernel_fault_watch(struct session *session, const struct module *module);

/* Counts the strays that have come since in the session's figures. The session's lane. */
void kernel_strays_count(struct session *session);
/* Ends the session where one of its kernels has noted a fault, a stray among them if the session
 * is strict; counts strays. One load where none of its modules can. The session's lane. */
void kernel_fault_poll(struct session *session);

#endif
