// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include "../unit/torch_machine.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace llmcost::testing {

/// Which operations a walk executes, and with how many inputs where the result asks for a gradient (0: never).
struct operation_census final : listener {
    void on_op(const recorder&, const operation& o) override {
        const auto kind = static_cast<std::size_t>(o.kind);
        executes[kind] = true;
        ++operations;
        if (o.work != count{}) has_work[kind] = true;
        if (o.rows != count{}) has_rows[kind] = true;
        if (!o.output.requires_grad) return;
        for (std::size_t i = 0; i < 2 && i < static_cast<std::size_t>(o.input_count); ++i) {
            if (!o.inputs[i]->requires_grad) continue;
            needs_gradient[i][kind] = true;
            if (o.inputs[i]->numel != o.output.numel) changes_size[kind] = true;
        }
        int& minimum = min_inputs[kind];
        if (minimum == 0 || o.input_count < minimum) minimum = o.input_count;
        if (o.input_count > max_inputs[kind]) max_inputs[kind] = o.input_count;
    }
    std::size_t operations = 0;
    std::array<bool, num_ops> executes{};
    std::array<bool, num_ops> has_work{};
    std::array<bool, num_ops> has_rows{};
    std::array<bool, num_ops> needs_gradient[2]{};  ///< a gradient of this input
    std::array<bool, num_ops> changes_size{};       ///< such an input has other elements than the output
    std::array<int, num_ops> min_inputs{};
    std::array<int, num_ops> max_inputs{};
};

/// A few operations that torch executed, to be held under changed prices.
class program_subject {
public:
    explicit program_subject(torch_program program) : program_(std::move(program)) { (void)run(&census_); }

    [[nodiscard]] const operation_census& census() const noexcept { return census_; }
    [[nodiscard]] bool holds_prices() const { return run(nullptr) == program_.totals; }

private:
    [[nodiscard]] std::vector<std::uint64_t> run(listener* listener) const {
        machine m(program_.trains, listener);
        for (const statement& s : program_.statements) (void)m.execute(s);
        m.go_back();
        return totals_of(m.get_trace().totals());
    }

    torch_program program_;
    operation_census census_;
};

[[nodiscard]] inline const std::vector<program_subject>& program_subjects() {
    static const std::vector<program_subject> all = [] {
        std::vector<program_subject> found;
        for (torch_program& program : read_programs()) found.emplace_back(std::move(program));
        return found;
    }();
    return all;
}

}  // namespace llmcost::testing
