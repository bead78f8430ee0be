/* SPDX-License-Identifier: Apache-2.0 */
/* blink_history.c, for skiplists. */
#define TEST_SKIPLIST
#include "tests/blink/blink_history.c" // NOLINT(bugprone-suspicious-include)
