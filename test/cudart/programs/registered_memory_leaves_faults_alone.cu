// What goes on beside registered memory that kernels reach: a jump into it is a fault of the program's own, whose handler
// gets it; a file with a long name is mapped before it; a thread whose stack is registered goes on.
#include "show.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

static sigjmp_buf back;

static void fault_handle(int)
{
    siglongjmp(back, 1);
}

static bool jump_ends(void *to)
{
    if (sigsetjmp(back, 1) != 0)
        return true;
    ((void (*)())to)();
    return false;
}

/* A file's page, of a name that is longer than most lines of /proc/self/maps, in the place of the page. */
static bool file_map(void *place)
{
    const char *tmp = getenv("TMPDIR");
    std::string top = std::string(tmp != NULL ? tmp : "/tmp") + "/registered-XXXXXX";
    bool mapped = mkdtemp(&top[0]) != NULL;
    std::string outer = top + "/" + std::string(250, 'a'), inner = outer + "/" + std::string(250, 'b');
    std::string file = inner + "/" + std::string(250, 'c');

    mapped = mapped && mkdir(outer.c_str(), 0700) == 0 && mkdir(inner.c_str(), 0700) == 0;
    int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    mapped = mapped && ftruncate(fd, 4096) == 0 &&
             mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == place;
    close(fd);
    unlink(file.c_str());
    rmdir(inner.c_str());
    rmdir(outer.c_str());
    rmdir(top.c_str());
    return mapped;
}

int main()
{
    std::atomic<bool> stop{false};
    std::atomic<char *> stack{NULL};
    std::atomic<int> counted{0};
    char *pages = (char *)mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *there;

    signal(SIGSEGV, fault_handle);
    HOLDS(file_map(pages)); //> file_map(pages): yes
    MUST(cudaHostRegister(pages + 4096, 2 * 4096, cudaHostRegisterDefault));
    SHOW(cudaHostGetDevicePointer(&there, pages + 4096, 0)); //> cudaHostGetDevicePointer(&there, pages + 4096, 0): cudaSuccess
    HOLDS(jump_ends(pages + 4096)); //> jump_ends(pages + 4096): yes
    HOLDS(jump_ends(pages + 3 * 4096)); //> jump_ends(pages + 3 * 4096): yes
    MUST(cudaHostUnregister(pages + 4096));
    HOLDS(jump_ends(pages + 4096)); //> jump_ends(pages + 4096): yes

    std::thread beside([&] {
        volatile char mine[3 * 4096];

        mine[0] = 1;
        stack = (char *)mine;
        while (!stop) {
            volatile int more[64];

            for (int i = 0; i < 64; i++)
                more[i] = i;
            counted++;
        }
    });
    while (stack == NULL)
        std::this_thread::yield();
    /* The frame of the thread, which is the pages below and above too. */
    for (int turn = 0; turn < 3000 || counted < 100000; turn++) {
        MUST(cudaHostRegister(stack - 4096, 4 * 4096, cudaHostRegisterDefault));
        cudaHostGetDevicePointer(&there, stack - 4096, 0);
        cudaGetLastError();
        MUST(cudaHostUnregister(stack - 4096));
    }
    stop = true;
    beside.join();
    printf("the thread has gone on\n"); //> the thread has gone on
}
