/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/codes.h"

#define CODE_FINDS(code)      ((code) <= CODE_CONTAINS)
#define CODE_UPDATES(code)    ((code) >= CODE_UPSERT && (code) <= CODE_ERASE)
#define CODE_SEEKS_UP(code)   ((code) == CODE_SEEK_GE || (code) == CODE_SEEK_GT)
#define CODE_SEEKS_DOWN(code) ((code) == CODE_SEEK_LT || (code) == CODE_SEEK_LE)
