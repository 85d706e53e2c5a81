// Structures that point to each other are the same for host and kernels; arguments may lie there too.
#include "show.h"

struct item {
    int value;
    struct item *next;
};

__global__ void sum(struct item *first, int *out)
{
    *out = 0;
    for (struct item *item = first; item != nullptr; item = item->next)
        *out += item->value++;
}

int main()
{
    struct box {
        struct item *first;
        int *out;
        int result;
    } *box;

    MUST(cudaMallocManaged(&box, sizeof(*box)));
    box->first = nullptr;
    box->out = &box->result;
    for (int i = 1; i <= 20; i++) {
        struct item *item;

        MUST(cudaMallocManaged(&item, sizeof(*item)));
        item->value = i;
        item->next = box->first;
        box->first = item;
    }
    sum<<<1, 1>>>(box->first, box->out);
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", box->result, box->first->value); //> 210 21
    void *args[] = {&box->first, &box->out};
    MUST(cudaLaunchKernel((void *)sum, dim3(1), dim3(1), args, 0, 0));
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", box->result, box->first->value); //> 230 22
}
