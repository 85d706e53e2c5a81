/* test_common_numa.c - CPU lists, and threads and memory kept on a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/mempolicy.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/numa.h"

static void the_kernels_lists_are_read(void **state)
{
    static const struct {
        const char *text;
        int count, first, last;
    } lists[] = {{"0\n", 1, 0, 0}, {"0-15\n", 16, 0, 15},       {"0-3,8,10-11\n", 7, 0, 11},
                 {"5", 1, 5, 5},   {"16-31,48-63", 32, 16, 63}, {"1023\n", 1, 1023, 1023}};
    cpu_set_t cpus;

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        assert_true(numa_list_parse(lists[i].text, &cpus));
        assert_int_equal(CPU_COUNT(&cpus), lists[i].count);
        assert_true(CPU_ISSET((size_t)lists[i].first, &cpus));
        assert_true(CPU_ISSET((size_t)lists[i].last, &cpus));
    }
    assert_true(numa_list_parse("\n", &cpus));
    assert_int_equal(CPU_COUNT(&cpus), 0);
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const texts[] = {"a",    "-3",     "0-",     "0,",       "3-1",    "0 1",
                                        "1024", "0-1024", "0-3x\n", "99999999", "0,-1\n", ",0"};
    cpu_set_t cpus;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(numa_list_parse(texts[i], &cpus));
}

static void a_node_that_is_not_there_changes_nothing(void **state)
{
    cpu_set_t before, after;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(numa_bind(NUMA_NONE), 0);
    assert_int_equal(numa_bind(NUMA_NODES_MAX - 1), 0);
    assert_int_equal(numa_bind(NUMA_NODES_MAX), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void *affinity_read(void *arg)
{
    sched_getaffinity(0, sizeof(cpu_set_t), arg);
    return NULL;
}

/* Whoever starts the process may have given it some of the node's CPUs only. */
static int bound_to_part(void)
{
    cpu_set_t one, inherited;
    pthread_t thread;
    size_t cpu = 0;

    if (sched_getaffinity(0, sizeof(one), &one))
        return 1;
    while (!CPU_ISSET(cpu, &one))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one))
        return 2;
    for (int node = 0; node < 64; node++) {
        int kept = numa_bind(node);
        if (kept == 0)
            continue;
        if (pthread_create(&thread, NULL, affinity_read, &inherited) || pthread_join(thread, NULL))
            return 3;
        return kept == 1 && CPU_EQUAL(&one, &inherited) ? 0 : 4;
    }
    return 77;
}

static void a_process_keeps_to_the_cpus_that_it_was_given(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(bound_to_part());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void memory_takes_the_nodes_policy(void **state)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE) * 4;
    unsigned char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned long nodes[NUMA_NODES_MAX / 64] = {0};
    int policy = -1;

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    numa_prefer(memory, size, NUMA_NONE);
    numa_prefer(memory, size, 0);
    memset(memory, 1, size);
    if (syscall(SYS_get_mempolicy, &policy, nodes, NUMA_NODES_MAX + 1, memory, MPOL_F_ADDR) < 0)
        policy = -1; /* the kernel has no NUMA, or a container forbids the call */
    munmap(memory, size);
    if (policy != MPOL_PREFERRED)
        skip();
    assert_int_equal(nodes[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_lists_are_read),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(a_node_that_is_not_there_changes_nothing),
        cmocka_unit_test(a_process_keeps_to_the_cpus_that_it_was_given),
        cmocka_unit_test(memory_takes_the_nodes_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
