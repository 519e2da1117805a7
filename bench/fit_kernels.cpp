// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Fits calibrations of kernels to tables of measurements:
//
//     fit_kernels OUTPUT_FOLDER ACCURACY.md SOURCE LICENCE SYSTEM__GROUP__SOFTWARE__VERSION__TYPE_perf.csv[:LABEL]...
//
// SOURCE and LICENCE are those of such tables, for the files, unless a file SOURCE next to them has both. A table has
// the columns kernel_source and latency_us, and those of its family (latency/families.hpp). Tables in other layouts
// (layouts.hpp) bring their own. LABEL selects rows by operand type and variant: `bfloat16`, `bfloat16 balanced`.
// Written are OUTPUT_FOLDER/DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json, and a page of errors on what was left
// out of the fit: one in five shapes, by a hash, and again one in five sites with all that was measured there. What is
// written is then fitted to all of them.
#include "fit_tables.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

int main(int count, char** values) {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() < 5) {
        std::fprintf(stderr, "usage: fit_kernels OUTPUT_FOLDER ACCURACY.md SOURCE LICENCE TABLE.csv...\n");
        return 2;
    }
    try {
        llmcost::bench::fit_tables(arguments[0], arguments[1], arguments[2], arguments[3],
                                   {arguments.begin() + 4, arguments.end()});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fit_kernels: %s\n", e.what());
        return 1;
    }
    return 0;
}
