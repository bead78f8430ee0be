/* SPDX-License-Identifier: Apache-2.0 */
/* The status codes that Ordo calls return. */
#ifndef ORDO_STATUS_H
#define ORDO_STATUS_H

#if defined(_WIN32)
#define ORDO_API
#else
#define ORDO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text) for each status. The number of a status never changes. */
#define ORDO_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(INVALID, -1, "an argument is outside its documented range")                                  \
    X(UNSUPPORTED, -2, "this device or this type cannot do that")                                  \
    X(NO_DEVICE, -3, "no OpenCL device matches")                                                   \
    X(NO_DEVICE_MEMORY, -4, "out of device memory; what was stored stays")                         \
    X(NO_HOST_MEMORY, -5, "out of host memory; what was stored stays")                             \
    X(BUILD, -6, "a kernel did not compile; the message has file and line")                        \
    X(OPENCL, -7, "an OpenCL call failed; the message names it and its code")                      \
    X(TOO_LARGE, -8, "more than one call or one allocation of this device takes")                  \
    X(FORKED, -9,                                                                                  \
      "the device was opened before fork(); a child that is to compute opens its own, forked "     \
      "before OpenCL is used")                                                                     \
    X(SELF_TEST, -10, "the device computes wrong answers with every variant")                      \
    X(IO, -11, "a file could not be read or written")                                              \
    X(TOO_SMALL, -12, "a buffer has less room than the result needs; the size needed is given")    \
    X(BROKEN, -13, "an invariant of the structure does not hold; clear or destroy it")             \
    X(DEVICE_FAILED, -14,                                                                          \
      "a kernel failed on the device; close it, and open it again in a new process")               \
    X(CANCELLED, -15, "the caller's progress function said to stop")

typedef enum ordo_status {
#define X(name, code, text) ORDO_##name = (code),
    ORDO_STATUS_MAP(X)
#undef X
} ordo_status;

/* Returns the text of a status in English, or "unknown status" for an unknown number. */
ORDO_API const char *ordo_status_string(ordo_status status);

#ifdef __cplusplus
}
#endif

#endif
