/* SPDX-License-Identifier: Apache-2.0 */
/* Complaints, and how a tool ends. */
#ifndef BENCH_COMPLAIN_H
#define BENCH_COMPLAIN_H

/* Exit codes of every tool. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SLOWER = 3, EXIT_INTERRUPTED = 130 };

/* Sets the name that complaints and the version begin with, and lets standard output go out line by line, also into a
 * pipe. */
void tool_name(const char *name);
/* What --help and --version print: the lines of a tool's help.txt, which ends with NULL; and its name and version. */
void print_lines(const char *const *lines);
void print_version(void);
/* "name: sentence" on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with a hint at --help, then exits with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A number of an option; anything else, or outside low..high, is a usage error. */
double option_number(const char *option, const char *text, double low, double high);

#endif
