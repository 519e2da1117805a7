// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/train.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rows.hpp"

// Every recording of a training step: what PyTorch's memory tracker saw, category by category.
namespace llmcost {
namespace {

struct recording {
    std::string configuration, changes, words, numbers;
};

std::vector<recording> recordings(const std::string& file) {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/" + file);
    std::vector<recording> all;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        recording r;
        std::istringstream parts(line);
        std::getline(parts, r.configuration, ' '), parts.ignore(2);
        std::getline(parts, r.changes, '|'), std::getline(parts, r.words);
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
    return document.read_with([](config_view root) { return parts::rows.read(root); });
}

/// An adapter in words, or as PEFT's configuration.
adapter adapter_of(const std::string& text, const model& m) {
    cli::asked_adapter asked;
    asked.is_file = text.starts_with('{');
    if (asked.is_file)
        asked.file = parse_config(text, "adapter", {}, config_subject::adapter).read_with([](config_view root) {
            return read_adapter(root);
        });
    else
        asked = cli::detail::read_adapter_option(text);
    std::ostringstream notes;
    cli::detail::settle_adapter(asked, m, notes);
    CHECK(notes.str() == "");
    return asked.file.adapts;
}

training_run run_recorded(const recording& r, const model& m) {
    workload load;
    training_plan plan;
    std::istringstream words(r.words);
    std::string optimizer, adapter, recompute, precision, attention, loss, dropout;
    words >> load.batch >> load.sequence >> optimizer >> adapter >> recompute >> precision >> attention >> loss >> dropout;
    load.keeps_dropout = dropout == "keep";
    load.weights = load.activations = precision == "bf16" || precision == "fp8-mixed" ? dtype::bfloat16 : dtype::float32;
    load.autocast = precision == "bf16-mixed", load.on_cpu = true;
    load.implementation = attention == "sdpa" ? attention_implementation::sdpa : attention_implementation::eager;
    plan.loss = loss == "sum" ? training_loss::sum : loss == "fused" ? training_loss::fused : training_loss::labels;
    plan.adapts = adapter_of(adapter, m);
    plan.step.optimizer = find_optimizer(optimizer);
    plan.step.recompute = recompute == "full" ? recomputation::full : recomputation::none;
    REQUIRE(plan.step.optimizer != nullptr);
    return train(m, load, plan);
}

/// Reads the numbers of a recording one by one and holds figures against them.
class expected_numbers {
public:
    explicit expected_numbers(const std::string& line) : in_(line) {}
    std::uint64_t next() {
        std::string word;
        do in_ >> word;
        while (word == "|");
        REQUIRE(in_);
        return std::stoull(word);
    }
    void same(std::string_view what, std::uint64_t got) { CHECK_MESSAGE(next() == got, what); }

private:
    std::istringstream in_;
};

void check_recordings(const std::vector<recording>& all) {
    for (const recording& r : all) {
        INFO(r.configuration << " " << r.changes << r.words);
        const training_run run = run_recorded(r, read_recorded(r));
        const memory_timeline& m = run.memory;
        expected_numbers expected(r.numbers);
        expected.same("trainable", m.trainable);
        expected.same("saved_bytes", m.saved_bytes);
        expected.same("forward FLOPs", run.counted.torch_flops.to_64());
        expected.same("backward FLOPs", run.counted.backward_torch_flops.to_64() + m.recomputed_flops);
        for (std::size_t i = 0; i < memory_categories; ++i) {
            const std::uint64_t bytes = m.peak.bytes.of[i];
            if (static_cast<memory_category>(i) != memory_category::activations) {
                expected.same(memory_category_names[i], bytes);
                continue;
            }
            // integers that a pass makes and that only one kind of model has are left out: experts' indices, positions that
            // layers made again are handed
            const std::uint64_t seen = expected.next();
            CHECK(bytes <= seen);
            CHECK(seen - bytes < 50'000);
        }
        for (const memory_bytes* moment : {&m.own_peaks, &m.after_forward, &m.after_backward, &m.after_step}) {
            expected.same("GRAD", (*moment)[memory_category::gradients]);
            expected.same("OPT", (*moment)[memory_category::optimizer]);
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

}  // namespace llmcost
