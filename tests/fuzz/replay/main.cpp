// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Feeds every file of the given folders to the fuzz target of a name, without libFuzzer.
#include "fuzz_targets.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
    std::size_t inputs = 0;
    for (const fuzz_target& target : fuzz_targets) {
        for (int i = 2; i < argc && argv[1] == target.name; ++i) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
                if (!entry.is_regular_file()) continue;
                std::ifstream file(entry.path(), std::ios::binary);
                const std::string bytes{std::istreambuf_iterator<char>(file), {}};
                std::cerr << entry.path().filename() << '\n';  // the last name printed is the input that broke
                target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
                ++inputs;
            }
        }
    }
    std::cout << inputs << " inputs replayed\n";
    return inputs == 0 ? 1 : 0;
}
