/* tenants.c - see tenants.h. */
#include "lib/tenants.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/util.h"

/* How often the cell looks whether a tenant has died rather than arrived. */
#define LOOK_NS 20000000u

static size_t group_size(unsigned count)
{
    return sizeof(struct tenants) + count * sizeof(struct tenant);
}

static void __attribute__((noreturn))
tenant_main(struct tenant *tenant, void (*body)(struct tenant *), pid_t cell)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != cell)
        _exit(EXIT_FAILURE);
    cell_failure_place(tenant->failure);
    body(tenant);
    _exit(EXIT_SUCCESS);
}

struct tenants *tenants_start(unsigned count, void (*body)(struct tenant *), const void *arg)
{
    struct tenants *group = cell_shared(group_size(count));
    pid_t cell = getpid();

    for (unsigned i = 0; i < count; i++) {
        struct tenant *t = &group->tenant[i];
        pid_t pid; /* not set in the child, which shares the tenant */

        t->group = group;
        t->index = i;
        t->arg = arg;
        pid = fork();
        if (pid == 0)
            tenant_main(t, body, cell);
        if (pid < 0)
            cell_fail("forking tenant %u of %u: %s", i + 1, count, strerror(errno));
        t->pid = pid;
        group->count++;
    }
    return group;
}

void tenant_arrive(struct tenant *tenant, uint32_t step)
{
    struct tenants *group = tenant->group;
    uint32_t go;

    /* release: the values written before are seen by the cell, which reads step with acquire */
    atomic_store_explicit(&tenant->step, step, memory_order_release);
    atomic_fetch_add_explicit(&group->arrived, 1, memory_order_release);
    futex_wake(&group->arrived);
    while ((go = atomic_load_explicit(&group->go, memory_order_acquire)) < step)
        futex_wait(&group->go, go, 1000000000u);
}

/* Reaps the tenants that have ended. Returns one that failed, or NULL. */
static const struct tenant *group_reap(struct tenants *group)
{
    const struct tenant *failed = NULL;

    for (unsigned i = 0; i < group->count; i++) {
        struct tenant *t = &group->tenant[i];

        if (!t->ended && waitpid(t->pid, &t->status, WNOHANG) == t->pid)
            t->ended = true;
        if (t->ended && t->status != 0)
            failed = t;
    }
    return failed;
}

void tenants_check(struct tenants *group)
{
    const struct tenant *failed = group_reap(group);

    if (failed == NULL || group->tolerant)
        return; /* nobody ends well without having arrived at every step */
    if (failed->failure[0] != '\0')
        cell_fail("%s", failed->failure);
    cell_fail("tenant %u of %u ended with wait status %#x", failed->index + 1, group->count,
              (unsigned)failed->status);
}

unsigned tenants_await(struct tenants *group, uint32_t step)
{
    uint64_t looked = 0;

    for (;;) {
        uint32_t seen = atomic_load_explicit(&group->arrived, memory_order_acquire);
        unsigned there = 0, gone = 0;

        for (unsigned i = 0; i < group->count; i++) {
            struct tenant *t = &group->tenant[i];

            if (atomic_load_explicit(&t->step, memory_order_acquire) >= step)
                there++;
            else if (t->ended)
                gone++;
        }
        if (there + gone == group->count && (gone == 0 || group->tolerant))
            return there;
        if (clock_ns() - looked > LOOK_NS) {
            tenants_check(group);
            looked = clock_ns();
            continue;
        }
        futex_wait(&group->arrived, seen, LOOK_NS);
    }
}

uint64_t tenants_go(struct tenants *group, uint32_t step)
{
    uint64_t now = clock_ns();

    atomic_store_explicit(&group->go, step, memory_order_release);
    futex_wake(&group->go);
    return now;
}

void tenants_join(struct tenants *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        struct tenant *t = &group->tenant[i];

        while (!t->ended) {
            if (waitpid(t->pid, &t->status, 0) == t->pid)
                t->ended = true;
            else if (errno != EINTR)
                cell_fail("waiting for tenant %u: %s", i + 1, strerror(errno));
        }
    }
    tenants_check(group);
}

void tenants_free(struct tenants *group)
{
    group->tolerant = true;
    for (unsigned i = 0; i < group->count; i++) {
        if (!group->tenant[i].ended)
            kill(group->tenant[i].pid, SIGKILL);
    }
    tenants_join(group);
    munmap(group, group_size(group->count));
}
