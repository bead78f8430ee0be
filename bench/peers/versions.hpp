/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of the libraries of the host's peers. */
#pragma once

#if BENCH_BTREE || BENCH_HASH_MAP
#include <absl/base/config.h>
#endif
#include <cstddef>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef _GLIBCXX_RELEASE
#define STD_VERSION "libstdc++ " TEXT_OF(_GLIBCXX_RELEASE)
#else
#define STD_VERSION "the C++ library"
#endif
#ifdef ABSL_LTS_RELEASE_VERSION
#define ABSL_VERSION "Abseil " TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define ABSL_VERSION "Abseil"
#endif
