/* SPDX-License-Identifier: Apache-2.0 */
/* blink_concurrent.c, for skiplists. */
#define TEST_SKIPLIST
#include "tests/blink/blink_concurrent.c" // NOLINT(bugprone-suspicious-include)
