// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_report.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "registry.hpp"

// Training steps that are accumulated, shared, made again, offloaded: what PyTorch's tracker saw, and laws.
namespace llmcost {
namespace {

constexpr memory_category parameters = memory_category::parameters, gradients = memory_category::gradients,
                          activations = memory_category::activations, temporaries = memory_category::temporaries,
                          optimizer_bytes = memory_category::optimizer;

/// What a command line of `llmcost train` asks for.
struct train_request {
    workload load;
    training_plan plan;
};
train_request parse_train_request(const std::string& options, const model& m) {
    std::vector<std::string> texts;
    std::istringstream in(options);
    for (std::string name; in >> name;) texts.push_back(name);
    // the recordings have these settings unless they state others
    for (const char* const setting : {"--precision fp32", "--attention-implementation eager"}) {
        std::istringstream stream(setting);
        std::string name, value;
        stream >> name >> value;
        if (std::find(texts.begin(), texts.end(), name) == texts.end()) texts.insert(texts.end(), {name, value});
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const cli::arguments parsed_arguments("train", cli::train_options, views);
    train_request out{cli::detail::training_workload(parsed_arguments),
                      cli::detail::parse_training_plan(parsed_arguments)};
    cli::detail::complete_training_workload(parsed_arguments, m, out.load);
    cli::requested_adapter adapter = cli::read_adapter(parsed_arguments);
    std::ostringstream notes;
    cli::resolve_adapter(adapter, parsed_arguments, m, notes);
    out.plan.adapter_config = adapter.file.adapts;
    return out;
}
memory_timeline trained(const model& m, const std::string& options) {
    const train_request request = parse_train_request(options, m);
    return train(m, request.load, request.plan).memory;
}
model changed_config(const std::string& name, const std::string& changes) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json");
    std::istringstream in(changes);
    for (std::string change; in >> change;) {
        const std::size_t sign = change.find('=');
        if (sign != std::string::npos) document.set(change.substr(0, sign), change.substr(sign + 1));
    }
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}
model small_llama() {
    return changed_config("meta-llama__Llama-3.2-1B",
                          "hidden_size=64 num_hidden_layers=3 intermediate_size=160 num_attention_heads=4 "
                          "num_key_value_heads=2 head_dim=16 vocab_size=99 tie_word_embeddings=false");
}

}  // namespace

TEST_CASE("a schedule holds what PyTorch's memory tracker saw") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/schedules.txt");
    std::string model_line, changes;
    int checked = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        if (line.starts_with("model ")) {
            std::istringstream parts(line.substr(6));
            std::getline(parts, model_line, ' ');
            std::getline(parts, changes);
            continue;
        }
        std::string numbers;
        std::getline(in, numbers);
        INFO(model_line << " " << line);
        const memory_timeline m = trained(changed_config(model_line, changes), line);
        std::istringstream figures(numbers);
        const auto next = [&] {
            std::uint64_t n = 0;
            figures >> n;
            REQUIRE(figures);
            return n;
        };
        CHECK(m.num_trainable == next());
        for (const memory_bytes* moment : {&m.peak.bytes, &m.peak_by_category}) {
            for (std::size_t i = 0; i < num_memory_categories; ++i) {
                INFO((moment == &m.peak_by_category ? "own peak of " : "at the peak ") << memory_category_names[i]);
                const std::uint64_t recorded_bytes = next(), got = moment->category_bytes[i];
                const std::uint64_t difference = got > recorded_bytes ? got - recorded_bytes : recorded_bytes - got;
                if (static_cast<memory_category>(i) == temporaries)
                    CHECK(difference * 100 <= m.peak.bytes.total);
                else if (static_cast<memory_category>(i) == activations)
                    CHECK((got <= recorded_bytes && (difference <= 2'000 || moment == &m.peak_by_category)));
                else
                    CHECK(got == recorded_bytes);
            }
        }
        for (const memory_bytes* moment : {&m.after_forward, &m.after_backward, &m.after_step}) {
            CHECK((*moment)[gradients] == next());
            CHECK((*moment)[optimizer_bytes] == next());
        }
        ++checked;
    }
    CHECK(checked > 50);
}

TEST_CASE("an optimizer's step executes what its calls are priced at") {
    // recorded call by call: a tensor of these sizes in a layer, the second step
    const auto compute_primitives = [](std::string_view name, std::vector<std::int64_t> sizes) {
        tape_parameter p;
        p.elements = 1;
        p.sizes = std::move(sizes);
        p.region_id = 0;
        for (const std::int64_t n : p.sizes) p.elements *= static_cast<std::uint64_t>(n);
        p.bytes = 4 * p.elements;
        return detail::step_primitives(*find_optimizer(name), 3, {p});
    };
    using n = primitives<count>;
    CHECK(compute_primitives("sgd", {7, 11}) == n{.add = 77, .mult = 77});
    CHECK(compute_primitives("sgd_momentum", {13}) == n{.add = 26, .mult = 26});
    CHECK(compute_primitives("sgd_nesterov", {13}) == n{.add = 39, .mult = 39});
    CHECK(compute_primitives("adam", {7, 11}) == n{.add = 386, .mult = 231, .div = 154, .sqrt = 77});
    CHECK(compute_primitives("adamw", {13}) == n{.add = 66, .mult = 52, .div = 26, .sqrt = 13});
    CHECK(compute_primitives("adamw:amsgrad", {7, 11}) ==
          n{.add = 386, .mult = 308, .div = 154, .sqrt = 77, .cmp = 77});
    CHECK(compute_primitives("rmsprop", {7, 11}) == n{.add = 232, .mult = 154, .div = 77, .sqrt = 77});
    CHECK(compute_primitives("lion", {7, 11}) == n{.add = 231, .mult = 462, .cmp = 77});
    CHECK(compute_primitives("adafactor", {7, 11}) == n{.add = 408, .mult = 575, .div = 173, .sqrt = 97, .cmp = 78});
    CHECK(compute_primitives("adafactor", {11, 7}) == n{.add = 412, .mult = 575, .div = 173, .sqrt = 97, .cmp = 78});
    CHECK(compute_primitives("adafactor", {3, 5, 6}) == n{.add = 494, .mult = 696, .div = 216, .sqrt = 125, .cmp = 93});
    CHECK(compute_primitives("adafactor", {13}) == n{.add = 64, .mult = 78, .div = 13, .sqrt = 15, .cmp = 13});
    CHECK(compute_primitives("muon", {7, 11}) == n{.add = 7321, .mult = 7490, .div = 77, .sqrt = 1, .cmp = 1});
    CHECK(compute_primitives("muon", {16, 16}) == n{.add = 61695, .mult = 62720, .div = 256, .sqrt = 1, .cmp = 1});
    CHECK(compute_primitives("galore", {11, 7}) == n{.add = 528, .mult = 748, .div = 33, .sqrt = 33});
    CHECK(compute_primitives("galore", {13}) == n{.add = 52, .mult = 65, .div = 13, .sqrt = 13});
}

TEST_CASE("parts of devices sum to the whole and what fills them up") {
    const model m = small_llama();
    const std::string options = "--batch 2 --sequence 24 --optimizer adamw:fused";
    const memory_timeline unsharded = trained(m, options);
    const std::uint64_t weights = unsharded.peak.bytes[parameters], elements = weights / 4;
    for (const std::uint64_t n : std::initializer_list<std::uint64_t>{2, 3, 7, 8}) {
        CAPTURE(n);
        const std::string shards = options + " --shards " + std::to_string(n);
        const memory_timeline layers = trained(m, shards + " --fsdp");
        // by rows: at most one row of each parameter is filled up on each device
        CHECK(n * layers.after_step[gradients] >= weights);
        CHECK(n * layers.after_step[gradients] <= weights + n * 30 * 160 * 4);
        CHECK(layers.after_step[optimizer_bytes] == 2 * layers.after_step[gradients] + 30 * 4);
        // stages 1 and 2: two elements a device to a multiple; a copy in 32 bits, two moments, one count of steps
        const std::uint64_t part = (elements + 2 * n - 1) / (2 * n) * 2;
        for (const std::string stage : {" --zero 1", " --zero 2"}) {
            const memory_timeline shared = trained(m, shards + stage);
            CHECK(shared.after_step[parameters] == 4 * part * n);
            CHECK(shared.after_step[optimizer_bytes] == 12 * part + 4);
            CHECK(shared.optimizer_step.mult.to_64() == 4 * part);
        }
        // replicas hold the sums of gradients in buckets besides
        CHECK(trained(m, shards).after_step[gradients] == 2 * unsharded.after_step[gradients]);
    }
}

TEST_CASE("stage 2 keeps a part of the gradients, stage 1 all of them until they are reduced") {
    const model m = small_llama();
    const std::string options = "--batch 2 --sequence 24 --optimizer adamw:fused --shards 4";
    const memory_timeline one = trained(m, options + " --zero 1"), two = trained(m, options + " --zero 2");
    CHECK(one.peak_by_category[gradients] >= two.peak_by_category[gradients]);
    CHECK(one.after_backward[gradients] == two.after_backward[gradients]);
    CHECK(two.after_backward[gradients] < trained(m, options).after_backward[gradients] / 2);
    // a bucket of 5e8 elements is there while gradients come
    CHECK(two.peak_by_category[gradients] >= 2'000'000'000);
    CHECK(two.after_backward[gradients] < 2'000'000'000);
}

TEST_CASE("stage 3 holds parts of what is large, small parameters whole") {
    const model m = changed_config("meta-llama__Llama-3.2-1B", "num_hidden_layers=2");
    const std::string options = "--batch 1 --sequence 16 --precision bf16 --optimizer adamw:fused";
    const memory_timeline unsharded = trained(m, options);
    const memory_timeline part = trained(m, options + " --shards 8 --zero 3");
    const std::uint64_t elements = unsharded.num_trainable, small = 5 * 2048;  // five norms
    CHECK(part.after_step[parameters] == 2 * (elements / 8 + small));
    CHECK(part.after_step[optimizer_bytes] == 12 * (elements / 8) + 4 * 20);
    CHECK(part.after_step[gradients] == 2 * (elements / 8) + 1'000'000'000);
}

TEST_CASE("16 and 18 bytes for each parameter") {
    const model m = small_llama();
    const std::string options = "--batch 1 --sequence 8 --precision bf16 --optimizer adamw:fused --master-weights";
    const auto per_parameter = [&](const memory_timeline& t) {
        const std::uint64_t bytes = t.after_step[parameters] + t.after_step[gradients] + t.after_step[optimizer_bytes];
        CHECK((bytes - 30 * 4) % t.num_trainable == 0);
        return (bytes - 30 * 4) / t.num_trainable;
    };
    CHECK(per_parameter(trained(m, options)) == 16);
    CHECK(per_parameter(trained(m, options + " --gradient-dtype fp32")) == 18);
}

TEST_CASE("schedules keep their order") {
    const model m = small_llama();
    const std::string options = "--batch 2 --sequence 40 --optimizer ";
    const auto peak = [&](const std::string& extra_options) {
        return trained(m, options + extra_options).peak.bytes.total;
    };
    // gradients that wait never lower the peak, and from the second pass on all are alike
    CHECK(peak("sgd --gradient-accumulation 2") >= peak("sgd"));
    CHECK(peak("sgd --gradient-accumulation 2") == peak("sgd --gradient-accumulation 64"));
    CHECK(peak("sgd --recompute full") <= peak("sgd --recompute selective"));
    CHECK(peak("sgd --recompute selective") <= peak("sgd"));
    CHECK(peak("sgd --recompute full:3") == peak("sgd --recompute full"));
    CHECK(peak("sgd --recompute full:1") <= peak("sgd"));
    CHECK(peak("sgd:in-backward") <= peak("sgd"));
    CHECK(peak("adamw --offload optimizer") <= peak("adamw"));
    CHECK(peak("sgd --offload activations") <= peak("sgd"));
    CHECK(peak("adamw --shards 4 --fsdp") <= peak("adamw --shards 2 --fsdp"));
    for (const memory_timeline& t : {trained(m, options + "adamw"), trained(m, options + "adamw --offload both")}) {
        // what is elsewhere is what would be here, a tensor that two operations keep counted with each
        CHECK(t.offloaded_bytes + t.saved_bytes + t.after_step[optimizer_bytes] >=
              trained(m, options + "adamw").saved_bytes + trained(m, options + "adamw").after_step[optimizer_bytes]);
    }
    const memory_timeline offloaded_optimizer = trained(m, options + "adamw --offload optimizer");
    CHECK(offloaded_optimizer.offloaded_bytes == trained(m, options + "adamw").after_step[optimizer_bytes]);
    CHECK(offloaded_optimizer.after_step[optimizer_bytes] == 0);
}

// torch 2.15.0, Transformers 5.23.0: MemTracker with create_selective_checkpoint_contexts and the policy of torchtitan
TEST_CASE("recomputed layers save attention and every second matrix product") {
    const model m = small_llama();
    const std::string step = "--batch 2 --sequence 24 --optimizer none --attention-implementation sdpa --recompute ";
    const memory_timeline full = trained(m, step + "full"), operators = trained(m, step + "operators");
    CHECK(operators.after_forward.total - full.after_forward.total == 889096 - 665608);
    CHECK(operators.peak.bytes.total - full.peak.bytes.total == 1304584 - 1292296);
    CHECK(operators.recomputed_flops < full.recomputed_flops);
}

}  // namespace llmcost
