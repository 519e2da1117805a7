// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>
#include <llmcost/report/listing.hpp>

// A description of a model: whatever it says, the answer is an error or figures, the same by every way to them.
namespace {

void hold_description(const llmcost::model& m) {
    using namespace llmcost;
    cost_evaluator evaluate(m);
    for (const workload& load :
         {workload{.batch = 2, .sequence = 5}, workload{.batch = 3, .sequence = 9, .past = 4},
          workload{.sequence = 6, .training = true}, workload{.image_height = 40, .image_width = 24}}) {
        try {
            const model_metrics all = count_model(m, load);
            if (list_model(m, load).total != all) std::abort();
            if (!load.training && evaluate(load) != all) std::abort();
        } catch (const error&) {
        } catch (const overflow_error&) {
        } catch (const workload_error&) {
        } catch (const description_error&) {
        }
    }
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/description_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const llmcost::config_document file = llmcost::parse_config(text, "fuzz.json");
        file.read_with([&](llmcost::config_view root) {
            if (!llmcost::custom_model::is_custom_model(root)) return;
            const llmcost::custom_model custom(root, file.name());
            hold_description(custom.as_model());
        });
    } catch (const llmcost::error&) {
    } catch (const llmcost::overflow_error&) {
    } catch (const llmcost::workload_error&) {
    } catch (const llmcost::description_error&) {
    }
    return 0;
}
