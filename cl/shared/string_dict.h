/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of strings is a list of runs. A *run* is a sorted column of distinct strings with an index
 * (shared/string_index.h), values and marks. Invariants (ordo_string_dict_check checks them):
 *
 *   D1 index     A search in the run's index finds each of its strings.
 *   D2 marks     The marks of a run of n strings have W = STRING_MARKS(n) words, then W + 1 counts. Bit i % 32 of word
 *                i / 32 is 1 if string i is hidden: replaced or erased. Bits after the last string are 1. Count w is
 *                the number of visible strings before string 32 w.
 *   D3 apart     A string is visible in at most one run.
 *
 * The *rank* of a string is the number of lesser visible strings in all runs. The *place* of string i of a run is i
 * plus the number of strings in the runs before. */
#pragma once
#include "shared/types.h"

#define STRING_MARKS(n) ((n) / 32 + 1)
