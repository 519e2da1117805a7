// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/trace/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmcost::testing {

/// One line of a program and what torch said of its result (tests/oracle/layouts.py has the format).
struct statement {
    std::string name;
    std::string operation;
    std::vector<std::string> arguments;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::string flags;
    std::uint64_t written = 0;  ///< elements, to new storage

    [[nodiscard]] bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

/// A few operations that torch executed, with what they cost in all.
struct torch_program {
    std::string kind;
    bool trains = false;  ///< with gradients; otherwise under no_grad
    std::size_t line = 0;
    std::vector<statement> statements;
    std::vector<std::uint64_t> totals;  ///< primitives, FLOPs forward and backward, saved bytes
};

/// "2x3" -> 2, 3; "scalar" -> nothing.
[[nodiscard]] inline std::vector<std::int64_t> sizes_from(const std::string& name) {
    std::vector<std::int64_t> sizes;
    if (name == "scalar") return sizes;
    std::istringstream in(name);
    for (std::string n; std::getline(in, n, 'x');) sizes.push_back(std::stoll(n));
    return sizes;
}
[[nodiscard]] inline shape extents_from(const std::string& name) {
    shape e;
    for (const std::int64_t n : sizes_from(name)) e.size[e.rank++] = n;
    return e;
}

/// The programs that torch executed; throws where their file is malformed.
[[nodiscard]] inline std::vector<torch_program> read_programs() {
    const std::filesystem::path path = std::filesystem::path(LLMCOST_TEST_DIR) / "unit" / "layouts.txt";
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path.string());
    std::vector<torch_program> programs;
    std::size_t line_number = 0;
    for (std::string line; std::getline(in, line);) {
        ++line_number;
        std::istringstream text(line);
        std::vector<std::string> tokens;
        for (std::string name; text >> name;) tokens.push_back(name);
        if (tokens.empty() || tokens[0] == "#") continue;
        if (tokens[0] == "program") {
            programs.push_back({tokens.at(1), tokens.at(2) == "train", line_number, {}, {}});
            continue;
        }
        torch_program& program = programs.at(programs.size() - 1);
        if (tokens[0] == "end") {
            for (std::size_t i = 1; i < tokens.size(); ++i) program.totals.push_back(std::stoull(tokens[i]));
            continue;
        }
        const std::size_t n = tokens.size();
        if (n < 7 || tokens[n - 5] != ">") throw std::runtime_error(path.string() + ":" + std::to_string(line_number));
        program.statements.push_back({tokens[0],
                                      tokens[1],
                                      {tokens.begin() + 2, tokens.begin() + static_cast<std::ptrdiff_t>(n - 5)},
                                      sizes_from(tokens[n - 4]),
                                      sizes_from(tokens[n - 3]),
                                      tokens[n - 2],
                                      std::stoull(tokens[n - 1])});
    }
    return programs;
}

/// In what a value differs from what torch said; empty where it does not.
///
/// The step along a dimension of one element leads nowhere and is not compared.
[[nodiscard]] inline std::string disagreement(const statement& s, const tensor& v) {
    const auto rank = static_cast<std::size_t>(v.rank);
    if (rank != s.sizes.size()) return " rank " + std::to_string(rank);
    std::string text;
    for (std::size_t i = 0; i < rank; ++i) {
        const std::string label = "[" + std::to_string(i) + "] ";
        if (v.size[i] != s.sizes[i]) text += " size" + label + std::to_string(v.size[i]);
        if (v.size[i] != 1 && v.stride[i] != s.strides[i]) text += " stride" + label + std::to_string(v.stride[i]);
    }
    if (v.is_contiguous() != s.has('c')) text += v.is_contiguous() ? " is contiguous" : " is not contiguous";
    if ((v.type == dtype::bfloat16) != s.has('b')) text += " has another type";
    return text;
}

}  // namespace llmcost::testing
