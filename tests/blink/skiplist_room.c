/* SPDX-License-Identifier: Apache-2.0 */
/* blink_room.c, for skiplists. */
#define TEST_SKIPLIST
#include "tests/blink/blink_room.c" // NOLINT(bugprone-suspicious-include)
