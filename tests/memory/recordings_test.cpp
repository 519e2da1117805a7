// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "registry.hpp"

// Every recording of a training step: what PyTorch's memory tracker saw, category by category.
namespace llmcost {
namespace {

struct recording {
    std::string configuration, changes, options, numbers;
};

std::vector<recording> recordings(const std::string& file) {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/" + file);
    std::vector<recording> all;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        recording r;
        std::istringstream parts(line);
        std::getline(parts, r.configuration, ' ');
        parts.ignore(2);
        std::getline(parts, r.changes, '|');
        std::getline(parts, r.options);
        std::getline(in, r.numbers);
        all.push_back(r);
    }
    return all;
}

model read_recorded(const recording& r) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + r.configuration + ".json");
    std::istringstream changes(r.changes == "- " ? std::string() : r.changes);
    for (std::string change; changes >> change;) {
        const std::size_t sign = change.find('=');
        document.set(change.substr(0, sign), change.substr(sign + 1));
    }
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}

/// An adapter in words, or as PEFT's configuration.
adapter adapter_of(const std::string& text, const model& m) {
    cli::requested_adapter request;
    request.is_file = text.starts_with('{');
    if (request.is_file)
        request.file = parse_config(text, "adapter", {}, document_kind::adapter).read_with([](config_view root) {
            return parse_adapter(root);
        });
    else
        request = cli::detail::read_adapter_option(text);
    std::ostringstream notes;
    cli::detail::resolve_adapter(request, m, notes);
    CHECK(notes.str() == "");
    return request.file.adapts;
}

training_run run_recorded(const recording& r, const model& m) {
    workload load;
    training_plan plan;
    std::istringstream option_stream(r.options);
    std::string optimizer, adapter, recompute, precision, attention, loss, dropout;
    option_stream >> load.batch >> load.sequence >> optimizer >> adapter >> recompute >> precision >> attention >>
        loss >> dropout;
    load.has_dropout = dropout == "keep";
    load.weights = load.activations =
        precision == "bf16" || precision == "fp8-mixed" ? dtype::bfloat16 : dtype::float32;
    load.autocast = precision == "bf16-mixed";
    load.uses_cpu_kernels = true;
    load.implementation = attention == "sdpa" ? attention_implementation::sdpa : attention_implementation::eager;
    plan.loss = loss == "sum" ? training_loss::sum : loss == "fused" ? training_loss::fused : training_loss::labels;
    plan.adapter_config = adapter_of(adapter, m);
    plan.schedule.optimizer = find_optimizer(optimizer);
    plan.schedule.recompute = recompute == "full" ? recompute_mode::full : recompute_mode::none;
    REQUIRE(plan.schedule.optimizer != nullptr);
    return train(m, load, plan);
}

/// Reads the numbers of a recording one by one and holds figures against them.
class expected_numbers {
public:
    explicit expected_numbers(const std::string& line) : in_(line) {}
    std::uint64_t next() {
        std::string name;
        do in_ >> name;
        while (name == "|");
        REQUIRE(in_);
        return std::stoull(name);
    }
    void expect_equal(std::string_view quantity, std::uint64_t got) { CHECK_MESSAGE(next() == got, quantity); }

private:
    std::istringstream in_;
};

void check_recordings(const std::vector<recording>& all) {
    for (const recording& r : all) {
        INFO(r.configuration << " " << r.changes << r.options);
        const training_run run = run_recorded(r, read_recorded(r));
        const memory_timeline& m = run.memory;
        expected_numbers expected(r.numbers);
        expected.expect_equal("trainable", m.num_trainable);
        expected.expect_equal("saved_bytes", m.saved_bytes);
        expected.expect_equal("forward FLOPs", run.pass_metrics.torch_flops.to_64());
        expected.expect_equal("backward FLOPs", run.pass_metrics.backward_torch_flops.to_64() + m.recomputed_flops);
        for (std::size_t i = 0; i < num_memory_categories; ++i) {
            const std::uint64_t bytes = m.peak.bytes.category_bytes[i];
            if (static_cast<memory_category>(i) != memory_category::activations) {
                expected.expect_equal(memory_category_names[i], bytes);
                continue;
            }
            // integers that a pass makes and that only one kind of model has are left out: experts' indices, positions
            // that layers made again are handed
            const std::uint64_t recorded_bytes = expected.next();
            CHECK(bytes <= recorded_bytes);
            CHECK(recorded_bytes - bytes < 50'000);
        }
        for (const memory_bytes* moment : {&m.peak_by_category, &m.after_forward, &m.after_backward, &m.after_step}) {
            expected.expect_equal("GRAD", (*moment)[memory_category::gradients]);
            expected.expect_equal("OPT", (*moment)[memory_category::optimizer]);
        }
    }
}

}  // namespace

TEST_CASE("a training step holds what PyTorch's memory tracker saw") {
    const std::vector<recording> all = recordings("recordings.txt");
    REQUIRE(all.size() == 111);
    check_recordings(all);
}

TEST_CASE("the same with dropout kept, a fused loss and products of float8") {
    const std::vector<recording> all = recordings("recordings_options.txt");
    REQUIRE(all.size() == 18);
    check_recordings(all);
}

TEST_CASE("training steps of further model types hold what PyTorch's memory tracker saw") {
    const std::vector<recording> all = recordings("recordings_types.txt");
    REQUIRE(all.size() == 73);
    check_recordings(all);
}

}  // namespace llmcost
