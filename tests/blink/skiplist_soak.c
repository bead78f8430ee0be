/* SPDX-License-Identifier: Apache-2.0 */
/* blink_soak.c, for skiplists. */
#define TEST_SKIPLIST
#include "tests/blink/blink_soak.c" // NOLINT(bugprone-suspicious-include)
