/* options.c - see options.h. */
#include "server/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/help_text.h"
#include "common/names.h"
#include "common/setting_text.h"
#include "common/util.h"
#include "server/log_file.h"
#include "server/mps_variables.h"
#include "server/state/state_file.h"

enum { EXIT_USAGE = 2 };

static const char usage_line[] = "Usage: gshared [-f | -d] [OPTION]...\n";
static const char help[] =
    "Shares one GPU among many processes. Programs attach with libgshare; see also gsctl.\n"
    "\n"
    "  -f, --foreground       stay in the foreground, log to stderr (the default)\n"
    "  -d, --daemon           go to the background; returns when the server is ready\n"
    "  -n, --instance NAME    name of this server; default: $GSHARE_INSTANCE, else \"default\"\n"
    "      --device KIND      cuda: the NVIDIA driver; soft: the software device;\n"
    "                         auto (the default): cuda if there is a GPU, else soft\n"
    "      --devices N        use the first N devices, or all; default 1, at most 8\n"
    "      --max-tenants N    sessions at a time; default 2048, at most 4096\n"
    "      --lanes N          threads of a worker that give work to the GPU, 1 to 16; default:\n"
    "                         $GSHARE_LANES, else by the number of CPUs\n"
    "      --cublas LIBRARY   cuBLASLt, which computes tenants' products of matrices: a path;\n"
    "                         auto: libcublasLt.so.13 or .12, if the linker finds it; or none;\n"
    "                         default: $GSHARE_CUBLAS, else none for root's server and auto for\n"
    "                         a user's own\n"
    "      --ptxas PROGRAM    NVIDIA's assembler, which compiles PTX in a process of its own:\n"
    "                         a path; auto: the CUDA toolkit's, if it\n"
    "                         suits the driver; or none: the driver compiles in the worker;\n"
    "                         default: $GSHARE_PTXAS, else auto\n"
    "      --worker-user NAME the user that root's workers become; default: $GSHARE_WORKER_USER,\n"
    "                         else gshare if there is such a user, else root\n"
    "      --mem-limit BYTES  device memory for each session (K, M, G, T: powers of 1024);\n"
    "                         default: no limit\n"
    "      --allow-users LIST users served besides root and the server's own, names or\n"
    "                         numbers with commas; default: all for root's server, else none\n"
    "      --observers LIST   users who see the sessions of all users, as root does; others see\n"
    "                         their own; default: none\n"
    "      --config FILE      who is served, and what others may have; SIGHUP reads it again;\n"
    "                         default: /etc/gshare.conf for root's server, if it exists;\n"
    "                         none: no file\n"
    "      --state FILE       keep what gsctl sets and reserves there, and start with it; each\n"
    "                         server needs its own; default: settings end with the server\n"
    "      --cache DIR        keep there what was compiled for the GPU, or nowhere: none; "
    "default:\n"
    "                         $GSHARE_CACHE, else /var/cache/gshare for root's server and\n"
    "                         $XDG_CACHE_HOME/gshare or ~/.cache/gshare for a user's own\n"
    "      --fence POLICY     whose kernels are kept to their session's memory; always: those of\n"
    "                         all sessions; never: of sessions that ask for it; auto (the\n"
    "                         default): also of all users but the owner, root and users whom\n"
    "                         'gsctl trust' names\n"
    "      --grace SECONDS    how long kernels of a tenant that has gone may run on before they\n"
    "                         are ended with their worker; 0: without end; default: 10\n"
    "      --no-standby       make no second worker; it would take over at once when one is lost,\n"
    "                         and takes device memory for its context\n"
    "      --no-takeover      keep nothing for a next worker either: when a worker is lost or\n"
    "                         replaced, its sessions end\n"
    "      --metrics [ADDR:]PORT\n"
    "                         serve the figures for Prometheus there, by gsctl metrics; without\n"
    "                         ADDR on the loopback only\n"
    "      --no-accounting    do not count the GPU time of sessions\n"
    "      --no-weights       let weights and deadlines have no effect\n"
    "      --log LEVEL        error, warning, info, debug; default: $GSHARE_LOG, else info\n"
    "      --log-file FILE    log there, or nowhere: none; SIGHUP reopens it; default:\n"
    "                         $GSHARE_LOG_FILE; else, with -d, gshared.log in\n"
    "                         $CUDA_MPS_LOG_DIRECTORY, else INSTANCE.log in /var/log/gshare for\n"
    "                         root and $XDG_STATE_HOME/gshare or ~/.local/state/gshare for a user\n"
    "      --check-config [FILE]\n"
    "                         print all errors of a policy file, and start no server\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Exit status: 0 ended as asked, 1 an error, 2 wrong usage.\n";

#define POLICY_FILE "/etc/gshare.conf"

/* ---- Options --------------------------------------------------------------------------------- */

static void __attribute__((noreturn, format(printf, 1, 2))) usage(const char *format, ...)
{
    va_list ap;

    fputs("gshared: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputs("\nTry 'gshared --help'.\n", stderr);
    exit(EXIT_USAGE);
}

static uint64_t number_parse(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < min || value > max)
        usage("%s '%s': a number from %llu to %llu", option, text, (unsigned long long)min,
              (unsigned long long)max);
    return value;
}

static uint64_t size_parse(const char *option, const char *text)
{
    static const char units[] = "KMGT";
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = isalpha((unsigned char)*end) ? strchr(units, toupper(*end)) : NULL;
    unsigned shift = unit ? 10u * (unsigned)(unit - units + 1) : 0;
    if (errno || end == text || text[0] == '-' || (*end && (!unit || end[1])) || value == 0 ||
        value > UINT64_MAX >> shift)
        usage("%s '%s': a whole number of bytes, or of K, M, G or T", option, text);
    if (value << shift < SETTING_MEM_LEAST)
        usage("%s '%s': at least 2M, for in such pieces a device gives memory", option, text);
    return value << shift;
}

static void users_parse(struct user_list *list, const char *option, const char *text)
{
    char error[80] = "names or numbers with commas";

    if (!user_list_parse(list, text, error, sizeof(error)) || (!list->all && list->count == 0))
        usage("%s '%s': %s", option, text, error);
}

static const char *file_parse(const char *option, const char *name)
{
    if (!*name)
        usage("%s '': the name of a file", option);
    return name;
}

/* From the option or, where that is not given, from the environment. */
static void cache_take(struct server_options *options, const char *what, const char *path)
{
    if (!cache_parse(options->cache, path))
        usage("%s '%s': the whole path of a directory, less than %d bytes, or none", what, path,
              CACHE_PATH_MAX);
}

static void kind_parse(struct server_options *options, const char *kind)
{
    if (strcmp(kind, "auto") && strcmp(kind, "cuda") && strcmp(kind, "soft"))
        usage("--device '%s': auto, cuda or soft", kind);
    options->kind = kind;
}

static enum fence_policy fence_parse(const char *policy)
{
    if (!strcmp(policy, "always"))
        return FENCE_ALWAYS;
    if (!strcmp(policy, "never"))
        return FENCE_NEVER;
    if (strcmp(policy, "auto"))
        usage("--fence '%s': auto, always or never", policy);
    return FENCE_AUTO;
}

/* From the option or, where that is not given, from the environment. */
static const char *level_parse(const char *what, const char *level)
{
    if (strcmp(level, "error") && strcmp(level, "warning") && strcmp(level, "info") &&
        strcmp(level, "debug"))
        usage("%s '%s': error, warning, info or debug", what, level);
    return level;
}

/* From the option or, where that is not given, from the environment. */
static uint32_t lanes_parse(const char *what, const char *text)
{
    return (uint32_t)number_parse(what, text, 1, LINK_LANES_MAX);
}

/* Refuses a name without a leading slash, since the loader would search for it in directories that
 * a user can set. */
static const char *cublas_parse(const char *what, const char *name)
{
    if (*name != '/' && strcmp(name, "auto") != 0 && strcmp(name, "none") != 0)
        usage("%s '%s': the whole path of a library, auto or none", what, name);
    return name;
}

static const char *ptxas_parse(const char *what, const char *name)
{
    struct stat file;

    if (strcmp(name, "auto") != 0 && strcmp(name, "none") != 0 &&
        (*name != '/' || stat(name, &file) != 0 || !S_ISREG(file.st_mode) ||
         access(name, X_OK) != 0))
        usage("%s '%s': the whole path of a program, auto or none", what, name);
    return name;
}

static int devices_parse(const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);

    if (!strcmp(text, "all"))
        return DEVICES_ALL;
    if (!isdigit((unsigned char)*text) || *end || count < 1 || count > DEVICES_MAX)
        usage("--devices '%s': 1 to %d, or all", text, DEVICES_MAX);
    return (int)count;
}

enum option_code {
    OPTION_DEVICE = 256,
    OPTION_DEVICES,
    OPTION_MAX_TENANTS,
    OPTION_LANES,
    OPTION_CUBLAS,
    OPTION_PTXAS,
    OPTION_WORKER_USER,
    OPTION_MEM_LIMIT,
    OPTION_ALLOW_USERS,
    OPTION_OBSERVERS,
    OPTION_CONFIG,
    OPTION_STATE,
    OPTION_CACHE,
    OPTION_FENCE,
    OPTION_GRACE,
    OPTION_METRICS,
    OPTION_NO_STANDBY,
    OPTION_NO_TAKEOVER,
    OPTION_NO_ACCOUNTING,
    OPTION_NO_WEIGHTS,
    OPTION_LOG,
    OPTION_LOG_FILE,
    OPTION_CHECK_CONFIG
};

static const struct option long_options[] = {
    {"foreground", no_argument, NULL, 'f'},
    {"daemon", no_argument, NULL, 'd'},
    {"instance", required_argument, NULL, 'n'},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"devices", required_argument, NULL, OPTION_DEVICES},
    {"max-tenants", required_argument, NULL, OPTION_MAX_TENANTS},
    {"lanes", required_argument, NULL, OPTION_LANES},
    {"cublas", required_argument, NULL, OPTION_CUBLAS},
    {"ptxas", required_argument, NULL, OPTION_PTXAS},
    {"worker-user", required_argument, NULL, OPTION_WORKER_USER},
    {"mem-limit", required_argument, NULL, OPTION_MEM_LIMIT},
    {"allow-users", required_argument, NULL, OPTION_ALLOW_USERS},
    {"observers", required_argument, NULL, OPTION_OBSERVERS},
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"state", required_argument, NULL, OPTION_STATE},
    {"cache", required_argument, NULL, OPTION_CACHE},
    {"fence", required_argument, NULL, OPTION_FENCE},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    {"no-standby", no_argument, NULL, OPTION_NO_STANDBY},
    {"no-takeover", no_argument, NULL, OPTION_NO_TAKEOVER},
    {"no-accounting", no_argument, NULL, OPTION_NO_ACCOUNTING},
    {"no-weights", no_argument, NULL, OPTION_NO_WEIGHTS},
    {"log", required_argument, NULL, OPTION_LOG},
    {"log-file", required_argument, NULL, OPTION_LOG_FILE},
    {"check-config", no_argument, NULL, OPTION_CHECK_CONFIG},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0}};

/* Applies an option that has no argument. Returns false for an option that has one. */
static bool flag_apply(struct server_options *options, bool *check, int code)
{
    switch (code) {
    case 'f':
        options->background = false;
        return true;
    case 'd':
        options->background = true;
        return true;
    case OPTION_NO_STANDBY:
        options->no_standby = true;
        return true;
    case OPTION_NO_TAKEOVER:
        options->no_standby = options->no_takeover = true;
        return true;
    case OPTION_NO_ACCOUNTING:
        options->no_accounting = true;
        return true;
    case OPTION_NO_WEIGHTS:
        options->no_weights = true;
        return true;
    case OPTION_CHECK_CONFIG:
        *check = true;
        return true;
    case 'h':
        fputs(usage_line, stdout);
        help_text_print(help, 25);
        exit(EXIT_SUCCESS);
    case 'V':
        puts("gshared " GS_VERSION_STRING);
        exit(EXIT_SUCCESS);
    case '?': /* getopt has said what is wrong */
        fputs("Try 'gshared --help'.\n", stderr);
        exit(EXIT_USAGE);
    default:
        return false;
    }
}

/* Applies an option that has an argument. */
static void value_apply(struct server_options *options, struct worker_settings *workers, int code)
{
    switch (code) {
    case 'n':
        options->instance = optarg;
        break;
    case OPTION_DEVICE:
        kind_parse(options, optarg);
        break;
    case OPTION_DEVICES:
        options->devices = devices_parse(optarg);
        break;
    case OPTION_MAX_TENANTS:
        options->max_tenants = (uint32_t)number_parse("--max-tenants", optarg, 1, LINK_SLOTS_MAX);
        break;
    case OPTION_LANES:
        workers->lanes = lanes_parse("--lanes", optarg);
        break;
    case OPTION_CUBLAS:
        workers->cublas = cublas_parse("--cublas", optarg);
        break;
    case OPTION_PTXAS:
        workers->ptxas = ptxas_parse("--ptxas", optarg);
        break;
    case OPTION_WORKER_USER:
        if (!getpwnam(optarg))
            usage("--worker-user '%s': no user of that name", optarg);
        workers->user = optarg;
        break;
    case OPTION_MEM_LIMIT:
        options->mem_limit = size_parse("--mem-limit", optarg);
        break;
    case OPTION_ALLOW_USERS:
        users_parse(&options->served, "--allow-users", optarg);
        break;
    case OPTION_OBSERVERS:
        users_parse(&options->observers, "--observers", optarg);
        break;
    case OPTION_CONFIG:
        options->policy_file = file_parse("--config", optarg);
        break;
    case OPTION_STATE:
        options->state_file = file_parse("--state", optarg);
        break;
    case OPTION_CACHE:
        cache_take(options, "--cache", optarg);
        break;
    case OPTION_FENCE:
        options->fence = fence_parse(optarg);
        break;
    case OPTION_GRACE:
        options->grace_ms = 1000u * (uint32_t)number_parse("--grace", optarg, 0, 86400);
        break;
    case OPTION_METRICS:
        if (!metrics_parse(options->metrics, optarg))
            usage("--metrics '%s': ADDR:PORT, both in numbers, PORT of the loopback, or none",
                  optarg);
        break;
    case OPTION_LOG:
        workers->log_level = level_parse("--log", optarg);
        break;
    case OPTION_LOG_FILE:
        options->log_file = file_parse("--log-file", optarg);
        break;
    default:
        break;
    }
}

/* Takes the instance's name. Refuses another user's server, which $GSHARE_INSTANCE may name. */
static void instance_take(struct server_options *options)
{
    static struct instance instance;
    char user[2][USER_TEXT_MAX];
    const char *wrong = instance_parse(options->instance, &instance);

    if (wrong)
        usage("instance name '%s': %s", options->instance, wrong);
    if (instance.owned && instance.owner != geteuid())
        usage("instance name '%s': that is a server of %s, and this is %s", options->instance,
              user_text(user[0], instance.owner), user_text(user[1], geteuid()));
    options->instance = instance.name;
}

/* Finds the log file if the command line does not name one. After an upgrade the new program finds
 * the same file. */
static void log_take(struct server_options *options)
{
    static char path[PATH_MAX];
    const char *file = getenv("GSHARE_LOG_FILE");

    if (!options->log_file && file && *file)
        options->log_file = file;
    else if (!options->log_file && options->background &&
             (mps_variables_log(path, sizeof(path)) ||
              log_file_default(path, sizeof(path), options->instance)))
        options->log_file = path;
    else if (!options->log_file && options->background)
        fprintf(stderr, "gshared: no log is kept: %s cannot be written; --log-file says where\n",
                *path ? path : "$HOME");
    if (options->log_file && !strcmp(options->log_file, "none"))
        options->log_file = NULL;
}

static const char *checked_file;

static void checked_say(const char *error)
{
    printf("%s: %s\n", checked_file, error);
}

/* Reads a policy file as root's server would, and prints all errors in it. */
static void __attribute__((noreturn)) config_check(const char *file)
{
    static struct settings settings;
    struct policy policy = {0};
    char error[STATE_ERROR_MAX] = "";
    bool good;

    if (!strcmp(file, "none")) {
        printf("none: a server with that reads no policy file\n");
        exit(EXIT_SUCCESS);
    }
    checked_file = file;
    good = policy_load(&settings, &policy, file, checked_say, error);
    if (!good && strncmp(error, "line ", 5) != 0) /* the file could not be read at all */
        checked_say(error);
    if (good)
        printf("%s: nothing is wrong\n", file);
    exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

void options_parse(int argc, char **argv, struct server_options *options,
                   struct worker_settings *workers)
{
    const char *instance = getenv("GSHARE_INSTANCE"), *level = getenv("GSHARE_LOG");
    const char *lanes = getenv("GSHARE_LANES"), *cache = getenv("GSHARE_CACHE");
    const char *cublas = getenv("GSHARE_CUBLAS"), *ptxas = getenv("GSHARE_PTXAS");
    char error[MPS_ERROR_MAX];
    bool check = false;
    int code;

    *options = (struct server_options){.instance = instance && *instance ? instance : "default",
                                       .kind = "auto",
                                       .devices = 1,
                                       .grace_ms = 10000,
                                       .served = {.all = geteuid() == 0}};
    while ((code = getopt_long(argc, argv, "fdn:hV", long_options, NULL)) != -1) {
        if (!flag_apply(options, &check, code))
            value_apply(options, workers, code);
    }
    if (check && optind < argc)
        options->policy_file = argv[optind++];
    if (optind < argc)
        usage("unexpected argument '%s'", argv[optind]);
    if (check)
        config_check(options->policy_file ? options->policy_file : POLICY_FILE);
    instance_take(options);
    if (!workers->log_level && level && *level)
        workers->log_level = level_parse("GSHARE_LOG", level);
    if (!workers->lanes && lanes && *lanes)
        workers->lanes = lanes_parse("GSHARE_LANES", lanes);
    if (!workers->cublas && cublas && *cublas)
        workers->cublas = cublas_parse("GSHARE_CUBLAS", cublas);
    if (!workers->ptxas && ptxas && *ptxas)
        workers->ptxas = ptxas_parse("GSHARE_PTXAS", ptxas);
    /* The first product of a kind briefly stops all tenants. In a server that is not root's these
     * are all of one user, so cuBLASLt is used there by default. */
    if (!workers->cublas)
        workers->cublas = geteuid() == 0 ? "none" : "auto";
    if (!workers->ptxas)
        workers->ptxas = "auto";
    if (!options->cache[0] && cache && *cache)
        cache_take(options, "GSHARE_CACHE", cache);
    if (!mps_variables_read(&options->mps, options->devices, error))
        usage("%s", error);
    log_take(options);
    if (workers->user && geteuid() != 0)
        usage("--worker-user: only root's server can have workers of another user");
    if ((options->served.given || options->observers.given) && geteuid() != 0)
        usage("%s: only root's server can serve other users",
              options->served.given ? "--allow-users" : "--observers");
    if (!options->policy_file && geteuid() == 0 && access(POLICY_FILE, F_OK) == 0)
        options->policy_file = POLICY_FILE;
    if (options->policy_file && !strcmp(options->policy_file, "none"))
        options->policy_file = NULL;
}
