/* driver_server.c - see driver_server.h. */
#include "driver_server.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct server *driver_server_start(const char *const *arguments, uint64_t keeps,
                                   struct driver_plan **plan)
{
    static char library[512], file[128];
    const char *const environment[] = {library, file, NULL};
    const char *path;
    const int fd = test_file_open(&path);

    CHECK(fd >= 0 && !ftruncate(fd, sizeof(**plan)));
    *plan = mmap(NULL, sizeof(**plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(*plan != MAP_FAILED);
    atomic_store(&(*plan)->keeps, keeps);
    snprintf(library, sizeof(library), "GSHARE_SOFTCUDA=%s",
             test_build_path("test/e2e/libgshare-fail-driver.so"));
    snprintf(file, sizeof(file), "GSHARE_DRIVER_PLAN=%s", path);
    CHECK(!close(fd));
    return server_start(&(struct server_options){
        .device = "soft", .environment = environment, .arguments = arguments});
}

void driver_slow(struct driver_plan *plan, const char *function, uint32_t ms)
{
    snprintf(plan->slow, sizeof(plan->slow), "%s", function);
    atomic_store_explicit(&plan->slow_ms, ms, memory_order_release);
}

void driver_hold(struct driver_plan *plan, const char *function)
{
    snprintf(plan->held, sizeof(plan->held), "%s", function);
    atomic_store(&plan->holding, 1);
}

void driver_go_on(struct driver_plan *plan)
{
    atomic_store(&plan->holding, 0);
    futex_wake(&plan->holding);
}
