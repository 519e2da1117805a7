// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"

#include <fstream>
#include <map>
#include <string>

#include "registry.hpp"

// Tables of what processors make of images and recordings, which tests/oracle/sizes.py and sounds.py write.
namespace llmcost::testing {

/// A configuration with the contents of its other files, `{"preprocessor_config": {}, "processor_config": {}}` or
/// `none`.
[[nodiscard]] inline model read_with_files(const std::string& config, const std::string& files) {
    std::string merged_config = config;
    if (files != "none") merged_config = config.substr(0, config.rfind('}')) + "," + files.substr(files.find('{') + 1);
    return parse_config(merged_config, "config.json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

/// Why such a configuration is refused; empty where it is read.
[[nodiscard]] inline std::string refusal_of(const std::string& config, const std::string& files) {
    try {
        (void)read_with_files(config, files);
    } catch (const error& e) {
        return e.what();
    }
    return "";
}

/// Calls `check(model, where, input, expected)` for each row of a table. Returns the rows of each type.
///
/// Lines are `type NAME`, `json OBJECT`, `files OBJECT` (all other files) or `processor OBJECT` (one of them), and rows
/// of these: `WHAT = BECOMES`.
template <class Check>
std::map<std::string, int> for_media_rows(const char* table, Check check) {
    std::ifstream in(golden_folder() / table);
    std::string line, type, config, files;
    std::map<std::string, int> rows;
    model m;
    while (std::getline(in, line)) {
        const std::size_t space = line.find(' ');
        const std::string name = line.substr(0, space), rest = line.substr(space + 1);
        if (name == "#") continue;
        if (name == "type") {
            type = rest;
        } else if (name == "config") {
            config = rest;
        } else if (name == "files" || name == "processor") {
            files = name == "files" || rest == "none" ? rest : "{\"preprocessor_config\": " + rest + "}";
            m = read_with_files(config, files);
        } else {
            const std::size_t sign = line.find('=');
            check(m, type + " " + files, line.substr(0, sign), line.substr(sign + 2));
            ++rows[type];
        }
    }
    return rows;
}

}  // namespace llmcost::testing
