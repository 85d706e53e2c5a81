/* test_mps.c - `gsctl mps`: the commands of nvidia-cuda-mps-control, as scripts write them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static const char *const soft24[] = {"GSHARE_SOFT_SMS=24", "GSHARE_SOFT_MEM=1G", NULL};

static struct server *server_of_24_sms(void)
{
    return server_start(&(struct server_options){.device = "soft", .environment = soft24});
}

/* $GSCTL is gsctl's path there. */
static int shell(const char *command)
{
    size_t n;
    FILE *sh;

    setenv("GSCTL", test_build_path("bin/gsctl"), 1);
    sh = popen(command, "r");
    CHECK(sh != NULL);
    n = fread(output, 1, sizeof(output) - 1, sh);
    output[n] = 0;
    return WEXITSTATUS(pclose(sh));
}

/* Gives gsctl mps these lines on its standard input; returns its exit status. */
static int mps(const char *lines)
{
    setenv("MPS_LINES", lines, 1);
    return shell("printf '%s\\n' \"$MPS_LINES\" | \"$GSCTL\" mps 2>&1");
}

#define MPS_OK(lines)                                                                              \
    do {                                                                                           \
        int status_ = mps(lines);                                                                  \
        if (status_ != 0)                                                                          \
            test_fail(__FILE__, __LINE__, "gsctl mps ended with %d: %s", status_, output);         \
    } while (0)
/* The whole output. */
#define MPS_PRINTS(lines, wanted)                                                                  \
    do {                                                                                           \
        MPS_OK(lines);                                                                             \
        if (strcmp(output, wanted) != 0)                                                           \
            test_fail(__FILE__, __LINE__, "%s prints \"%s\", not \"%s\"", lines, output, wanted);  \
    } while (0)
#define MPS_FAILS(status, lines, part)                                                             \
    do {                                                                                           \
        CHECK_EQUAL(mps(lines), status);                                                           \
        CHECK_TEXT(output, part);                                                                  \
    } while (0)

/* A line with a pid, or two. Two lines at a time. */
static const char *line(const char *format, int first, int second)
{
    static char text[2][128];
    static unsigned next;

    next = !next;
    snprintf(text[next], sizeof(text[next]), format, first, second);
    return text[next];
}

static gs_session attach(void)
{
    gs_session session;
    char pid[24];

    CHECK_OK(gs_attach(NULL, &session));
    /* The server learns this process's pid a moment after the answer. */
    snprintf(pid, sizeof(pid), " %d ", (int)getpid());
    CHECK_WITHIN(5000, gsctl("ps", NULL) == 0 && strstr(output, pid));
    return session;
}

static unsigned granted(gs_session session)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    return affinity.sm_count;
}

static size_t memory_total(gs_session session)
{
    size_t free_bytes, total;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    return total;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void lists_have_the_shapes_of_mps(void)
{
    struct server *server = server_of_24_sms();
    gs_session first, second;

    MPS_PRINTS("get_server_list", line("%d\n", server->pid, 0));
    MPS_PRINTS(line("get_client_list %d", server->pid, 0), "");
    MPS_PRINTS(line("get_server_status %d", server->pid, 0), "ACTIVE\n");
    first = attach();
    second = attach();
    /* A process with two sessions is one client. */
    MPS_PRINTS(line("get_client_list %d", server->pid, 0), line("%d\n", (int)getpid(), 0));
    MPS_PRINTS("get_device_client_list", line("[0] 00:00.0, gshare software device\n%d.1\n%d.2\n",
                                              (int)getpid(), (int)getpid()));
    MPS_OK(line("get_device_client_list %d", server->pid, 0));
    MPS_OK("ps");
    CHECK_TEXT(output,
               "PID       ID        SERVER         DEVICE                    NAMESPACE      "
               "COMMAND        \n");
    CHECK_TEXT(output,
               line("%-9d 1         %-14d GPU-67736861-7265-2d73    ", (int)getpid(), server->pid));
    CHECK_TEXT(output,
               line("%-9d 2         %-14d GPU-67736861-7265-2d73    ", (int)getpid(), server->pid));
    CHECK_TEXT(output, " test_mps       \n");
    MPS_OK(line("ps -p %d", server->pid, 0));
    MPS_OK("device_query");
    CHECK_TEXT(output, "Default\nDevice Ordinal  PCI IDs        UUID ");
    CHECK_TEXT(output, line("\nServer %d\nDevice Ordinal  ", server->pid, 0));
    CHECK_TEXT(output, "gshare software device");
    CHECK_TEXT(output, "0               0000:00.00.00  GPU-67736861-7265-2d73-6f66-742d64657600  ");
    MPS_PRINTS("get_default_device_pinned_mem_limit GPU-67736861-7265-2d73-6f66-742d64657600", "");
    /* As arguments. */
    GSCTL_OK("mps", "get_server_list");
    CHECK(!strcmp(output, line("%d\n", server->pid, 0)));
    GSCTL_OK("mps", "--instance", server->instance, "ps", "-p", line("%d", server->pid, 0));
    GSCTL_OK("mps", "--", "ps", "-p", line("%d", server->pid, 0));
    GSCTL_OK("--", "mps", "ps", "-p", line("%d", server->pid, 0));
    CHECK_OK(gs_detach(second));
    CHECK_OK(gs_detach(first));
    server_stop(server);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limits_hold_for_clients_that_run(void)
{
    struct server *server = server_of_24_sms();
    gs_session session = attach();
    const int pid = (int)getpid();
    gs_qos qos = GS_QOS_INIT;

    MPS_PRINTS("get_default_active_thread_percentage", "100.0\n");
    MPS_PRINTS("set_default_active_thread_percentage 50", "50.0\n");
    CHECK_WITHIN(5000, granted(session) == 12);
    MPS_PRINTS("get_default_active_thread_percentage", "50.0\n");
    MPS_PRINTS(line("set_active_thread_percentage %d 100", server->pid, 0), "100.0\n");
    MPS_PRINTS(line("get_active_thread_percentage %d", server->pid, 0), "100.0\n");
    CHECK_WITHIN(5000, granted(session) == 24);
    /* Of one client. */
    MPS_PRINTS(line("set_active_thread_percentage %d 25", pid, 0), "25.0\n");
    CHECK_WITHIN(5000, granted(session) == 6);
    MPS_PRINTS(line("get_active_thread_percentage %d", pid, 0), "25.0\n");
    MPS_PRINTS("get_default_active_thread_percentage", "100.0\n");

    MPS_PRINTS("get_default_device_pinned_mem_limit 0", "");
    MPS_PRINTS("set_default_device_pinned_mem_limit 0 512M", "");
    MPS_PRINTS("get_default_device_pinned_mem_limit 0", "512M\n");
    CHECK_EQUAL(memory_total(session), 512 << 20);
    MPS_PRINTS(line("set_device_pinned_mem_limit %d 0 1G", server->pid, 0), "");
    MPS_PRINTS(line("get_device_pinned_mem_limit %d 0", server->pid, 0), "1G\n");
    MPS_PRINTS(line("set_device_pinned_mem_limit %d 0 64MB", pid, 0), "");
    MPS_PRINTS(line("get_device_pinned_mem_limit %d 0", pid, 0), "64M\n");
    CHECK_EQUAL(memory_total(session), 64 << 20);

    MPS_PRINTS("get_default_client_priority", "0\n");
    MPS_PRINTS("set_default_client_priority 1\nget_default_client_priority", "1\n");
    GSCTL_OK("ps");
    CHECK_TEXT(output, "best-effort");
    MPS_PRINTS("set_default_client_priority 0\nget_default_client_priority", "0\n");
    /* It lowers nobody: a class above normal can be had, too. */
    qos.cls = GS_CLASS_LATENCY;
    CHECK_OK(gs_set_qos(session, &qos));
    GSCTL_OK("ps");
    CHECK_TEXT(output, "latency");
    MPS_OK("set_default_client_priority 0");
    CHECK_TEXT(output, "nothing has changed");
    GSCTL_OK("set", "--default", "--class", "normal");
    MPS_PRINTS("get_default_client_priority", "0\n");
    MPS_OK("set_default_client_priority 0"); /* what is set natively stays */
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "class normal");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* 24 SMs in pairs: 12.5% are 3, where 12% would be 2.88. */
static void percentages_keep_their_fraction(void)
{
    struct server *server = server_of_24_sms();
    gs_session session;

    MPS_PRINTS("set_default_active_thread_percentage 12.5", "12.5\n");
    MPS_PRINTS("get_default_active_thread_percentage", "12.5\n");
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "default: percentage 12.5\n");
    GSCTL_OK("get", "--default", "--json");
    CHECK_TEXT(output, "{\"percentage\":12.5}");
    MPS_FAILS(2, "set_default_active_thread_percentage 12.5.1", "0.01 to 100");
    /* 33.4% are 8.02 SMs, and with that 10; 33.3% are 8. */
    session = attach();
    MPS_PRINTS("set_default_active_thread_percentage 33.4", "33.4\n");
    CHECK_WITHIN(5000, granted(session) == 10);
    MPS_PRINTS("set_default_active_thread_percentage 33.3", "33.3\n");
    CHECK_WITHIN(5000, granted(session) == 8);
    MPS_PRINTS("set_default_active_thread_percentage 100", "100.0\n");
    CHECK_OK(gs_detach(session));
    /* So do those of a client's environment: 8.33% are 2 SMs, 9% would be 3, and so 4. */
    CHECK(setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "8.33", 1) == 0);
    session = attach();
    CHECK_WITHIN(5000, granted(session) == 2);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The program's own environment is lower than what is set for it. */
static void a_limit_without_effect_says_so(void)
{
    struct server *server = server_of_24_sms();
    gs_session session;

    CHECK(setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25", 1) == 0);
    CHECK(setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=64M", 1) == 0);
    session = attach();
    MPS_OK(line("set_active_thread_percentage %d 50", (int)getpid(), 0));
    CHECK_TEXT(output, ": its own request or another limit is tighter");
    MPS_OK(line("set_device_pinned_mem_limit %d 0 128M", (int)getpid(), 0));
    CHECK_TEXT(output, "set, but nothing changes for session");
    MPS_PRINTS(line("set_device_pinned_mem_limit %d 0 32M", (int)getpid(), 0), "");
    MPS_OK("set_default_active_thread_percentage 40");
    CHECK_TEXT(output, "set, but nothing changes for the one session: requests, environments");
    MPS_PRINTS("set_default_active_thread_percentage 10", "10.0\n");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_memory_limit_below_what_a_client_holds_lets_it_keep_that(void)
{
    struct server *server = server_of_24_sms();
    gs_session session = attach();
    gs_devptr held, more;

    CHECK_OK(gs_malloc(session, 64 << 20, &held));
    CHECK_WITHIN(10000, server_memory_used(server) >= 64 << 20);
    MPS_OK("set_default_device_pinned_mem_limit 0 16M");
    CHECK_TEXT(output, "done, but session 1 holds 64 MiB: that stays, new allocations are refused");
    MPS_PRINTS("get_default_device_pinned_mem_limit 0", "16M\n");
    CHECK_STATUS(gs_malloc(session, 2 << 20, &more), GS_ERR_QUOTA);
    CHECK_OK(gs_memset(session, held, 7, 64 << 20));
    CHECK_OK(gs_free(session, held));
    CHECK_OK(gs_malloc(session, 8 << 20, &more));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_static_partition_is_a_reservation(void)
{
    struct server *server = server_of_24_sms();
    gs_session inside;

    MPS_PRINTS("sm_partition add 0 1", "0/mps1\n");
    MPS_PRINTS("sm_partition add 0 1", "0/mps2\n");
    MPS_OK("sm_partition add 0 1");
    CHECK_TEXT(output, "0/mps3\n");
    CHECK_TEXT(output, "no SMs left for tenants without a reservation");
    MPS_PRINTS("sm_partition rm 0/mps3", "");
    MPS_PRINTS("lspart", "GPU           Partition   free   used   free  used  clients\n"
                         "                          chunk  chunk  SM    SM   \n"
                         "0             -           1      2      8     16    -\n"
                         "0             mps1        -      1      -     8     No\n"
                         "0             mps2        -      1      -     8     No\n");
    setenv("CUDA_MPS_SM_PARTITION", "0/mps2", 1);
    inside = attach();
    CHECK_EQUAL(granted(inside), 8);
    MPS_OK("lspart");
    CHECK_TEXT(output, "mps2        -      1      -     8     Yes\n");
    MPS_FAILS(1, "sm_partition add 0 2", "gsctl: mps: sm_partition: ");
    CHECK_TEXT(output, "SMs");
    MPS_FAILS(1, "sm_partition rm 0 mps2",
              "gsctl: mps: sm_partition: 1 session is attached to 'mps2'");
    CHECK_OK(gs_detach(inside));
    MPS_PRINTS("sm_partition rm 0 mps2\nsm_partition rm 0/mps1", "");
    MPS_OK("lspart");
    CHECK(strstr(output, "mps") == NULL);
    server_stop(server);
}

/* ---- Clients and servers --------------------------------------------------------------------- */

static void server_ended(struct server *server)
{
    int status = tenant_wait(server->pid, 10);

    server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_client_is_terminated(void)
{
    struct server *server = server_of_24_sms();
    gs_session session = attach();
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, 4096, &memory));
    MPS_PRINTS(line("terminate_client %d %d", server->pid, (int)getpid()), "0\n");
    CHECK_WITHIN(10000, gs_malloc(session, 4096, &memory) != GS_OK);
    MPS_FAILS(1, line("terminate_client %d 1", server->pid, 0), "process 1 has no session");
    MPS_FAILS(1, line("terminate_client %d %d", server->pid, (int)getpid()),
              "it has ended already: gsctl ps has it as lost until its process detaches");
    MPS_FAILS(1, "terminate_client 1 1", "no server has the pid 1");
    MPS_FAILS(1, line("get_active_thread_percentage %d", (int)getpid(), 0),
              "no server and no client has the pid");
    /* Its process lives on and has not looked: it is no client any more, and nobody waits for it.
     */
    GSCTL_OK("ps");
    CHECK_TEXT(output, "lost");
    CHECK(strstr(output, "WEIGHT") == NULL); /* which it has no more */
    MPS_PRINTS(line("get_client_list %d", server->pid, 0), "");
    MPS_OK("get_device_client_list");
    CHECK(strstr(output, line("%d.", (int)getpid(), 0)) == NULL);
    MPS_OK("ps");
    CHECK(strstr(output, line("%d ", (int)getpid(), 0)) == NULL);
    MPS_PRINTS("quit", "");
    server_ended(server);
    gs_detach(session);
}

static void hold_a_session(void *argument)
{
    struct gate *gate = argument;
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    gate_pass(gate);
    gate_wait(gate, 2);
    CHECK_OK(gs_detach(session));
}

static void servers_end_as_those_of_mps(void)
{
    struct gate *gate = shared_alloc(sizeof(*gate));
    struct server *server = server_of_24_sms();
    gs_session session;
    pid_t quit, tenant;

    MPS_PRINTS(line("start_server -uid %d", 0, 0), "");
    MPS_FAILS(1, line("shutdown_server %d", server->pid + 1, 0), "get_server_list shows it");
    MPS_PRINTS(line("shutdown_server %d", server->pid, 0), "");
    server_ended(server);
    MPS_FAILS(3, "get_server_list", "start one: gshared -d");

    server = server_of_24_sms();
    session = attach();
    MPS_PRINTS(line("shutdown_server %d -f", server->pid, 0), "");
    server_ended(server);
    gs_detach(session);

    server = server_of_24_sms();
    session = attach();
    MPS_PRINTS("quit -t 0\nget_server_list", "");
    server_ended(server);
    gs_detach(session);

    /* Without a time it waits for the clients, and nobody can attach meanwhile. */
    server = server_of_24_sms();
    tenant = tenant_start(hold_a_session, gate);
    gate_wait(gate, 1);
    quit = fork();
    CHECK(quit >= 0);
    if (quit == 0)
        _exit(mps("quit"));
    CHECK_WITHIN(5000, gs_attach(NULL, &session) != GS_OK || (gs_detach(session), false));
    CHECK_EQUAL(waitpid(quit, NULL, WNOHANG), 0);
    gate_pass(gate);
    tenant_join(tenant);
    tenant_join(quit);
    server_ended(server);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static void what_is_wrong_or_cannot_be_is_said(void)
{
    static const char *const two[] = {"GSHARE_SOFT_DEVICES=2", NULL};
    static const char *const all[] = {"--devices", "all", NULL};
    static const struct {
        int status;
        const char *line, *part;
    } wrong[] = {
        {2, "get_servers", "there is no command 'get_servers'; gsctl mps help lists them"},
        {2, "get_server_list 1", "get_server_list: takes nothing"},
        {2, "get_server_list --instance x", "takes nothing; options of gsctl stand before mps"},
        {2, "get_client_list", "takes PID"},
        {2, "get_client_list one", "'one': a number from 0"},
        {1, "get_client_list 1", "no server has the pid 1"},
        {2, "set_default_active_thread_percentage 0", "'0': 0.01 to 100"},
        {2, "set_default_active_thread_percentage 101", "1 to 100"},
        {2, "set_default_active_thread_percentage x", "1 to 100"},
        {1, "set_active_thread_percentage 1 50", "no server and no client has the pid 1"},
        {2, "set_default_client_priority 2", "0 or 1"},
        {1, "get_default_device_pinned_mem_limit GPU-74d43ed2", "there is no device GPU-74d43ed2"},
        {1, "get_default_device_pinned_mem_limit 9", "there is no device 9"},
        {1, "set_default_device_pinned_mem_limit 1 1G", "gsctl set --default --mem 1G"},
        {2, "sm_partition", "takes add DEVICE CHUNKS"},
        {2, "sm_partition move 0 1", "takes add DEVICE CHUNKS"},
        {2, "sm_partition add 0 0", "0 chunks"},
        {2, "sm_partition rm 0", "no partition's name"},
        {1, "sm_partition rm 0 mps1", "no SMs are reserved"},
        {1, "start_server -uid 0 -mlopart", "not divided by their memory"},
        {2, "start_server", "takes -uid UID"},
        {2, "quit -t soon", "a number from 0"},
        {2, "quit now", "takes [-t SECONDS]"},
    };
    struct server *server = server_start(
        &(struct server_options){.device = "soft", .environment = two, .arguments = all});

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        MPS_FAILS(wrong[i].status, wrong[i].line, wrong[i].part);
    /* The next line is done all the same, and empty ones do nothing. */
    MPS_FAILS(2, "\n  \nget_servers\nget_server_list", line("\n%d\n", server->pid, 0));
    MPS_OK("help");
    CHECK_TEXT(output, "terminate_client SERVER_PID CLIENT_PID");
    MPS_PRINTS("", "");
    server_stop(server);
}

/* ---- In the place of nvidia-cuda-mps-control ------------------------------------------------- */

/* Runs examples/nvidia-cuda-mps-control with these arguments; the folder is where the test runs. */
static int wrapper(const char *arguments)
{
    char command[512];

    snprintf(command, sizeof(command),
             "export PATH=\"${GSCTL%%/gsctl}:$PATH\"; sh examples/nvidia-cuda-mps-control %s 2>&1",
             arguments);
    return shell(command);
}

static void the_script_in_the_place_of_mps_passes_options_or_names_them(void)
{
    char instance[32];

    snprintf(instance, sizeof(instance), "mps-%d", (int)getpid());
    CHECK(setenv("GSHARE_INSTANCE", instance, 1) == 0);
    CHECK_EQUAL(wrapper("-d -x"), 2);
    CHECK_TEXT(output, "-x: gshare has no such option");
    CHECK_EQUAL(wrapper("-d --no-such-option"), 2); /* it is gshared's to refuse */
    CHECK_TEXT(output, "gshared: ");
    CHECK_EQUAL(wrapper("--device soft"), 2);
    CHECK_TEXT(output, "--device soft: -d or -f is missing");
    CHECK_EQUAL(wrapper("get_server_list"), 3);
    CHECK(setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp", 1) == 0);
    CHECK(unsetenv("GSHARE_INSTANCE") == 0);
    CHECK_EQUAL(wrapper("-d --no-such-option"), 2);
    CHECK_TEXT(output, "CUDA_MPS_PIPE_DIRECTORY does not count: GSHARE_INSTANCE names a server");
    CHECK(unsetenv("CUDA_MPS_PIPE_DIRECTORY") == 0);
    CHECK(setenv("GSHARE_INSTANCE", instance, 1) == 0);
    CHECK_EQUAL(wrapper("-S -p 2 -d --device soft --max-tenants 7 >/dev/null; :"), 0);
    CHECK_EQUAL(wrapper("get_server_list"), 0);
    GSCTL_OK("status");
    CHECK_TEXT(output, "of at most 7");
    CHECK_EQUAL(wrapper("</dev/null; echo 'get_default_active_thread_percentage' | sh "
                        "examples/nvidia-cuda-mps-control"),
                0);
    CHECK_TEXT(output, "100.0\n");
    CHECK_EQUAL(wrapper("-q"), 0);
    CHECK_EQUAL(wrapper("get_server_list"), 3);
    CHECK_EQUAL(wrapper("-d -p 3"), 2);
    CHECK_TEXT(output, "-p 3: gshare has the commands of protocol 2");
    CHECK_EQUAL(wrapper("--help"), 0);
    CHECK_TEXT(output, "get_server_list");
    if (geteuid() == 0) {
        CHECK_EQUAL(wrapper("-d -multiuser-server --version"), 0);
        CHECK_TEXT(output, "-multiuser-server: root's server serves all users without it");
        CHECK_EQUAL(wrapper("-d -m --version"), 0);
        CHECK_TEXT(output, "-m: root's server serves all users without it");
    }
}

/* In an installation that PATH has nothing of but the script's folder. */
static void the_script_finds_gsctl_in_its_own_installation(void)
{
    char folder[] = "/tmp/gshare-test-XXXXXX", command[1024];

    CHECK(mkdtemp(folder) != NULL);
    snprintf(command, sizeof(command),
             "mkdir -p %s/share/gshare/mps && ln -s \"${GSCTL%%/gsctl}\" %s/bin && "
             "cp examples/nvidia-cuda-mps-control %s/share/gshare/mps",
             folder, folder, folder);
    CHECK_EQUAL(shell(command), 0);
    snprintf(command, sizeof(command),
             "PATH=%s/share/gshare/mps; nvidia-cuda-mps-control help 2>&1", folder);
    CHECK_EQUAL(shell(command), 0);
    CHECK_TEXT(output, "get_server_list");
    snprintf(command, sizeof(command),
             "ln -s share/gshare/mps/nvidia-cuda-mps-control %s/link && PATH=/usr/bin:/bin %s/link "
             "help 2>&1",
             folder, folder);
    CHECK_EQUAL(shell(command), 0);
    CHECK_TEXT(output, "get_server_list");
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQUAL(shell(command), 0);
}

/* ---- The daemon's variables ------------------------------------------------------------------ */

static void the_variables_of_the_daemon_hold_for_everybody(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=24",
                                              "GSHARE_SOFT_MEM=1G",
                                              "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50",
                                              "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=64MB,1=1G",
                                              "CUDA_MPS_CLIENT_PRIORITY=1",
                                              NULL};
    struct server *server =
        server_start(&(struct server_options){.device = "soft", .environment = environment});
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_qos qos = GS_QOS_INIT;
    gs_exec_affinity affinity;
    gs_devptr memory;

    MPS_PRINTS("get_default_active_thread_percentage", "50.0\n");
    MPS_PRINTS("get_default_device_pinned_mem_limit 0", "64M\n");
    MPS_PRINTS("get_default_client_priority", "1\n");
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    CHECK_EQUAL(affinity.sm_count, 12);
    CHECK_OK(gs_get_qos(session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_BEST_EFFORT);
    CHECK_STATUS(gs_malloc(session, 65 << 20, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_session_info(session, &desc));
    GSCTL_OK("explain", line("%d", (int)desc.session_id, 0));
    CHECK_TEXT(output, "* gshared's CUDA_MPS_ variables: percentage 50\n");
    /* What is said with gsctl goes before them, and what is taken back brings them again. */
    MPS_OK("set_default_active_thread_percentage 100");
    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    CHECK_EQUAL(affinity.sm_count, 24);
    MPS_PRINTS("set_default_client_priority 0\nget_default_client_priority", "0\n");
    CHECK_OK(gs_get_qos(session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_NORMAL);
    GSCTL_OK("set", "--default", "--unset", "all");
    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    CHECK_EQUAL(affinity.sm_count, 12);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_list_of_commands_needs_no_server(void)
{
    setenv("GSHARE_INSTANCE", "no-such-server", 1);
    GSCTL_OK("mps", "help");
    CHECK_TEXT(output, "get_server_list");
    for (const char *line = output; *line; line += strcspn(line, "\n") + 1)
        CHECK(strcspn(line, "\n") <= 80);
    CHECK_EQUAL(gsctl("mps", "ps", NULL), 3);
}

static void a_variable_of_the_daemon_that_makes_no_sense_is_named(void)
{
    static const char *const wrong[][2] = {
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "much"},
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "101"},
        {"CUDA_MPS_CLIENT_PRIORITY", "2"},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "1G"},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=1K"},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=lots"},
    };
    char command[512];

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        FILE *sh;
        size_t n;

        snprintf(command, sizeof(command), "%s='%s' \"%s\" --instance wrong-%d --device soft 2>&1",
                 wrong[i][0], wrong[i][1], test_build_path("bin/gshared"), (int)getpid());
        sh = popen(command, "r");
        CHECK(sh != NULL);
        n = fread(output, 1, sizeof(output) - 1, sh);
        output[n] = 0;
        CHECK_EQUAL(WEXITSTATUS(pclose(sh)), 2);
        CHECK_TEXT(output, wrong[i][0]);
        CHECK_TEXT(output, wrong[i][1]);
    }
}

static const struct test tests[] = {
    TEST(the_variables_of_the_daemon_hold_for_everybody),
    TEST(the_list_of_commands_needs_no_server),
    TEST(a_variable_of_the_daemon_that_makes_no_sense_is_named),
    TEST(lists_have_the_shapes_of_mps),
    TEST(limits_hold_for_clients_that_run),
    TEST(percentages_keep_their_fraction),
    TEST(a_limit_without_effect_says_so),
    TEST(a_memory_limit_below_what_a_client_holds_lets_it_keep_that),
    TEST(a_static_partition_is_a_reservation),
    TEST(a_client_is_terminated),
    TEST(servers_end_as_those_of_mps),
    TEST(what_is_wrong_or_cannot_be_is_said),
    TEST(the_script_finds_gsctl_in_its_own_installation),
    TEST(the_script_in_the_place_of_mps_passes_options_or_names_them),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
