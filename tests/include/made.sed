# SPDX-License-Identifier: Apache-2.0
# Makes of the public headers a program in C++ that makes one of each struct for which C has a macro of the same name: the
# macros must not get in the way there.
1i\
#include "ordo/ordo.h"
s/^#define \(ordo_[a-z_0-9]*\)(\.\.\.).*/const \1 *make_\1(); const \1 *make_\1() { return new \1(); }/p
