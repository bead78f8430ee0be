/* SPDX-License-Identifier: Apache-2.0 */
/* Events that fail. Drivers differ in their reactions, and the drivers at hand crash or hang. So the test wraps the
 * driver and acts for it:
 *
 *   LISTED    drops commands with a failing event in their wait list; their own events fail
 *   BEHIND    also drops commands behind such a command in its queue until the event fails
 *   REFUSED   as BEHIND, and refuses commands with a failed event in their wait list
 *
 * The event fails before command `strike`, or when the host waits for it. */
#ifndef ORDO_TESTS_EVENTS_DRIVER_H
#define ORDO_TESTS_EVENTS_DRIVER_H

#include "tests/support/support.h"

enum manner { LISTED, BEHIND, REFUSED, N_MANNERS };
extern const char *const manner_name[N_MANNERS];

enum { DOOMED = 4096 };

struct events_driver {
    bool             active, struck;
    bool             complete; /* doomed events complete when it strikes, instead of failing */
    enum manner      manner;
    unsigned long    commands, strike; /* enqueued; number of the command before which the event fails, or 0 */
    unsigned long    dropped, waits;   /* dropped commands; waits of the host for a doomed event */
    cl_event         doomed[DOOMED];   /* retained: events that fail at the strike */
    size_t           n_doomed;
    cl_command_queue blocked; /* has a command that waits for a doomed event */
};
extern struct events_driver driver;

/* Begins the wrapping. Returns an order with an event that fails before command `strike`. */
struct ordo_order events_begin(const struct test *t, enum manner manner, unsigned long strike);
/* Ends the wrapping. */
void events_end(struct test *t);

/* The body of a thread: completes the user event `event` after 10 ms. */
void *events_set_later(void *event);

#endif
