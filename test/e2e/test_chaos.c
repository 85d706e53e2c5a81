/*
 * test_chaos.c - a hostile tenant, killed processes, and full disks, beside eight honest tenants
 * (chaos/honest.h) whose results are checked after each round against known answers. Every
 * GS_CHAOS_CHECK rounds (50) what is finite is counted, and must not have grown: memory of the
 * device, descriptors of the server's processes, segments, queues.
 *
 * Where the test is root's, the hostile tenant is another user, most often one that was not there
 * before: then the bounds of a shared server hold for it, and who loses the device again is kept
 * out.
 *
 * GS_CHAOS_ROUNDS, GS_CHAOS_SECONDS: how many rounds, and how long at most (`make chaos`); a table
 * of the kinds of harm by outcome is printed. GS_CHAOS_HARM: this kind alone, by its name there.
 * GS_CHAOS_PROGRESS: a file for the number of rounds that have been counted in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chaos/honest.h"
#include "chaos/hostile.h"
#include "harness/harness.h"

#define ROUNDS       40u         /* where nothing else is asked for */
#define CHECK_ROUNDS 50u         /* from one count of what is finite to the next */
#define SLOW_NS      5000000000u /* a round that takes longer is printed */
#define USERS_FROM   100000u     /* hostile users; the first comes back every few rounds */
#define DISK_BYTES   "8m"

/* ---- Harms ---- */

struct scene {
    struct server *server;
    struct hostile *hostile;
    char disk[64]; /* where the state and the code cache are; "": the test may mount nothing */
    uint32_t round;
};

/* A fresh hostile tenant, most often of a user that has not been there yet. */
static struct hostile *hostile_new(struct scene *s, unsigned kernel)
{
    static uid_t next = USERS_FROM;

    *s->hostile = (struct hostile){
        .instance = s->server->instance,
        .uid = test_random() % 8 ? ++next : USERS_FROM,
        .kernel = kernel,
    };
    return s->hostile;
}

/* Ends however it likes, within a time. */
static void hostile_play(struct scene *s, void (*body)(void *))
{
    tenant_wait(tenant_start(body, hostile_new(s, 0)), 60);
}

static void worker_kill(const struct server *server, bool worker, bool standby)
{
    pid_t pids[SERVER_WORKERS_MAX];
    const unsigned count = server_workers(server, pids);
    const pid_t first = server_worker_pid(server);

    /* The kernel's list of a process's children may lack one while another ends. */
    if (worker && first > 0)
        kill(first, SIGKILL);
    for (unsigned i = 0; i < count; i++) {
        if (standby && pids[i] != first)
            kill(pids[i], SIGKILL);
    }
}

static void supervisor_kill(const struct server *server, bool workers)
{
    pid_t pids[SERVER_WORKERS_MAX];
    const unsigned count = workers ? server_workers(server, pids) : 0;

    kill(server_supervisor(server), SIGKILL);
    for (unsigned i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
}

static int gsctl(const char *const *arguments)
{
    char output[512];

    return program_run(arguments, output, sizeof(output));
}

static void worker_harm(struct scene *s)
{
    worker_kill(s->server, true, false);
}

static void standby_harm(struct scene *s)
{
    worker_kill(s->server, false, true);
}

static void both_harm(struct scene *s)
{
    worker_kill(s->server, true, true);
}

/* The next one too, while it takes over. */
static void twice_harm(struct scene *s)
{
    const pid_t pid = server_worker_pid(s->server);

    worker_kill(s->server, true, false);
    CHECK_WITHIN(20000, server_worker_pid(s->server) != pid && server_worker_pid(s->server) != 0);
    worker_kill(s->server, true, false);
}

static void supervisor_harm(struct scene *s)
{
    supervisor_kill(s->server, false);
}

static void all_harm(struct scene *s)
{
    supervisor_kill(s->server, true);
}

static void restart_run(void *argument)
{
    (void)argument;
    /* Refused, or interrupted, where the worker is lost first. */
    CHECK(gsctl((const char *[]){"bin/gsctl", "restart-worker", NULL}) <= 1);
}

static void restart_harm(struct scene *s)
{
    const pid_t pid = tenant_start(restart_run, NULL);

    for (uint64_t pauses = test_random() % 200; pauses; pauses--)
        test_pause();
    worker_kill(s->server, true, false);
    tenant_join(pid);
}

/* A tenant whose kernel does not end, and has been launched; or it was refused. */
static pid_t endless_start(struct scene *s)
{
    const pid_t pid = tenant_start(hostile_kernel, hostile_new(s, hostile_kernel_named("endless")));

    gate_wait(&s->hostile->launched, 1);
    return pid;
}

static void stopped_harm(struct scene *s)
{
    const pid_t pid = endless_start(s);

    kill(pid, SIGSTOP);
    tenant_kill(pid, SIGKILL);
}

static void killed_harm(struct scene *s)
{
    tenant_kill(endless_start(s), SIGKILL);
}

static void operator_harm(struct scene *s)
{
    const pid_t pid = endless_start(s);
    char id[16];

    snprintf(id, sizeof(id), "%d", (int)pid);
    gsctl((const char *[]){"bin/gsctl", "kill", "--pid", id, "--grace", "50", NULL});
    tenant_wait(pid, 60);
}

static void stray_harm(struct scene *s)
{
    hostile_play(s, hostile_stray);
}

static void scribbles_harm(struct scene *s)
{
    hostile_play(s, hostile_scribbles);
}

static void records_harm(struct scene *s)
{
    hostile_play(s, hostile_records);
}

static void objects_harm(struct scene *s)
{
    hostile_play(s, hostile_objects);
}

static void mutants_harm(struct scene *s)
{
    hostile_play(s, hostile_mutants);
}

static void memory_harm(struct scene *s)
{
    hostile_play(s, hostile_memory);
}

static void sessions_harm(struct scene *s)
{
    hostile_play(s, hostile_sessions);
}

static void queues_harm(struct scene *s)
{
    hostile_play(s, hostile_queues);
}

static void processes_harm(struct scene *s)
{
    hostile_play(s, hostile_processes);
}

/* Kernels that lose the device, some at the same moment and some while the next worker takes
 * over, each of another user. */
static void quick_harm(struct scene *s)
{
    static const char *const names[] = {"misaligned", "beyond shared", "misaligned"};
    pid_t pid[ARRAY_SIZE(names)];

    hostile_new(s, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        /* They share what they say; each has its own copy of who it is and what it launches once it
         * is forked. */
        struct hostile *next = shared_alloc(sizeof(*next));

        *next = (struct hostile){.instance = s->server->instance,
                                 .uid = USERS_FROM / 2 + s->round * 4 + i,
                                 .kernel = hostile_kernel_named(names[i]),
                                 .waits = true};
        pid[i] = tenant_start(hostile_kernel, next);
        gate_wait(&next->ready, 1);
        gate_pass(&next->go);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        tenant_wait(pid[i], 60);
}

/* A fault in a worker that has just taken over, or is about to. */
static void takeover_harm(struct scene *s)
{
    const pid_t worker = server_worker_pid(s->server);
    pid_t pid;

    hostile_new(s, hostile_kernel_named(test_random() % 2 ? "misaligned" : "beyond shared"));
    s->hostile->waits = true;
    pid = tenant_start(hostile_kernel, s->hostile);
    gate_wait(&s->hostile->ready, 1);
    worker_kill(s->server, true, false);
    if (test_random() % 2)
        CHECK_WITHIN(20000, server_worker_pid(s->server) != worker);
    gate_pass(&s->hostile->go);
    tenant_wait(pid, 60);
}

/* ---- Full disks ---- */

/* Small file systems of the test's own, for the state, the code cache, and /dev/shm. */
static void disks_mount(struct scene *s)
{
    s->disk[0] = '\0';
    if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return;
    snprintf(s->disk, sizeof(s->disk), "/tmp/gshare-chaos-%d", (int)getpid());
    if (mkdir(s->disk, 0700) < 0 ||
        mount("tmpfs", s->disk, "tmpfs", 0, "mode=0700,size=" DISK_BYTES) < 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777,size=1m") < 0)
        test_fail(__FILE__, __LINE__, "a file system of the test's own: %s", strerror(errno));
}

static void disks_unmount(const struct scene *s)
{
    if (s->disk[0] == '\0')
        return;
    umount2("/dev/shm", MNT_DETACH);
    umount2(s->disk, MNT_DETACH);
    rmdir(s->disk);
}

static void disk_fill(const char *folder)
{
    static char zeros[4096];
    char path[96];
    int fd;

    snprintf(path, sizeof(path), "%s/filler", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    CHECK_EQUAL(errno, ENOSPC);
    close(fd);
}

static void disk_clear(const char *folder)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/filler", folder);
    CHECK(unlink(path) == 0);
}

/* The state cannot be saved, as the operator is told, and code not be kept. In some of the rounds
 * the worker is lost meanwhile. */
static void disk_harm(struct scene *s)
{
    char weight[16];

    disk_fill(s->disk);
    disk_fill("/dev/shm");
    snprintf(weight, sizeof(weight), "%u", 1 + s->round % 1000);
    CHECK_EQUAL(
        gsctl((const char *[]){"bin/gsctl", "set", "--user", "100000", "--weight", weight, NULL}),
        1);
    hostile_play(s, hostile_mutants);
    if (test_random() % 2)
        worker_kill(s->server, true, false);
    disk_clear("/dev/shm");
    disk_clear(s->disk);
}

/* ---- The table ---- */

enum needs { NEEDS_NOTHING, NEEDS_DISKS };

/* Those that follow are the kernels of hostile.h. */
static const struct {
    const char *name;
    void (*run)(struct scene *s);
    enum needs needs;
} harms[] = {
    {"worker killed", worker_harm, 0},
    {"standby killed", standby_harm, 0},
    {"both killed", both_harm, 0},
    {"killed twice", twice_harm, 0},
    {"supervisor killed", supervisor_harm, 0},
    {"all three killed", all_harm, 0},
    {"killed in restart", restart_harm, 0},
    {"tenant stopped", stopped_harm, 0},
    {"tenant killed", killed_harm, 0},
    {"operator's kill", operator_harm, 0},
    {"stray, each form", stray_harm, 0},
    {"scribbles", scribbles_harm, 0},
    {"odd records", records_harm, 0},
    {"mutated PTX", mutants_harm, 0},
    {"faults in a row", quick_harm, 0},
    {"fault in takeover", takeover_harm, 0},
    {"all memory", memory_harm, 0},
    {"all sessions", sessions_harm, 0},
    {"all objects", objects_harm, 0},
    {"all queues", queues_harm, 0},
    {"many processes", processes_harm, 0},
    {"full disks", disk_harm, NEEDS_DISKS},
};
#define HARMS_MAX (ARRAY_SIZE(harms) + 16)

enum outcome {
    OUTCOME_NONE,     /* nothing came of it */
    OUTCOME_REFUSED,  /* one call at least was refused */
    OUTCOME_ALONE,    /* its session ended, and no other */
    OUTCOME_EVICTED,  /* its kernel was ended */
    OUTCOME_TAKEOVER, /* another worker has the device */
    OUTCOMES
};

struct table_row {
    uint32_t rounds, outcome[OUTCOMES];
    uint64_t interrupted[2]; /* [1]: of those whose work runs again */
    uint64_t pause_ns;       /* the longest */
    uint64_t total_ns;       /* of its rounds */
};

static unsigned harm_count(void)
{
    return (unsigned)ARRAY_SIZE(harms) + hostile_kernel_count();
}

static const char *harm_name(unsigned harm)
{
    return harm < ARRAY_SIZE(harms) ? harms[harm].name
                                    : hostile_kernel_name(harm - (unsigned)ARRAY_SIZE(harms));
}

static bool harm_possible(const struct scene *s, unsigned harm)
{
    return harm >= ARRAY_SIZE(harms) || harms[harm].needs == NEEDS_NOTHING || s->disk[0] != '\0';
}

/* It ends its own session, and leaves the device to the others. */
static bool harm_ends_alone(unsigned harm)
{
    return !strcmp(harm_name(harm), "trap") || !strcmp(harm_name(harm), "failed assert");
}

/* It should cost nobody the device: a kernel that ends, and what is refused. Where it does, the
 * kernel may have been ended by its limit, on a machine whose processors were taken. */
static bool harm_spares_worker(unsigned harm)
{
    static const char *const names[] = {
        "standby killed", "supervisor killed", "stray, each form", "scribbles",      "mutated PTX",
        "all memory",     "all sessions",      "all queues",       "many processes", "trap",
        "failed assert",  "all shared memory", "all registers",    "odd records",    "all objects",
        "all heap",       "flood of prints"};

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (!strcmp(harm_name(harm), names[i]))
            return true;
    }
    return false;
}

/* Prints why the server's last worker was lost. */
static void loss_tell(const struct scene *s, unsigned harm)
{
    FILE *log = fopen(s->server->log, "r");
    char line[512], last[512] = "";

    while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
        if (strstr(line, "event=fault device=") != NULL)
            snprintf(last, sizeof(last), "%s", line);
    }
    if (log != NULL)
        fclose(log);
    printf("# round %u (%s) cost the device its worker: %s%s", s->round, harm_name(harm), last,
           strchr(last, '\n') ? "" : "\n");
    fflush(stdout);
}

static void harm_do(struct scene *s, unsigned harm)
{
    if (harm < ARRAY_SIZE(harms)) {
        hostile_new(s, 0);
        harms[harm].run(s);
        return;
    }
    tenant_wait(tenant_start(hostile_kernel, hostile_new(s, harm - (unsigned)ARRAY_SIZE(harms))),
                60);
}

static enum outcome outcome_of(const struct hostile *h, bool takeover)
{
    if (atomic_load(&h->fault) == GS_FAULT_EVICTED)
        return OUTCOME_EVICTED;
    if (takeover)
        return OUTCOME_TAKEOVER;
    if (atomic_load(&h->fault) != GS_FAULT_NONE)
        return OUTCOME_ALONE;
    return atomic_load(&h->refused) ? OUTCOME_REFUSED : OUTCOME_NONE;
}

static void table_print(const struct table_row table[], uint32_t rounds, const struct honest *all)
{
    unsigned long long wrong = 0, lost = 0;

    for (unsigned i = 0; i < HONEST; i++) {
        wrong += atomic_load(&all->row[i].wrong);
        lost += atomic_load(&all->row[i].lost) != 0;
    }
    printf(
        "# %u rounds: %llu wrong words, %llu honest tenants lost. Outcomes of the harm in rounds;\n"
        "# of the honest at work, sessions interrupted (though replaying); the longest pause; the\n"
        "# mean time of a round.\n",
        rounds, wrong, lost);
    printf("# %-18s %6s %6s %7s %5s %7s %8s  %-18s %8s %8s\n", "harm", "rounds", "none", "refused",
           "alone", "evicted", "takeover", "interrupted", "pause", "round");
    for (unsigned i = 0; i < harm_count(); i++) {
        const struct table_row *row = &table[i];
        char interrupted[48];

        snprintf(interrupted, sizeof(interrupted), "%llu (%llu) of %u",
                 (unsigned long long)row->interrupted[0], (unsigned long long)row->interrupted[1],
                 row->rounds * WORKING);
        printf("# %-18s %6u %6u %7u %5u %7u %8u  %-18s %5llu ms %5llu ms\n", harm_name(i),
               row->rounds, row->outcome[OUTCOME_NONE], row->outcome[OUTCOME_REFUSED],
               row->outcome[OUTCOME_ALONE], row->outcome[OUTCOME_EVICTED],
               row->outcome[OUTCOME_TAKEOVER], interrupted,
               (unsigned long long)row->pause_ns / 1000000,
               (unsigned long long)(row->rounds ? row->total_ns / row->rounds / 1000000 : 0));
    }
    fflush(stdout);
}

/* ---- What is finite ---- */

/* The most that may be there more than at the first count. Segments of closed sessions wait for
 * their users' next ones, at most 64 of them. */
#define SEGMENTS_MORE    80u
#define DESCRIPTORS_MORE 80u

struct census {
    uint64_t memory;
    unsigned descriptors[3]; /* of keeper, supervisor, worker */
    unsigned segments, queues;
};

static unsigned entries(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;

    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

static unsigned descriptors_of(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    return entries(path);
}

static unsigned segments_count(void)
{
    FILE *f = fopen("/proc/sysvipc/shm", "r");
    char line[512];
    unsigned count = 0;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        count++;
    if (f != NULL)
        fclose(f);
    return count;
}

static bool all_held(const struct honest *all)
{
    for (unsigned i = RESTING; i < HONEST; i++) {
        if (!atomic_load(&all->row[i].held))
            return false;
    }
    return true;
}

static struct census census_take(const struct server *server)
{
    const char *queues = getenv("GSHARE_TEST_QUEUES"); /* of test/run: then these are its own */
    const bool own = queues != NULL && queues[0] != '\0';

    return (struct census){
        .memory = server_memory_used(server),
        .descriptors = {descriptors_of(server->pid), descriptors_of(server_supervisor(server)),
                        descriptors_of(server_worker_pid(server))},
        .segments = own ? segments_count() : 0,
        .queues = own ? entries(queues) : 0,
    };
}

/* What of it has grown; NULL: nothing. */
static const char *census_more(const struct census *now, const struct census *first)
{
    if (now->memory != first->memory)
        return "memory of the device";
    for (unsigned i = 0; i < ARRAY_SIZE(now->descriptors); i++) {
        if (now->descriptors[i] > first->descriptors[i] + DESCRIPTORS_MORE)
            return "descriptors";
    }
    if (now->segments > first->segments + SEGMENTS_MORE)
        return "segments";
    return now->queues > first->queues ? "queues" : NULL;
}

/* For whoever waits for the end: what is printed is shown then. */
static void progress_write(uint32_t rounds)
{
    const char *path = getenv("GS_CHAOS_PROGRESS");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file != NULL) {
        fprintf(file, "%u\n", rounds);
        fclose(file);
    }
}

/* Once the honest are at rest nothing else is left; what has just ended may take a moment. */
static void census_check(const struct scene *s, struct honest *all, struct census *first)
{
    const uint64_t deadline = test_deadline(20000);
    const char *more = NULL;
    struct census now;

    atomic_store(&all->hold, 1);
    CHECK_WITHIN(20000, all_held(all));
    server_wait_tenants(s->server, HONEST, 20000);
    do {
        now = census_take(s->server);
        if (first->memory == 0)
            *first = now;
        more = census_more(&now, first);
        if (more != NULL)
            test_pause();
    } while (more != NULL && clock_ns() < deadline);
    printf("# after %u rounds: %.1f MiB of the device, descriptors %u + %u + %u, %u segments, "
           "%u queues\n",
           s->round, (double)now.memory / 1048576, now.descriptors[0], now.descriptors[1],
           now.descriptors[2], now.segments, now.queues);
    fflush(stdout);
    if (more != NULL)
        test_fail(__FILE__, __LINE__, "%s left behind after %u rounds", more, s->round);
    progress_write(s->round);
    atomic_store(&all->hold, 0);
}

/* ---- Rounds ---- */

static uint64_t interrupted_sum(const struct honest *all, bool replay)
{
    uint64_t sum = 0;

    for (unsigned i = RESTING; i < HONEST; i++)
        sum += honest_replays(i) == replay ? atomic_load(&all->row[i].interrupted) : 0;
    return sum;
}

/* Somebody has a wrong word, or has lost its session though it was not to be. */
static bool harmed(const struct honest *all)
{
    for (unsigned i = 0; i < HONEST; i++) {
        if (atomic_load(&all->row[i].wrong) || atomic_load(&all->row[i].lost))
            return true;
    }
    return false;
}

/* Has those at rest look at their memory. */
static void round_tell(struct honest *all, uint32_t round)
{
    atomic_store(&all->round, round);
    futex_wake(&all->round);
}

static bool rested(const struct honest *all, uint32_t round)
{
    for (unsigned i = 0; i < RESTING; i++) {
        if (atomic_load(&all->row[i].seen) != round)
            return harmed(all);
    }
    return true;
}

/* Each of those who work gets on. */
static void work_goes_on(const struct honest *all)
{
    for (unsigned i = RESTING; i < HONEST; i++) {
        const uint64_t before = atomic_load(&all->row[i].checked);
        CHECK_WITHIN(20000, atomic_load(&all->row[i].checked) > before || harmed(all));
    }
}

static uint64_t pause_take(struct honest *all)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < HONEST; i++) {
        const uint64_t ns = atomic_exchange(&all->row[i].longest_ns, 0);
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

static void round_run(struct scene *s, struct honest *all, unsigned harm, struct table_row *row)
{
    const uint64_t before[2] = {interrupted_sum(all, false), interrupted_sum(all, true)};
    const pid_t worker = server_worker_pid(s->server);
    const uint64_t begin = clock_ns();
    uint64_t harm_ns, rested_ns;

    pause_take(all);
    harm_do(s, harm);
    harm_ns = clock_ns() - begin;
    round_tell(all, s->round + 1);
    CHECK_WITHIN(30000, rested(all, s->round + 1));
    rested_ns = clock_ns() - begin;
    server_wait_tenants(s->server, HONEST, 30000);
    work_goes_on(all);
    if (clock_ns() - begin > SLOW_NS)
        printf("# round %u (%s): %.1f s for the harm, %.1f s until those at rest went on, "
               "%.1f s in all\n",
               s->round, harm_name(harm), (double)harm_ns / 1e9, (double)rested_ns / 1e9,
               (double)(clock_ns() - begin) / 1e9);
    const bool takeover = server_worker_pid(s->server) != worker;
    row->rounds++;
    row->total_ns += clock_ns() - begin;
    row->outcome[outcome_of(s->hostile, takeover)]++;
    if (takeover && harm_spares_worker(harm))
        loss_tell(s, harm);
    if (takeover && harm_ends_alone(harm))
        test_fail(__FILE__, __LINE__, "round %u (%s) has cost the device its worker", s->round,
                  harm_name(harm));
    for (unsigned replay = 0; replay < 2; replay++)
        row->interrupted[replay] += interrupted_sum(all, replay) - before[replay];
    const uint64_t pause = pause_take(all);
    if (pause > row->pause_ns)
        row->pause_ns = pause;
}

static uint32_t asked(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL && atoi(text) > 0 ? (uint32_t)atoi(text) : otherwise;
}

/* Each once, and then by chance; or the one that is asked for. */
static unsigned harm_choose(const struct scene *s)
{
    const char *only = getenv("GS_CHAOS_HARM");
    unsigned harm = s->round < harm_count() ? s->round : (unsigned)(test_random() % harm_count());

    for (unsigned i = 0; only != NULL && i < harm_count(); i++) {
        if (!strcmp(harm_name(i), only))
            return i;
    }
    while (!harm_possible(s, harm))
        harm = (unsigned)(test_random() % harm_count());
    return harm;
}

static struct server *chaos_server(const struct scene *s)
{
    char state[96], cache[96], limit[16];
    const char *const arguments[] = {
        "--fence", "always",  "--grace", "1", s->disk[0] ? "--state" : NULL,
        state,     "--cache", cache,     NULL};
    struct server *server;

    snprintf(state, sizeof(state), "%s/state", s->disk);
    snprintf(cache, sizeof(cache), "%s/cache", s->disk);
    server = server_start(&(struct server_options){.arguments = arguments});
    /* What hostile kernels leave running is ended soon, and what honest ones do without a processor
     * is not: root's server has hostile tenants of other users. The memory of a session is bounded
     * for the machine's sake. */
    snprintf(limit, sizeof(limit), "%u", scaled_ms(500));
    const char *const whose = geteuid() == 0 ? "--others" : "--default";
    CHECK_EQUAL(gsctl((const char *[]){"bin/gsctl", "set", whose, "--kernel-limit", limit, NULL}),
                0);
    CHECK_EQUAL(gsctl((const char *[]){"bin/gsctl", "set", "--default", "--mem", "128M", NULL}), 0);
    return server;
}

static void no_wrong_word_and_no_honest_tenant_is_lost(void)
{
    const uint32_t rounds = asked("GS_CHAOS_ROUNDS", ROUNDS);
    const uint32_t every = asked("GS_CHAOS_CHECK", CHECK_ROUNDS);
    const uint64_t until = clock_ns() + asked("GS_CHAOS_SECONDS", 86400) * UINT64_C(1000000000);
    struct scene scene = {.hostile = shared_alloc(sizeof(*scene.hostile))};
    struct honest *all = shared_alloc(sizeof(*all));
    struct table_row table[HARMS_MAX] = {{0}};
    struct census first = {0};
    pid_t pids[HONEST];

    CHECK(harm_count() <= HARMS_MAX);
    CHECK(hostile_forms_read() > 300);
    disks_mount(&scene);
    scene.server = chaos_server(&scene);
    for (unsigned i = 0; i < HONEST; i++)
        pids[i] = tenant_start(honest_run, &(struct honest_self){all, i});
    server_wait_tenants(scene.server, HONEST, 20000);
    /* Round 0 is without harm: after it those who rest are at rest. */
    round_tell(all, 1);
    CHECK_WITHIN(30000, rested(all, 1));
    work_goes_on(all);
    census_check(&scene, all, &first);
    while (scene.round < rounds && clock_ns() < until) {
        const unsigned harm = harm_choose(&scene);

        scene.round++;
        round_run(&scene, all, harm, &table[harm]);
        if (harmed(all)) {
            table_print(table, scene.round, all);
            test_fail(__FILE__, __LINE__, "an honest tenant was harmed in round %u (%s)",
                      scene.round, harm_name(harm));
        }
        if (scene.round % every == 0 || scene.round == rounds)
            census_check(&scene, all, &first);
    }
    atomic_store(&all->stop, 1);
    for (unsigned i = 0; i < HONEST; i++)
        tenant_join(pids[i]);
    table_print(table, scene.round, all);
    server_wait_tenants(scene.server, 0, 10000);
    CHECK_WITHIN(10000, server_memory_used(scene.server) == 0);
    /* Workers were killed, and gave up, but none crashed. */
    CHECK_EQUAL(server_log_lines(scene.server, " was killed by signal "),
                server_log_lines(scene.server, " was killed by signal 9 "));
    server_stop(scene.server);
    disks_unmount(&scene);
}

/* Counts what the test above left out. */
static void full_disks_and_other_users_are_among_the_harms(void)
{
    struct scene scene;

    if (geteuid() != 0)
        test_skip("only root can be other users, and mount the disks to be filled");
    disks_mount(&scene);
    if (scene.disk[0] == '\0')
        test_skip("no mount namespace of its own, so no disks were filled");
    disks_unmount(&scene);
}

static const struct test tests[] = {
    TEST_WITHIN(no_wrong_word_and_no_honest_tenant_is_lost,
                36000), /* each round has its own deadline */
    TEST(full_disks_and_other_users_are_among_the_harms),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
