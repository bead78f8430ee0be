/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench report FILE... -o PAGE: writes a page with the files and a script that draws them. */
#pragma once

/* argv[0] is "report". Returns EXIT_FAILED if a row is WRONG or writing failed. */
int report_command(int argc, char **argv);
