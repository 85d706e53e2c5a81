/*
 * test_supervisor_steps.c - the supervisor is killed at its system call N after a request, then at
 * the next, until the request is done before that: whatever is under way then succeeds all the
 * same, and nothing is left of it.
 *
 * Each round is an actor, a process of its own, which prepares, acts while the supervisor is run
 * step by step (syscall_steps.h), and then checks what must hold. By default a few stops are chosen
 * at random, spread over all of the scenario. Environment: GS_KILL_STEPS, "all" or the number of
 * one stop.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin.h"
#include "gsctl_run.h"
#include "harness/harness.h"
#include "syscall_steps.h"

#define MIB (UINT64_C(1) << 20)

/* The keeper replaces so many in 10 s. */
#define KILLS_MAX     10u
#define SAMPLES       12u
#define SAMPLES_FRESH 4u
#define FAILURES_MAX  12u

/* When all is done and the supervisor sleeps so long, it has nothing more to do. */
#define IDLE_MS 20u

#define ROUND_SECONDS 25u
#define USERS         60000u /* each round has a user of its own */
#define ATTACH_MS     15000u

/* ---- Actors ---------------------------------------------------------------------------------- */

#define WORDS (4u * 1024 * 1024 / sizeof(uint32_t))

struct faulting;

/* What an actor has: in its own memory. */
struct scene {
    const struct server *server;
    gs_session session, other;
    gs_devptr memory;
    gs_mem_handle handle;
    gs_kernel kernel;
    uint32_t number; /* another one each round */
    pid_t tenant;
    struct faulting *user; /* shared */
    char id[32], name[32];
};

struct scenario {
    void (*prepare)(struct scene *scene);
    void (*act)(struct scene *scene);
    void (*check)(struct scene *scene);
    bool fresh;                          /* each round has a server of its own; they are few */
    const struct server_options *server; /* NULL: one without fences */
};

static gs_session attach_with(const gs_qos *qos)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.timeout_ms = ATTACH_MS;
    params.qos = qos;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static void id_write(struct scene *scene)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(scene->session, &desc));
    snprintf(scene->id, sizeof(scene->id), "%llu", (unsigned long long)desc.session_id);
}

static unsigned sms_of(gs_session session)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    return affinity.sm_count;
}

static unsigned weight_of(gs_session session)
{
    gs_qos qos = GS_QOS_INIT;

    CHECK_OK(gs_get_qos(session, &qos));
    return qos.weight;
}

static void words_write(struct scene *scene)
{
    uint32_t *words = malloc(WORDS * sizeof(*words));

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u + scene->number;
    CHECK_OK(gs_memcpy_htod(scene->session, scene->memory, words, WORDS * sizeof(*words)));
    free(words);
}

static void words_check(const struct scene *scene)
{
    uint32_t *words = calloc(WORDS, sizeof(*words));

    CHECK_OK(gs_memcpy_dtoh(scene->session, words, scene->memory, WORDS * sizeof(*words)));
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK_EQUAL(words[i], i * 2654435761u + scene->number);
    free(words);
}

/* A session at rest whose words are known. */
static void holder_begin(struct scene *scene)
{
    scene->session = attach_with(NULL);
    id_write(scene);
    CHECK_OK(gs_malloc(scene->session, WORDS * sizeof(uint32_t), &scene->memory));
    words_write(scene);
}

/* The session works, and others can attach. */
static void holder_end(struct scene *scene)
{
    gs_devptr more;

    words_check(scene);
    CHECK_OK(gs_malloc(scene->session, MIB, &more));
    CHECK_OK(gs_detach(attach_with(NULL)));
    words_check(scene);
    CHECK_OK(gs_detach(scene->session));
}

static void nothing(struct scene *scene)
{
    (void)scene;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct actor {
    struct gate ready, go, done, verify;
    pid_t pid;
    const struct scenario *scenario;
    struct scene scene;
};

static void actor_run(void *argument)
{
    struct actor *actor = argument;
    struct scene *scene = &actor->scene;

    alarm((unsigned)((test_deadline(ROUND_SECONDS * 1000) - clock_ns()) / 1000000000u) + 1);
    actor->scenario->prepare(scene);
    gate_pass(&actor->ready);
    gate_wait(&actor->go, 1);
    actor->scenario->act(scene);
    gate_pass(&actor->done);
    gate_wait(&actor->verify, 1);
    actor->scenario->check(scene);
    CHECK_WITHIN(10000, admin_rows(scene->server) == 0);
    server_wait_tenants(scene->server, 0, 10000);
    CHECK_WITHIN(10000, server_memory_used(scene->server) == 0);
}

static bool actor_ended(const struct actor *actor)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)actor->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

/* Where it is, or has ended. */
static const char *actor_phase(const struct actor *actor)
{
    if (!atomic_load(&actor->ready.count))
        return "preparing";
    return atomic_load(&actor->done.count) ? "checking" : "acting";
}

static bool actor_at(const struct actor *actor, const struct gate *gate)
{
    return atomic_load(&gate->count) || actor_ended(actor);
}

/* One scenario, over and over. */
struct trial {
    const struct scenario *scenario;
    struct server *server; /* NULL: it takes another one */
    struct actor *actor;   /* shared */
    struct steps steps;
    unsigned kills, rounds, failures;
};

/* Runs the supervisor up to the stop. false: the scenario was done before. */
static bool run_to(struct trial *trial, uint32_t stop)
{
    struct steps *steps = &trial->steps;

    while (steps->stops < stop) {
        const bool done = actor_at(trial->actor, &trial->actor->done);

        switch (steps_next(steps, IDLE_MS)) {
        case STEP_STOPPED:
            break;
        case STEP_RUNNING:
            if (done)
                return false;
            break;
        case STEP_ENDED:
            test_fail(__FILE__, __LINE__, "the supervisor has ended by itself");
        }
    }
    return true;
}

static void server_want(struct trial *trial, unsigned kills)
{
    if (trial->server && (trial->scenario->fresh || trial->kills + kills > KILLS_MAX)) {
        server_stop(trial->server);
        trial->server = NULL;
    }
    if (!trial->server) {
        trial->server =
            server_start(trial->scenario->server ? trial->scenario->server : &server_unfenced);
        trial->kills = 0;
    }
    trial->kills += kills;
}

static void actor_begin(struct trial *trial)
{
    struct actor *actor = trial->actor;

    memset(actor, 0, sizeof(*actor));
    actor->scenario = trial->scenario;
    actor->scene.server = trial->server;
    actor->scene.number = ++trial->rounds;
    actor->pid = tenant_start(actor_run, actor);
    while (!actor_at(actor, &actor->ready))
        test_pause();
}

/* Counts the round as failed unless all that must hold did. */
static void actor_end(struct trial *trial, const char *killed)
{
    int status;

    gate_pass(&trial->actor->verify);
    status = tenant_wait(trial->actor->pid, 2 * ROUND_SECONDS);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    fprintf(stderr, "# ^ %s%s: the supervisor was killed %s (server %s)\n",
            actor_phase(trial->actor), WIFSIGNALED(status) ? ", not done in time" : "", killed,
            trial->server->instance);
    trial->failures++;
    server_kill(trial->server);
    trial->server = NULL;
}

/* Kills the traced supervisor at the stop, and takes the one that follows. */
static void follow(struct trial *trial, uint32_t stop, char *killed, size_t size)
{
    run_to(trial, stop);
    snprintf(killed, size, "at stop %u: %s, and the next one ", trial->steps.stops,
             trial->steps.last);
    steps_follow(trial->server->pid);
    steps_kill(&trial->steps);
    CHECK(steps_follow_take(&trial->steps, trial->server->pid, 10000));
}

/* Kills the supervisor at the stop; first not 0: kills it at the first, and the one that takes its
 * place at the stop. Returns false if the scenario was done before; *stops: how many there were. */
static bool round_run(struct trial *trial, uint32_t first, uint32_t stop, uint32_t *stops)
{
    char killed[192] = "";
    size_t length;
    bool reached;

    server_want(trial, first ? 2 : 1);
    actor_begin(trial);
    CHECK_WITHIN(10000, steps_begin(&trial->steps, server_supervisor(trial->server)));
    gate_pass(&trial->actor->go);
    if (first)
        follow(trial, first, killed, sizeof(killed));
    reached = run_to(trial, stop);
    *stops = trial->steps.stops;
    length = strlen(killed);
    if (reached)
        snprintf(killed + length, sizeof(killed) - length, "at stop %u: %s", *stops,
                 trial->steps.last);
    else
        snprintf(killed + length, sizeof(killed) - length, "at none of %u stops", *stops);
    if (reached)
        steps_kill(&trial->steps);
    else
        steps_end(&trial->steps);
    actor_end(trial, killed);
    return reached;
}

static void trial_begin(struct trial *trial, const struct scenario *scenario)
{
    const int forbidden = steps_forbidden();

    if (forbidden)
        test_skip("no process may be traced: %s", strerror(forbidden));
    *trial = (struct trial){.scenario = scenario, .actor = shared_alloc(sizeof(*trial->actor))};
}

static void trial_end(struct trial *trial)
{
    if (trial->server)
        server_stop(trial->server);
    if (trial->failures)
        test_fail(__FILE__, __LINE__, "%u of %u rounds have failed", trial->failures,
                  trial->rounds);
}

/* A sample: one stop of each of as many equal parts. */
static uint32_t stop_of(uint32_t sample, uint32_t samples, uint32_t stops)
{
    const uint32_t from = sample * stops / samples, to = (sample + 1) * stops / samples;

    return from + 1 + (to > from ? (uint32_t)(test_random() % (to - from)) : 0);
}

/* Kills at the stops that the environment asks for. twice: those of the supervisor that takes the
 * place of one killed at a stop by chance. */
static void kill_at_all(const struct scenario *scenario, bool twice)
{
    const char *asked = getenv("GS_KILL_STEPS");
    const bool every = asked && strcmp(asked, "all") == 0;
    const uint32_t only = asked && !every ? (uint32_t)atoi(asked) : 0;
    uint32_t samples = scenario->fresh ? SAMPLES_FRESH : SAMPLES, firsts, stops;
    struct trial trial;
    bool more = true;

    trial_begin(&trial, scenario);
    round_run(&trial, 0, UINT32_MAX, &firsts);
    stops = firsts;
    if (twice)
        round_run(&trial, 1, UINT32_MAX, &stops);
    if (every || only)
        samples = every ? UINT32_MAX : 1;
    for (uint32_t i = 0; i < samples && more && trial.failures < FAILURES_MAX; i++) {
        const uint32_t first = twice ? 1 + (uint32_t)(test_random() % firsts) : 0;
        uint32_t stop = only, passed;

        if (!only)
            stop = every ? i + 1 : stop_of(i, samples, stops);
        more = round_run(&trial, first, stop, &passed) || !every || stop < stops;
    }
    printf("# %u stops, %u rounds\n", stops, trial.rounds);
    trial_end(&trial);
}

static void kill_at_each(const struct scenario *scenario)
{
    kill_at_all(scenario, false);
}

static void kill_the_next_at_each(const struct scenario *scenario)
{
    kill_at_all(scenario, true);
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static void attach_and_detach(struct scene *scene)
{
    (void)scene;
    CHECK_OK(gs_detach(attach_with(NULL)));
}

static const struct scenario attaching = {nothing, attach_and_detach, nothing, false, NULL};

static void a_client_attaches_and_detaches(void)
{
    kill_at_each(&attaching);
}

static void a_client_attaches_and_the_next_supervisor_is_killed_too(void)
{
    kill_the_next_at_each(&attaching);
}

static void session_begin(struct scene *scene)
{
    scene->session = attach_with(NULL);
}

static const struct server_options two_devices = {
    .device = "soft",
    .arguments = (const char *const[]){"--devices", "all", "--fence", "never", NULL},
    .environment = (const char *const[]){"GSHARE_SOFT_DEVICES=2", NULL}};

static gs_session attach_to(int device)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.timeout_ms = ATTACH_MS;
    params.device = device;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static void attach_second(struct scene *scene)
{
    scene->other = attach_to(1);
    CHECK_OK(gs_malloc(scene->other, MIB, &scene->memory));
}

static void second_check(struct scene *scene)
{
    CHECK_OK(gs_memset(scene->other, scene->memory, 1, MIB));
    CHECK_OK(gs_detach(scene->other));
    CHECK_OK(gs_detach(scene->session));
}

static const struct scenario attaching_second = {session_begin, attach_second, second_check, false,
                                                 &two_devices};

static void a_client_attaches_to_a_second_device(void)
{
    kill_at_each(&attaching_second);
}

#define SPIN_NS UINT64_C(5000000)

/* It cannot leave its SMs before the kernel has ended; then it detaches. */
static void *leave(void *argument)
{
    struct scene *scene = argument;

    CHECK_OK(gs_sync(scene->session));
    CHECK_OK(gs_detach(scene->session));
    return NULL;
}

static void exclusive_act(struct scene *scene)
{
    uint64_t nanoseconds = SPIN_NS;
    gs_qos qos = GS_QOS_INIT;
    pthread_t thread;

    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(scene->session), "spin"), 1, 1,
                            (void *[]){&nanoseconds}));
    CHECK(pthread_create(&thread, NULL, leave, scene) == 0);
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 8;
    qos.affinity.exclusive = 1;
    scene->other = attach_with(&qos);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void exclusive_check(struct scene *scene)
{
    CHECK_EQUAL(sms_of(scene->other), 8);
    CHECK_OK(gs_detach(scene->other));
}

static const struct scenario exclusive = {session_begin, exclusive_act, exclusive_check, false,
                                          NULL};

static void a_client_waits_for_sms_of_its_own(void)
{
    kill_at_each(&exclusive);
}

/* ---- A session's requests -------------------------------------------------------------------- */

static void qos_act(struct scene *scene)
{
    gs_qos qos = GS_QOS_INIT;

    qos.weight = 2 + scene->number % 5;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 4;
    CHECK_OK(gs_set_qos(scene->session, &qos));
    CHECK_EQUAL(weight_of(scene->session), qos.weight);
    CHECK_EQUAL(sms_of(scene->session), 4);
}

static void qos_check(struct scene *scene)
{
    CHECK_EQUAL(weight_of(scene->session), 2 + scene->number % 5);
    CHECK_EQUAL(sms_of(scene->session), 4);
    holder_end(scene);
}

static const struct scenario asking_for_qos = {holder_begin, qos_act, qos_check, false, NULL};

static void a_session_asks_for_another_qos(void)
{
    kill_at_each(&asking_for_qos);
}

static void a_session_asks_for_qos_and_the_next_supervisor_is_killed_too(void)
{
    kill_the_next_at_each(&asking_for_qos);
}

static void worker_kill(const struct scene *scene)
{
    const pid_t worker = server_worker_pid(scene->server);

    CHECK(worker > 0 && kill(worker, SIGKILL) == 0);
}

/* A piece comes, one goes, and one comes. */
static void memory_act(struct scene *scene)
{
    gs_devptr first;

    CHECK_OK(gs_malloc(scene->session, 4 * MIB, &first));
    CHECK_OK(gs_malloc(scene->session, 4 * MIB, &scene->memory));
    words_write(scene);
    CHECK_OK(gs_free(scene->session, first));
}

/* The next worker has the memory from the vault. */
static void memory_check(struct scene *scene)
{
    words_check(scene);
    worker_kill(scene);
    holder_end(scene);
}

static void load_act(struct scene *scene)
{
    scene->kernel = kernels_get(kernels_load(scene->session), "spin");
}

static void load_check(struct scene *scene)
{
    uint64_t nanoseconds = 0;

    CHECK_OK(kernels_launch(NULL, scene->kernel, 1, 1, (void *[]){&nanoseconds}));
    CHECK_OK(gs_sync(scene->session));
    worker_kill(scene);
    CHECK_OK(kernels_launch(NULL, scene->kernel, 1, 1, (void *[]){&nanoseconds}));
    CHECK_OK(gs_sync(scene->session));
    CHECK_OK(gs_detach(scene->session));
}

static const struct scenario loading = {session_begin, load_act, load_check, false, NULL};

static void a_session_loads_a_module(void)
{
    kill_at_each(&loading);
}

static const struct scenario allocating = {session_begin, memory_act, memory_check, false, NULL};

static void memory_comes_and_goes(void)
{
    kill_at_each(&allocating);
}

static void memory_comes_and_goes_and_the_next_supervisor_is_killed_too(void)
{
    kill_the_next_at_each(&allocating);
}

/* What `session` imports is the memory of `other`. */
static void import_begin(struct scene *scene)
{
    gs_devptr memory;

    scene->session = attach_with(NULL);
    scene->other = attach_with(NULL);
    CHECK_OK(gs_malloc(scene->other, 4 * MIB, &memory));
    CHECK_OK(gs_mem_export(scene->other, memory, GS_EXPORT_TO_USER, &scene->handle));
}

/* An import comes, it goes, one comes, and its owner goes. */
static void import_act(struct scene *scene)
{
    gs_devptr first;

    CHECK_OK(gs_mem_import(scene->session, &scene->handle, &first, NULL));
    CHECK_OK(gs_free(scene->session, first));
    CHECK_OK(gs_mem_import(scene->session, &scene->handle, &scene->memory, NULL));
    words_write(scene);
    CHECK_OK(gs_detach(scene->other));
}

static const struct scenario importing = {import_begin, import_act, memory_check, false, NULL};

static void an_import_comes_and_goes(void)
{
    kill_at_each(&importing);
}

/* What `session` imports is memory of `other`, on another device. */
static void peer_begin(struct scene *scene)
{
    gs_devptr memory;

    scene->session = attach_to(0);
    scene->other = attach_to(1);
    CHECK_OK(gs_malloc(scene->other, 4 * MIB, &memory));
    CHECK_OK(gs_mem_export(scene->other, memory, GS_EXPORT_TO_USER, &scene->handle));
}

/* An import comes, it goes, and one comes. */
static void peer_act(struct scene *scene)
{
    gs_devptr first;

    CHECK_OK(gs_mem_import(scene->session, &scene->handle, &first, NULL));
    CHECK_OK(gs_free(scene->session, first));
    CHECK_OK(gs_mem_import(scene->session, &scene->handle, &scene->memory, NULL));
    words_write(scene);
}

/* The importer's next worker has the memory from the vault. */
static void peer_check(struct scene *scene)
{
    words_check(scene);
    worker_kill(scene);
    holder_end(scene);
    CHECK_OK(gs_detach(scene->other));
}

static const struct scenario peer_importing = {peer_begin, peer_act, peer_check, false,
                                               &two_devices};

static void another_devices_import_comes_and_goes(void)
{
    kill_at_each(&peer_importing);
}

static void taken_back_begin(struct scene *scene)
{
    peer_begin(scene);
    CHECK_OK(gs_mem_import(scene->session, &scene->handle, &scene->memory, NULL));
}

/* The owner goes. */
static void taken_back_act(struct scene *scene)
{
    CHECK_OK(gs_detach(scene->other));
}

static bool gone(const struct scene *scene)
{
    return gs_memset(scene->session, scene->memory, 1, 1) == GS_ERR_INVALID_POINTER;
}

static void taken_back_check(struct scene *scene)
{
    gs_devptr more;

    CHECK_WITHIN(10000, gone(scene));
    worker_kill(scene);
    CHECK_OK(gs_malloc(scene->session, MIB, &more));
    CHECK(gone(scene));
    CHECK_OK(gs_detach(scene->session));
}

static const struct scenario taking_back = {taken_back_begin, taken_back_act, taken_back_check,
                                            false, &two_devices};

static void another_devices_import_is_taken_back(void)
{
    kill_at_each(&taking_back);
}

/* ---- A worker -------------------------------------------------------------------------------- */

static void worker_prepare(struct scene *scene)
{
    holder_begin(scene);
    scene->tenant = server_worker_pid(scene->server);
}

/* A standby is started a second after the worker is ready, later when workers have been lost. */
static void standby_prepare(struct scene *scene)
{
    pid_t pids[SERVER_WORKERS_MAX];

    worker_prepare(scene);
    CHECK_WITHIN(20000, server_workers(scene->server, pids) >= 2);
}

static void worker_act(struct scene *scene)
{
    gs_devptr more;

    CHECK(kill(scene->tenant, SIGKILL) == 0);
    CHECK_OK(gs_malloc(scene->session, MIB, &more));
}

static const struct scenario losing_a_worker = {worker_prepare, worker_act, holder_end, false,
                                                NULL};
static const struct scenario losing_with_standby = {standby_prepare, worker_act, holder_end, true,
                                                    NULL};

static void a_worker_is_killed(void)
{
    kill_at_each(&losing_a_worker);
}

static void a_worker_is_killed_that_has_a_standby(void)
{
    kill_at_each(&losing_with_standby);
}

static void a_worker_is_killed_and_the_next_supervisor_too(void)
{
    kill_the_next_at_each(&losing_a_worker);
}

static void restart_act(struct scene *scene)
{
    (void)scene;
    GSCTL_OK("restart-worker");
}

static const struct scenario restarting_a_worker = {worker_prepare, restart_act, holder_end, false,
                                                    NULL};

static void an_operator_restarts_a_worker(void)
{
    kill_at_each(&restarting_a_worker);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static char *number_text(char out[16], unsigned number)
{
    snprintf(out, 16, "%u", number);
    return out;
}

static void set_prepare(struct scene *scene)
{
    GSCTL_OK("set", "--default", "--unset", "all");
    holder_begin(scene);
}

static void set_act(struct scene *scene)
{
    char weight[16];

    GSCTL_OK("set", "--default", "--weight", number_text(weight, 2 + scene->number % 5));
}

static void set_check(struct scene *scene)
{
    CHECK_EQUAL(weight_of(scene->session), 2 + scene->number % 5);
    holder_end(scene);
    GSCTL_OK("set", "--default", "--unset", "all");
}

static const struct scenario setting = {set_prepare, set_act, set_check, false, NULL};

static void an_operator_sets_a_limit(void)
{
    kill_at_each(&setting);
}

static void reserve_prepare(struct scene *scene)
{
    snprintf(scene->name, sizeof(scene->name), "round%u", scene->number);
    holder_begin(scene);
}

static void reserve_act(struct scene *scene)
{
    GSCTL_OK("reserve", scene->name, "--sms", "4");
}

static void reserve_check(struct scene *scene)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    CHECK_EQUAL(sms_of(scene->session), 12);
    params.reservation = scene->name;
    CHECK_OK(gs_attach(&params, &scene->other));
    CHECK_EQUAL(sms_of(scene->other), 4);
    CHECK_OK(gs_detach(scene->other));
    holder_end(scene);
    GSCTL_OK("release", scene->name);
}

static const struct scenario reserving = {reserve_prepare, reserve_act, reserve_check, false, NULL};

static void an_operator_reserves_sms(void)
{
    kill_at_each(&reserving);
}

static void release_prepare(struct scene *scene)
{
    reserve_prepare(scene);
    GSCTL_OK("reserve", scene->name, "--sms", "4");
}

static void release_act(struct scene *scene)
{
    GSCTL_OK("release", scene->name);
}

static void release_check(struct scene *scene)
{
    GSCTL_OK("get", "--json");
    CHECK(strstr(output, scene->name) == NULL);
    CHECK_WITHIN(10000, sms_of(scene->session) == 16);
    holder_end(scene);
}

static const struct scenario releasing = {release_prepare, release_act, release_check, false, NULL};

static void an_operator_releases_sms(void)
{
    kill_at_each(&releasing);
}

static void kill_act(struct scene *scene)
{
    GSCTL_OK("kill", scene->id);
    CHECK_TEXT(output, "1 session has ended");
}

static void kill_check(struct scene *scene)
{
    gs_devptr more;

    CHECK_WITHIN(10000, gs_malloc(scene->session, MIB, &more) == GS_ERR_INTERRUPTED);
    gs_detach(scene->session);
    CHECK_OK(gs_detach(attach_with(NULL)));
}

static const struct scenario killing = {holder_begin, kill_act, kill_check, false, NULL};

static void an_operator_ends_a_session(void)
{
    kill_at_each(&killing);
}

/* The server's owner has sessions on both devices. */
static void kill_user_begin(struct scene *scene)
{
    scene->session = attach_to(0);
    scene->other = attach_to(1);
    snprintf(scene->id, sizeof(scene->id), "%u", (unsigned)geteuid());
}

static void kill_user_act(struct scene *scene)
{
    GSCTL_OK("kill", "--user", scene->id);
    CHECK_TEXT(output, "2 sessions have ended");
}

static void kill_user_check(struct scene *scene)
{
    gs_devptr more;

    CHECK_WITHIN(10000, gs_malloc(scene->other, MIB, &more) == GS_ERR_INTERRUPTED);
    gs_detach(scene->other);
    kill_check(scene);
}

static const struct scenario killing_a_user = {kill_user_begin, kill_user_act, kill_user_check,
                                               false, &two_devices};

static void an_operator_ends_a_user_s_sessions_of_two_devices(void)
{
    kill_at_each(&killing_a_user);
}

/* No session comes, and then one does. */
static void drain_act(struct scene *scene)
{
    (void)scene;
    GSCTL_OK("drain", "--device", "0");
    CHECK_STATUS(gs_attach(NULL, &scene->other), GS_ERR_REFUSED);
    GSCTL_OK("drain", "--device", "0", "--no");
}

static const struct scenario draining = {holder_begin, drain_act, holder_end, false, NULL};

static void an_operator_drains_a_device(void)
{
    kill_at_each(&draining);
}

static void trace_act(struct scene *scene)
{
    (void)scene;
    GSCTL_OK("trace", "-o", "/dev/null", "--seconds", "1");
}

static const struct scenario tracing = {holder_begin, trace_act, holder_end, false, NULL};

static void an_operator_traces_a_device(void)
{
    kill_at_each(&tracing);
}

static void trust_begin(struct scene *scene)
{
    snprintf(scene->id, sizeof(scene->id), "%u", USERS + scene->number);
}

static void trust_act(struct scene *scene)
{
    GSCTL_OK("trust", scene->id);
}

static void trust_check(struct scene *scene)
{
    GSCTL_OK("get", "--json");
    CHECK_TEXT(output, scene->id);
    GSCTL_OK("trust", scene->id, "--no");
}

static const struct scenario trusting = {trust_begin, trust_act, trust_check, false, NULL};

static void an_operator_trusts_a_user(void)
{
    kill_at_each(&trusting);
}

static void provision_begin(struct scene *scene)
{
    holder_begin(scene);
    scene->other = attach_with(NULL);
}

static void provision_act(struct scene *scene)
{
    (void)scene;
    GSCTL_OK("provision", "uniform");
}

static void provision_check(struct scene *scene)
{
    CHECK_WITHIN(10000, sms_of(scene->session) == 8 && sms_of(scene->other) == 8);
    GSCTL_OK("provision", "exact");
    CHECK_OK(gs_detach(scene->other));
    holder_end(scene);
}

static const struct scenario provisioning = {provision_begin, provision_act, provision_check, false,
                                             NULL};

static void an_operator_shares_the_sms_out(void)
{
    kill_at_each(&provisioning);
}

/* ---- A fault --------------------------------------------------------------------------------- */

static const char misaligned_ptx[] =
    PTX_HEAD ".visible .entry misaligned()\n"
             "{ .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, 1; mov.u32 %r, 1;\n"
             "  st.global.u32 [%rd], %r; ret; }\n";

static void fault_begin(struct scene *scene)
{
    gs_module module;

    holder_begin(scene);
    scene->other = attach_with(NULL);
    CHECK_OK(gs_module_load(scene->other, misaligned_ptx, 0, &module));
    scene->kernel = kernels_get(module, "misaligned");
}

static void fault_act(struct scene *scene)
{
    CHECK_OK(kernels_launch(NULL, scene->kernel, 1, 1, NULL));
    CHECK_STATUS(gs_sync(scene->other), GS_ERR_FAULT);
}

static void fault_check(struct scene *scene)
{
    gs_fault fault = GS_FAULT_INIT;

    CHECK_OK(gs_last_fault(scene->other, &fault));
    CHECK_TEXT(fault.kernel, "misaligned");
    gs_detach(scene->other);
    holder_end(scene);
}

static const struct scenario faulting = {fault_begin, fault_act, fault_check, false, NULL};

static void a_session_loses_the_device(void)
{
    kill_at_each(&faulting);
}

struct faulting {
    struct gate ready, go, faulted;
    uid_t uid;
};

static void faulting_run(void *argument)
{
    struct faulting *user = argument;
    struct scene scene;
    gs_module module;

    CHECK(setgid(user->uid) == 0 && setuid(user->uid) == 0);
    for (unsigned times = 1; times <= 2; times++) {
        scene.other = attach_with(NULL);
        CHECK_OK(gs_module_load(scene.other, misaligned_ptx, 0, &module));
        scene.kernel = kernels_get(module, "misaligned");
        gate_pass(&user->ready);
        gate_wait(&user->go, times);
        fault_act(&scene);
        gs_detach(scene.other);
        gate_pass(&user->faulted);
    }
}

static void charge_begin(struct scene *scene)
{
    struct faulting *user = shared_alloc(sizeof(*user));

    user->uid = USERS + scene->number;
    scene->user = user;
    scene->tenant = tenant_start(faulting_run, user);
    gate_wait(&user->ready, 1);
}

static void charge_act(struct scene *scene)
{
    gate_pass(&scene->user->go);
    gate_wait(&scene->user->faulted, 1);
}

/* The user is kept out from its second fault on. */
static void charge_check(struct scene *scene)
{
    char text[64];

    gate_wait(&scene->user->ready, 2);
    gate_pass(&scene->user->go);
    tenant_join(scene->tenant);
    snprintf(text, sizeof(text), "event=kept-out user=%u uid=%u faults=2 ", scene->user->uid,
             scene->user->uid);
    CHECK_EQUAL(server_log_lines(scene->server, text), 1);
}

static const struct scenario charging = {charge_begin, charge_act, charge_check, false, NULL};

static void a_fault_is_charged_once(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    kill_at_each(&charging);
}

/* ---- A client's end -------------------------------------------------------------------------- */

static void client_run(void *argument)
{
    struct gate *attached = argument;
    gs_devptr memory;

    CHECK_OK(gs_malloc(attach_with(NULL), 4 * MIB, &memory));
    gate_pass(attached);
    for (;;)
        pause();
}

static void client_prepare(struct scene *scene)
{
    struct gate *attached = shared_alloc(sizeof(*attached));

    scene->tenant = tenant_start(client_run, attached);
    gate_wait(attached, 1);
}

static void client_act(struct scene *scene)
{
    tenant_kill(scene->tenant, SIGKILL);
}

static const struct scenario losing_a_client = {client_prepare, client_act, nothing, false, NULL};

static void a_client_is_killed(void)
{
    kill_at_each(&losing_a_client);
}

static const struct test tests[] = {
    TEST_WITHIN(a_client_attaches_and_detaches, 600),
    TEST_WITHIN(a_client_attaches_to_a_second_device, 600),
    TEST_WITHIN(a_client_waits_for_sms_of_its_own, 600),
    TEST_WITHIN(a_session_asks_for_another_qos, 600),
    TEST_WITHIN(memory_comes_and_goes, 600),
    TEST_WITHIN(a_session_loads_a_module, 600),
    TEST_WITHIN(an_import_comes_and_goes, 600),
    TEST_WITHIN(another_devices_import_comes_and_goes, 600),
    TEST_WITHIN(another_devices_import_is_taken_back, 600),
    TEST_WITHIN(a_worker_is_killed, 600),
    TEST_WITHIN(a_worker_is_killed_that_has_a_standby, 600),
    TEST_WITHIN(an_operator_sets_a_limit, 600),
    TEST_WITHIN(an_operator_reserves_sms, 600),
    TEST_WITHIN(an_operator_releases_sms, 600),
    TEST_WITHIN(an_operator_ends_a_session, 600),
    TEST_WITHIN(an_operator_ends_a_user_s_sessions_of_two_devices, 600),
    TEST_WITHIN(an_operator_drains_a_device, 600),
    TEST_WITHIN(an_operator_traces_a_device, 600),
    TEST_WITHIN(an_operator_trusts_a_user, 600),
    TEST_WITHIN(an_operator_shares_the_sms_out, 600),
    TEST_WITHIN(a_session_loses_the_device, 600),
    TEST_WITHIN(a_fault_is_charged_once, 600),
    TEST_WITHIN(an_operator_restarts_a_worker, 600),
    TEST_WITHIN(a_client_is_killed, 600),
    TEST_WITHIN(a_client_attaches_and_the_next_supervisor_is_killed_too, 600),
    TEST_WITHIN(a_session_asks_for_qos_and_the_next_supervisor_is_killed_too, 600),
    TEST_WITHIN(memory_comes_and_goes_and_the_next_supervisor_is_killed_too, 600),
    TEST_WITHIN(a_worker_is_killed_and_the_next_supervisor_too, 600),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
