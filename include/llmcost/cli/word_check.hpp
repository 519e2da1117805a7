// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <llmcost/kernels/shelf.hpp>
#include <llmcost/kernels/words.hpp>

namespace llmcost::cli {

/// That devices of several nodes are priced by the links of one; empty where they fit into one.
inline std::string note_on_nodes(std::int64_t devices) {
    if (devices <= execution::most_devices_of_a_node) return {};
    return "links between nodes are not known: between the " + std::to_string(devices) +
           " devices are taken the links of one node, and a network of several is slower";
}

/// Holds the words of a choice against those that there are: refuses what means nothing, and notes once what is priced by
/// something else.
class word_check {
public:
    word_check(const operator_family& family, const std::string& calibration, std::ostream& notes)
        : family_(family), known_(calibration), notes_(notes) {}

    /// Of options; `on` is null where rows say the device.
    void options(const kernel_choice& asked, const device* on) {
        if (!asked.software.empty()) demand("--kernels", known_.software_problem(asked.software));
        if (!asked.version.empty()) {
            if (asked.software.empty()) refuse("--version", "needs --kernels: whose it is");
            demand("--version", known_.version_problem(asked.software, asked.version, &family_, on));
        }
        variant("", "--" + std::string(family_.variant_column), asked.variant);
    }
    /// Of a row of a table, whose columns of software and version may mean something else: what they say is only noted.
    void row(const std::string& where, const kernel_choice& asked, const device& on) {
        // a million rows say the same few words over and over
        const auto words = std::tie(asked.software, asked.version, asked.variant, asked.device);
        if (rows_.contains(words)) return;
        if (!asked.version.empty())
            ignored(where, "version",
                    asked.software.empty() ? "needs a column 'backend', or --kernels: whose it is"
                                           : known_.version_problem(asked.software, asked.version, &family_, &on));
        variant(where + ": ", std::string(family_.variant_column), asked.variant);
        rows_.insert(words);  // what is refused is refused in every row
    }
    /// Whether a row's `backend` names a software; noted once where it does not.
    bool software(const std::string& where, const std::string& word) {
        const auto [known, fresh] = software_.try_emplace(word, false);
        if (!fresh) return known->second;
        const std::string problem = word.empty() ? std::string{} : known_.software_problem(word);
        ignored(where, "backend", problem);
        return known->second = problem.empty();
    }
    /// Of what was found for it; `of_software` is the option or column that named the software.
    void found(const std::string& where, const kernel_choice& asked, const chosen_kernel& c,
               std::string_view of_software = "--kernels") {
        if (c.kernel == nullptr) return;
        if (stands_in(family_, asked.software, c.kernel))
            note(where + std::string(of_software),
                 stand_in_note(asked.software, *c.on, measured_words(family_, *c.operand, c.variant), c.kernel->software));
        if (!(c.kernel->variant == c.variant))
            note(where + std::string(family_.variant_column),
                 in_quotes(c.variant) + " was not measured: " + printable(c.kernel->variant) + " stands in for it");
    }

    /// Of GPUs that no node has and nobody measured together.
    void nodes(const std::string& where, const operator_shape& shape, const chosen_kernel& c) {
        constexpr literal column = "num_gpus";
        if (!shape.work().between_devices || (c.kernel != nullptr && c.kernel->residual.has(shape.site()))) return;
        const std::string problem = note_on_nodes(shape.size(column));
        if (!problem.empty()) note(where + column, problem);
    }
    /// Of the name of a kernel, where it is none of those that it could have chosen.
    void kernel(const std::string& where, const std::string& word, const std::set<string_ref>& known) {
        ignored(where, "kernel_source", not_among(known, word));
    }

private:
    void variant(const std::string& where, const std::string& name, const std::string& word) {
        if (word.empty()) return;
        const std::string problem = known_.variant_problem(family_, word);
        if (!family_.words.others)
            demand(name, problem);
        else if (!problem.empty())
            note(where + name, problem + "; priced as any other");
    }
    void ignored(const std::string& where, const char* column, const std::string& problem) {
        if (!problem.empty()) note(where + ": " + column, problem + "; it chooses nothing");
    }
    void note(const std::string& where, const std::string& what) {
        if (said_.insert(what).second) notes_ << "llmcost: " << where << ": " << what << '\n';
    }

    const operator_family& family_;
    known_kernels known_;
    std::ostream& notes_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>, std::less<>> rows_;
    std::map<std::string, bool> software_;
    std::set<std::string> said_;
};

}  // namespace llmcost::cli
