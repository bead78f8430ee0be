# SPDX-License-Identifier: Apache-2.0
# Makes of the public headers a program in C++ that names each struct without the word `struct`: neither a macro nor a
# function may have the name of a struct.
1i\
#include "ordo/ordo.h"
s/^\(typedef \)\{0,1\}struct \(ordo_[a-z_0-9]*\) {.*/const \2 *make_\2(); const \2 *make_\2() { return new \2(); }/p
