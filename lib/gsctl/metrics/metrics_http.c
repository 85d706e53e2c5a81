/* metrics_http.c - `gsctl metrics --listen`: see metrics.h. libmicrohttpd's one thread asks the
 * server for each scrape; the main thread waits for a signal. Built without the library, it says
 * so. */
#include "gsctl/ask/ask.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/metrics/metrics.h"

#ifndef GS_MICROHTTPD

int metrics_serve(const char *address, const char *instance)
{
    (void)address, (void)instance;
    return ask_failed(GS_ERR_NOT_SUPPORTED,
                      "this gsctl was built without libmicrohttpd: install libmicrohttpd-dev and "
                      "build it anew, or use 'gsctl metrics --textfile FILE --watch 15'");
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"

#define CONNECTIONS_MAX 16u /* a scraper needs one */
#define IDLE_S          10u

/* ---- The address ----------------------------------------------------------------------------- */

/* Parses "PORT", "ADDR:PORT" or "[ADDR]:PORT". Only numbers are allowed, so that no name is looked
 * up. */
static struct addrinfo *address_parse(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    char host[64] = "127.0.0.1";
    struct addrinfo *found = NULL;
    size_t length = colon ? (size_t)(colon - text) : 0;

    if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length >= sizeof(host))
        return NULL;
    if (length)
        snprintf(host, sizeof(host), "%.*s", (int)length, text);
    /* getaddrinfo would accept an empty port as any port, and a large one modulo 65536. */
    return *port && strtoul(port, NULL, 10) <= 65535 && getaddrinfo(host, port, &hints, &found) == 0
               ? found
               : NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
                               void *text, size_t size, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result respond_text(struct MHD_Connection *connection, unsigned status,
                                    const char *text)
{
    return respond(connection, status, "text/plain; charset=utf-8", (void *)(uintptr_t)text,
                   strlen(text), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result request_answer(void *context, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *upload, size_t *upload_size, void **state)
{
    const char *accept;
    char message[REQUEST_MESSAGE_MAX], *text;
    enum metrics_form form;
    struct metrics_sample sample;
    size_t size;

    (void)version, (void)upload, (void)upload_size, (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics\n");
    if (strcmp(url, "/metrics") != 0)
        return respond_text(connection, MHD_HTTP_NOT_FOUND, "GET /metrics\n");
    accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    form = accept && strstr(accept, "application/openmetrics-text") ? METRICS_OPENMETRICS
                                                                    : METRICS_PROMETHEUS;
    metrics_sample_init(&sample, context, message);
    text = metrics_text(&sample, form, &size);
    metrics_sample_deinit(&sample);
    return respond(connection, MHD_HTTP_OK, metrics_content_type(form), text, size,
                   MHD_RESPMEM_MUST_FREE);
}

/* ---- The server ------------------------------------------------------------------------------ */

/* Prints the address that it serves. With port 0 the kernel has chosen the port. */
static void address_say(struct MHD_Daemon *daemon, const struct sockaddr *address)
{
    const union MHD_DaemonInfo *bound = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    char host[INET6_ADDRSTRLEN] = "?";

    if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, host,
                  sizeof(host));
    else
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, host,
                  sizeof(host));
    fprintf(stderr,
            address->sa_family == AF_INET6 ? "gsctl: serves http://[%s]:%u/metrics\n"
                                           : "gsctl: serves http://%s:%u/metrics\n",
            host, bound ? bound->port : 0);
}

int metrics_serve(const char *address, const char *instance)
{
    struct addrinfo *found = address_parse(address);
    struct MHD_Daemon *daemon;
    sigset_t signals;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
    int signal;

    if (!found)
        usage("--listen '%s': ADDR:PORT, both in numbers, or PORT of the loopback", address);
    if (found->ai_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL); /* also blocks them in the library's thread */
    errno = 0;
    daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, request_answer, (void *)(uintptr_t)instance,
                         MHD_OPTION_SOCK_ADDR, found->ai_addr, MHD_OPTION_CONNECTION_LIMIT,
                         CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_END);
    if (!daemon) {
        fprintf(stderr, "gsctl: --listen %s: %s\n", address,
                errno ? strerror(errno) : "the address cannot be used");
        freeaddrinfo(found);
        return EXIT_ERROR;
    }
    address_say(daemon, found->ai_addr);
    while (sigwait(&signals, &signal) != 0)
        ;
    MHD_stop_daemon(daemon);
    freeaddrinfo(found);
    return 0;
}

#endif
