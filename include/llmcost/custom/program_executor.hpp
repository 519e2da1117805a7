// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// Traces a parsed description.
namespace llmcost::custom {

/// Module names created by traces. They remain valid for listeners that read them later.
class name_storage {
public:
    [[nodiscard]] literal keep(std::string text);

private:
    std::mutex mutex_;
    std::set<std::string> names_;
};

/// Maximum number of calls in one trace.
inline constexpr std::int64_t max_calls = 200000;

/// Traces a program once.
class program_executor {
public:
    program_executor(const program& p, name_storage& names, trace& t);

    [[nodiscard]] tensor run();

    /// The shape of an input.
    [[nodiscard]] shape input_sizes(const input& program_input);

private:
    /// A tensor, and the step that created it.
    struct produced_tensors {
        tensor v{};
        const step* producer = nullptr;
    };
    struct call_frame {
        std::vector<std::int64_t> variables{};
        std::vector<produced_tensors> slots{};
        std::vector<std::vector<produced_tensors>> lists{};
        std::int64_t item = 0;  ///< the next index in the container
    };

    call_frame& open(const block& b);
    void close() noexcept { --depth_; }

    [[noreturn]] void fail(const std::string& pointer, std::string_view message) const {
        throw error(errc::bad_value, program_.file.empty() ? pointer : program_.file + ": " + pointer,
                    std::string(message));
    }
    [[nodiscard]] std::int64_t number(const expression& e, const call_frame& f) const {
        return e.constant() ? e.number : program_.numbers.evaluate(e, {f.variables.data(), workload_values_});
    }

    [[nodiscard]] shape sizes_of(const input& program_input, const call_frame& f) const;
    [[nodiscard]] std::int64_t size_of(const input& program_input, const expression& e, const call_frame& f) const;

    produced_tensors run(const steps& all, call_frame& f, produced_tensors x);
    produced_tensors run(const step& s, call_frame& f, produced_tensors x);
    produced_tensors run_once(const step& s, call_frame& f, const produced_tensors& x, std::int64_t index);

    [[nodiscard]] static std::vector<produced_tensors> gathered(const step& s, call_frame& f,
                                                                const produced_tensors& x);
    [[nodiscard]] module_info place_of(const step& s, call_frame& f, std::int64_t index);
    [[nodiscard]] tensor buffer(const step& s, const call_frame& f);
    [[nodiscard]] shape shape_of(const step& s, const call_frame& f) const;

    /// Calls a layer or function with the inputs and arguments of a step.
    std::vector<produced_tensors> call(const step& s, const layer_row& row, const call_frame& f,
                                       const std::vector<produced_tensors>& in);
    /// Text for error messages: `; inputs: (2, 512) of /layers/3`.
    [[nodiscard]] static std::string format_inputs(const std::vector<produced_tensors>& in);
    std::vector<produced_tensors> enter(const step& s, const call_frame& f, const std::vector<produced_tensors>& in);
    produced_tensors residual(const step& s, call_frame& f, const produced_tensors& x);
    std::vector<produced_tensors> parallel(const step& s, call_frame& f, const produced_tensors& x);

    const program& program_;
    name_storage& names_;
    trace& trace_;
    std::int64_t workload_values_[std::size(workload_names)]{};
    std::vector<std::unique_ptr<call_frame>> frames_{};
    std::vector<decoder_inputs> shared_inputs_{};
    std::size_t depth_ = 0;
    std::int64_t num_calls_ = 0;
    std::string input_description_{};
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/program_executor.ipp>  // IWYU pragma: export
#endif
