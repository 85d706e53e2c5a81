/*
 * report.h - launches that are measured for their tenant; see report.c. Main lane, except
 * reports_deinit.
 */
#ifndef GS_WORKER_SUBMIT_REPORT_H
#define GS_WORKER_SUBMIT_REPORT_H

#include "worker/submit/launch.h"

/* Issues one kernel between two events. submitted: the time by CLOCK_MONOTONIC at which the tenant
 * says that it submitted the launch. */
CUresult report_launch(struct session *session, uint32_t index, const struct launch *launch,
                       uint32_t id, uint64_t submitted);
/* Publishes the reports of launches that have ended. */
void reports_poll(struct session *session);
/* The same until one is found whose launch goes on; the next call begins behind that one. For each
 * round: a user's sessions may have thousands of reports, and each question takes the driver some
 * time. */
void reports_poll_some(struct session *session);
/* Destroys the events of a session that has nothing on the device. Service thread. */
void reports_deinit(struct session *session);

#endif
