/*
 * measure.h - what the rows share: time, percentiles, and the lines that bench/cudart/run reads,
 * "FIGURE name value", in nanoseconds or a second.
 */
#ifndef BENCH_CUDART_MEASURE_H
#define BENCH_CUDART_MEASURE_H

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* --quick: whether it runs, for a software device. */
extern bool quick;

static inline double now_ns()
{
    return (double)std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static inline void figure(const std::string &name, double value)
{
    printf("FIGURE %s %.6g\n", name.c_str(), value);
}

/* Nearest rank. */
static inline double percentile(std::vector<double> &samples, double p)
{
    size_t rank = (size_t)(p / 100 * (double)samples.size() + 0.999999);

    std::sort(samples.begin(), samples.end());
    return samples[std::min(std::max(rank, (size_t)1), samples.size()) - 1];
}

/* What reading the clock twice costs: it is in every sample of one call. */
double clock_cost();

/* The samples' p50 and p99, less what is in each of them. */
static inline void figures(const std::string &name, std::vector<double> &samples, double less = 0)
{
    figure(name + "_p50", std::max(0.0, percentile(samples, 50) - less));
    figure(name + "_p99", std::max(0.0, percentile(samples, 99) - less));
}

/* Whether what a row does for an operation can go on: sizes are the row's, the time is not. */
struct budget {
    double end;
    explicit budget(double seconds) : end(now_ns() + (quick ? 0.2 : seconds) * 1e9) {}
    bool left() const { return now_ns() < end; }
};

/* The rows. */
void row_launch();
void row_trip();
void row_start(const char *program);
void row_malloc();
void row_malloc_async();
void row_copy_async();
void row_event();
void row_graph();
void row_dependent();
void row_sort();
void row_scan();
void row_gemm();

#endif
