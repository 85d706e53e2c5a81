/*
 * report.h - launches that are measured for their tenant; see report.c. Called by the main lane,
 * except reports_deinit.
 */
#ifndef GS_WORKER_SUBMIT_REPORT_H
#define GS_WORKER_SUBMIT_REPORT_H

#include "worker/submit/launch.h"

/* Issues one kernel between two events. submitted: the time (CLOCK_MONOTONIC) at which, according
 * to the tenant, the launch was submitted. */
CUresult report_launch(struct session *session, uint32_t index, const struct launch *launch,
                       uint32_t id, uint64_t submitted);
/* Publishes the reports of launches that have ended. */
void reports_poll(struct session *session);
/* Publishes reports until it finds a launch that still runs; the next call begins after that one.
 * Called in each round, because a user's sessions may have thousands of reports and each query
 * takes the driver some time. */
void reports_poll_some(struct session *session);
/* Destroys the events of a session that has nothing on the device. Called by a service thread. */
void reports_deinit(struct session *session);

#endif
