// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include "program_subject.hpp"

#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace llmcost::testing {

/// Layers of torch.nn in a chain (tests/golden/layers.txt), to be held under changed prices.
class layer_subject {
public:
    /// `lines` of one record by their first word.
    explicit layer_subject(const std::map<std::string, std::string>& lines)
        : custom_(parse_config(lines.at("described"), "layers.txt").read_with([](config_view root) {
              return custom_model(root);
          })) {
        std::istringstream total(lines.at("total"));
        std::uint64_t n = 0;
        for (std::size_t i = 0; i < num_primitives && total >> n; ++i) totals_.push_back(n);
        for (const char* key : {"backward", "torch", "saved"})
            for (std::istringstream line(lines.at(key)); line >> n;) totals_.push_back(n);
        (void)run(&census_);
    }

    [[nodiscard]] const operation_census& census() const noexcept { return census_; }
    [[nodiscard]] bool holds_prices() const { return run(nullptr) == totals_; }

private:
    [[nodiscard]] std::vector<std::uint64_t> run(listener* listener) const {
        workload load{.batch = 2, .sequence = 1, .weights = dtype::float32};
        load.training = true;
        trace t{load, listener};
        custom_.as_model().trace_with_loss(t);
        return totals_of(t.totals());
    }

    custom_model custom_;
    std::vector<std::uint64_t> totals_;  ///< as `totals_of` has them
    operation_census census_;
};

[[nodiscard]] inline const std::vector<layer_subject>& layer_subjects() {
    static const std::vector<layer_subject> all = [] {
        std::vector<layer_subject> found;
        std::ifstream in(LLMCOST_TEST_DIR "/golden/layers.txt");
        std::map<std::string, std::string> lines;
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with('#')) continue;
            const std::size_t blank = line.find(' ');
            const std::string name = line.substr(0, blank);
            if (name == "model") lines.clear();
            lines[name] = line.substr(blank + 1);
            if (name == "described") found.emplace_back(lines);
        }
        return found;
    }();
    return all;
}

}  // namespace llmcost::testing
