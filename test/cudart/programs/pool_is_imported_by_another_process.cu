// A pool is exported as a file descriptor, and its allocations by data of their own; another process uses and frees them.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

static const size_t sizes[] = {1000, 4 << 20};

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static void send_descriptor(int to, int fd)
{
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {};
    iovec part = {&byte, 1};
    msghdr message = {};

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof(room);
    cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    sendmsg(to, &message, 0);
}

static int receive_descriptor(int from)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    iovec part = {&byte, 1};
    msghdr message = {};
    int fd = -1;

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof(room);
    if (recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

static int child(int from)
{
    const int fd = receive_descriptor(from);
    cudaMemPoolPtrExportData data[2];
    cudaMemAccessDesc access = {};
    cudaMemPool_t pool;
    cudaStream_t stream;
    int *p;

    if (read(from, data, sizeof(data)) != sizeof(data) || cudaStreamCreate(&stream) != cudaSuccess)
        return 1;
    if (cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0) !=
        cudaSuccess)
        return 2;
    access.location.type = cudaMemLocationTypeDevice;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    if (cudaMemPoolSetAccess(pool, &access, 1) != cudaSuccess)
        return 3;
    if (cudaMallocFromPoolAsync(&p, 64, pool, stream) == cudaSuccess) // an imported pool allocates nothing
        return 4;
    for (auto &d : data) {
        if (cudaMemPoolImportPointer((void **)&p, pool, &d) != cudaSuccess)
            return 5;
        add<<<1, 32, 0, stream>>>(p, 5);
        if (cudaFreeAsync(p, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess)
            return 6;
    }
    return cudaMemPoolDestroy(pool) == cudaSuccess ? 0 : 7;
}

int main()
{
    cudaMemPoolPtrExportData data[2];
    cudaMemPoolProps props = {};
    cudaMemPool_t pool, own;
    int sockets[2], status, host[32], fd = -1, types;
    int *p[2], *other;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(child(sockets[0]));
    MUST(cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
    HOLDS(types & cudaMemHandleTypePosixFileDescriptor); //> types & cudaMemHandleTypePosixFileDescriptor: yes
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    MUST(cudaMemPoolCreate(&own, &props));
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    SHOW(cudaMemPoolCreate(&pool, &props)); //> cudaMemPoolCreate(&pool, &props): cudaSuccess
    for (int i = 0; i < 2; i++) {
        MUST(cudaMallocFromPoolAsync(&p[i], sizes[i], pool, 0));
        MUST(cudaMemsetAsync(p[i], i + 1, sizes[i], 0));
    }
    MUST(cudaMallocFromPoolAsync(&other, 64, own, 0));
    MUST(cudaDeviceSynchronize());

    SHOW(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0)); //> cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0): cudaSuccess
    SHOW(cudaMemPoolExportPointer(&data[0], p[0])); //> cudaMemPoolExportPointer(&data[0], p[0]): cudaSuccess
    SHOW(cudaMemPoolExportPointer(&data[1], p[1])); //> cudaMemPoolExportPointer(&data[1], p[1]): cudaSuccess
    send_descriptor(sockets[1], fd);
    if (write(sockets[1], data, sizeof(data)) != sizeof(data) || waitpid(pid, &status, 0) != pid)
        return 1;
    printf("%d\n", WEXITSTATUS(status)); //> 0
    for (int i = 0; i < 2; i++) {
        MUST(cudaMemcpy(host, p[i], sizeof(host), cudaMemcpyDeviceToHost));
        printf("%x %x\n", host[0], host[31]);
        //> 1010106 1010106
        //> 2020207 2020207
    }
    for (int *q : p)
        MUST(cudaFreeAsync(q, 0));
    MUST(cudaDeviceSynchronize());

    // A pool that was not made to be exported is not.
    SHOW(cudaMemPoolExportToShareableHandle(&fd, own, cudaMemHandleTypePosixFileDescriptor, 0)); //> cudaMemPoolExportToShareableHandle(&fd, own, cudaMemHandleTypePosixFileDescriptor, 0): cudaErrorInvalidValue
}
