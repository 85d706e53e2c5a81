/* test_gsctl_pod.c - which pod and container a process is in, by what its cgroups are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "gsctl/metrics/pod.h"

#define UID  "8e4f0a1c-1d2e-4f3a-9b8c-7d6e5f4a3b2c"
#define UID_ "8e4f0a1c_1d2e_4f3a_9b8c_7d6e5f4a3b2c"
#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_pod_is_found_by_either_spelling(void **state)
{
    static const struct {
        const char *cgroups, *uid, *container; /* uid NULL: in no pod */
    } cases[] = {
        {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
         ".slice/cri-containerd-" ID ".scope\n",
         UID, ID},
        {"0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/below\n", UID, ID},
        {"0::/kubepods/besteffort/pod" UID "/" ID "\n", UID, ID},
        {"0::/kubepods/pod" UID "/" ID, UID, ID},
        {"12:pids:/kubepods/burstable/pod" UID "/" ID "\n11:cpu:/\n0::/init.scope\n", UID, ID},
        {"1:name=systemd:/\n0::/kubepods/pod" UID "\n", UID, ""},
        {"0::/kubepods/pod" UID "/", UID, ""},
        {"0::/kubepods/pod" UID "/not-a-container\n", UID, ""},
        {"0::/kubepods/pod" UID "/x" ID "\n", UID, ""},
        {"0::/kubepods/pod" UID "/" ID "/pod00000000-0000-0000-0000-000000000000/" ID, UID, ID},
        {"0::/user.slice/user-1000.slice/kubepods/pod" UID "/" ID "\n", NULL, NULL},
        {"0::/kubepods-mine/pod" UID "/" ID "\n", NULL, NULL},
        {"0::/kubepods/pod8E4F0A1C-1d2e-4f3a-9b8c-7d6e5f4a3b2c/" ID "\n", NULL, NULL},
        {"0::/kubepods/pod8e4f0a1c-1d2e-4f3a-9b8c-7d6e5f4a3b2/" ID "\n", NULL, NULL},
        {"0::/kubepods/" UID "/" ID "\n", NULL, NULL},
        {"0::/\n", NULL, NULL},
        {"kubepods\n::\n:\n\n", NULL, NULL},
        {"", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct pod pod = {.uid = "as it was"};

        assert_int_equal(pod_parse(cases[i].cgroups, &pod), cases[i].uid != NULL);
        assert_string_equal(pod.uid, cases[i].uid ? cases[i].uid : "as it was");
        if (cases[i].uid)
            assert_string_equal(pod.id, cases[i].container);
    }
}

/* Text that ends anywhere. */
static void no_part_of_a_text_is_read_beyond_its_end(void **state)
{
    static const char whole[] = "0::/kubepods/burstable/pod" UID "/cri-" ID ".scope\n";

    (void)state;
    for (size_t length = 0; length <= sizeof(whole) - 1; length++) {
        char *text = strndup(whole, length);
        struct pod pod;

        pod_parse(text, &pod);
        free(text);
    }
}

/* Names are those of the link that has the container's number at its end. */
static void names_are_those_of_the_kubelets_link(void **state)
{
    static const char other[] = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
    static const struct {
        const char *link, *namespace, *name, *container; /* NULL: it names nothing */
    } cases[] = {
        {"train-7d9f_team-a_main-" ID ".log", "team-a", "train-7d9f", "main"},
        {"a.b.c-0_x_y-z-" ID ".log", "x", "a.b.c-0", "y-z"},
        {"pod_ns_c-" ID, NULL, NULL, NULL},
        {"pod_ns-" ID ".log", NULL, NULL, NULL},
        {"pod__c-" ID ".log", NULL, NULL, NULL},
        {"pod_ns_-" ID ".log", NULL, NULL, NULL},
        {"pod_ns_c_d-" ID ".log", NULL, NULL, NULL},
        {"pod_ns_c" ID ".log", NULL, NULL, NULL},
        {"-" ID ".log", NULL, NULL, NULL},
        {ID ".log", NULL, NULL, NULL},
    };
    char folder[] = "/tmp/gshare-pods-XXXXXX", path[512];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct pod pod = {.uid = UID, .id = ID}, elsewhere = {.uid = UID}, nowhere = {.uid = UID};

        snprintf(path, sizeof(path), "%s/%s", folder, cases[i].link);
        assert_int_equal(symlink("/nowhere", path), 0);
        struct pod_logs logs = pod_logs_read(folder);
        pod_name(&logs, &pod);
        memcpy(elsewhere.id, other, sizeof(other));
        pod_name(&logs, &elsewhere);
        pod_name(&logs, &nowhere);
        pod_logs_free(&logs);
        assert_int_equal(unlink(path), 0);
        assert_string_equal(pod.namespace, cases[i].namespace ? cases[i].namespace : "");
        assert_string_equal(pod.name, cases[i].name ? cases[i].name : "");
        assert_string_equal(pod.container, cases[i].container ? cases[i].container : "");
        assert_string_equal(elsewhere.name, "");
        assert_string_equal(nowhere.name, "");
    }
    assert_int_equal(rmdir(folder), 0);
    struct pod_logs none = pod_logs_read(folder);
    assert_int_equal(none.count, 0);
    pod_logs_free(&none);
}

static void a_process_that_there_is_not_is_in_no_pod(void **state)
{
    struct pod pod;

    (void)state;
    assert_false(pod_of(-1, &pod));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_found_by_either_spelling),
        cmocka_unit_test(no_part_of_a_text_is_read_beyond_its_end),
        cmocka_unit_test(names_are_those_of_the_kubelets_link),
        cmocka_unit_test(a_process_that_there_is_not_is_in_no_pod),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
