// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// The whole program behind one function, compiled once: what it writes, and how it ends.
namespace llmcost::testing {

struct surroundings {
    std::string in{};
    std::map<std::string, std::string> variables{};
    bool terminal = false;  ///< input and output
    bool full = false;      ///< the output is a device without space
};

struct outcome {
    int code = -1;
    std::string out;
    std::string err;
};

/// Runs `llmcost ARGS…` in surroundings of its own: no environment, no terminal, no network.
[[nodiscard]] outcome llmcost_program(const std::vector<std::string>& args, const surroundings& settings = {});

/// Runs the program with the arguments of one text, separated by blanks.
[[nodiscard]] outcome llmcost_line(const std::string& line, const surroundings& settings = {});

/// What a run prints that must end with a code and say nothing else.
[[nodiscard]] std::string printed(const std::string& line, const surroundings& settings = {}, int code = 0);

/// Runs the program and parses its output as JSON.
[[nodiscard]] inline nlohmann::json json_of(const std::string& line) {
    return nlohmann::json::parse(printed(line + " --format json"));
}

/// What a run says on standard error that must fail and print nothing.
[[nodiscard]] std::string refused(const std::string& line, const surroundings& settings = {}, int code = 2);

/// What a table says of its first row without an answer, in the words of a refusal; the other rows are there.
[[nodiscard]] std::string refused_row(const std::string& line, const surroundings& settings);

/// The configuration of a golden, by the golden's name.
[[nodiscard]] std::string config_of(const std::string& name);

/// Whether a text has a part.
[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

inline const std::string llama = "--config " + config_of("meta-llama__Llama-3.2-1B");
inline const std::string measured = " --calibration " LLMCOST_TEST_DIR "/../configs/calibrations";

}  // namespace llmcost::testing
