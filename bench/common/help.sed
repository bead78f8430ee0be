# SPDX-License-Identifier: Apache-2.0
# Makes of a help.txt what stands between the braces of an array of strings in C.
s/["\\]/\\&/g
s/.*/    "&",/
$s/$/ 0/
