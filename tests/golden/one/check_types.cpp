// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "../golden_compare.hpp"

// Compares the model types of one small registry with their goldens, without any other model type: the edit loop of
// docs/contributing.md. Prints the first difference of each golden.
int main() {
    using namespace llmcost::testing;
    int num_goldens = 0, num_failures = 0;
    for (const std::filesystem::path& folder : {golden_folder(), media_folder()})
        for (const std::filesystem::path& path : golden_paths(folder)) {
            if (!names_registered_type(path)) continue;
            const golden_file golden = read_golden(path);
            if (parts::registry.find(golden.model_type) == nullptr) continue;
            ++num_goldens;
            std::string difference;
            try {
                const comparison c = compare(golden, built_from(golden));
                if (c.differences() != 0) difference = c.first();
            } catch (const std::exception& problem) {
                difference = problem.what();
            }
            if (difference.empty()) continue;
            ++num_failures;
            std::printf("%s (%s): %s\n", golden.name.c_str(), golden.model_type.c_str(), difference.c_str());
        }
    if (num_goldens == 0) std::printf("no golden has one of these model types\n");
    std::printf("%d of %d goldens are exact\n", num_goldens - num_failures, num_goldens);
    return num_goldens > 0 && num_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
