// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <llmcost/graph/module_graph.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// Models in whose backward some operations read gradients that no operation makes: these are reported as inputs.
const law_exceptions gradients_from_outside{
    {"rwkv xlstm minimax minicpmv4_6 olmo_hybrid qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_next "
     "qwen4_exp "
     "qwen4_exp_text",
     "a step through time stands for all of them: its state's gradient is the next step's"},
    {"musicgen musicgen_decoder musicgen_melody musicgen_melody_decoder",
     "several heads, each of which the loss reads"},
    {"clip_vision_model deberta-v2 deepseek_v4 esm flaubert hiera levit longformer mobilebert openai-gpt stablelm xlm",
     "walks hand on values that are told to lie nowhere, or join by no operation"},
    {"florence2 gemma3 gemma3n gemma4 gemma4_unified llama4 t5gemma2",
     "towers stand beside the text that take no part in a step over text; not traced type by type"}};

/// Whether a tensor that an operation reads is a parameter, was handed in, or made before it.
bool is_known(const operator_graph& g, const graph_input& in, std::size_t reader) {
    if (in.tensor < 0 || in.producer >= static_cast<std::int32_t>(reader)) return false;
    return in.producer >= 0 || g.tensors[static_cast<std::size_t>(in.tensor)].source != tensor_origin::operation;
}

}  // namespace

TEST_CASE("backward of a graph executes what the trace says, and every tensor that it reads has its producer") {
    std::set<std::string> from_outside;
    for_models(
        [&](const golden_model& golden) {
            const workload load =
                fitted(golden.built, {.batch = 2, .sequence = 9, .weights = dtype::float32, .training = true});
            const operator_graph forward = graph_of(golden.built, load), g = training_graph_of(golden.built, load);
            REQUIRE(g.operations.size() > forward.operations.size());
            llmcost::count torch_flops;
            primitives<llmcost::count> executes{};
            bool known = true, follows_forward = true, reads_gradient = true;
            std::size_t handed_in = 0;
            for (std::size_t i = 0; i < g.operations.size(); ++i) {
                const graph_operation& o = g.operations[i];
                for (const graph_input& in : o.inputs) known = known && is_known(g, in, i);
                if (o.pass == graph_pass::forward) continue;
                follows_forward = follows_forward && i >= forward.operations.size();
                torch_flops += o.metrics_of_op.torch_flops;
                for (const auto member : primitive_members<llmcost::count>) executes.*member += o.metrics_of_op.*member;
                // the first is the gradient that arrives: the loss's own, or another operation of backward made it
                reads_gradient = reads_gradient && !o.inputs.empty();
                if (o.inputs.empty()) continue;
                const graph_input& arrives = o.inputs.front();
                const bool is_external = arrives.producer < 0;
                handed_in += is_external ? 1 : 0;
                reads_gradient = reads_gradient &&
                                 (is_external ||
                                  g.operations[static_cast<std::size_t>(arrives.producer)].pass != graph_pass::forward);
            }
            CHECK(known);
            CHECK(follows_forward);
            CHECK(reads_gradient);
            CHECK(torch_flops == g.total_metrics.backward_torch_flops);
            CHECK(torch_flops == count_model(golden.built, load).backward_torch_flops);
            for (const auto member : primitive_members<llmcost::count>)
                if (member != &primitives<llmcost::count>::add)
                    CHECK(executes.*member == g.total_metrics.backward.*member);
            CHECK(executes.add <= g.total_metrics.backward.add);  // gradients of a tensor meet
            const bool excused = is_exception(gradients_from_outside, golden.golden.model_type);
            if (handed_in != 1 && !excused) from_outside.insert(std::string(golden.golden.model_type));
            std::set<std::int32_t> gradients(g.gradients.begin(), g.gradients.end());
            CHECK(gradients.size() == g.gradients.size());
            CHECK(!gradients.empty());
            const node_graph parts = parts_of(g, {graph_level::layer});
            llmcost::count of_parts;
            std::set<std::int32_t> output_tensors;
            for (const graph_node& p : parts.parts) of_parts += p.done.torch_flops;
            for (const graph_edge& e : parts.edges)
                if (e.to + 1 == static_cast<std::int32_t>(parts.parts.size())) output_tensors.insert(e.tensor);
            CHECK(of_parts == g.total_metrics.torch_flops + g.total_metrics.backward_torch_flops);
            gradients.insert(g.output);
            CHECK(output_tensors == gradients);
        },
        {{"reformer", "backward of the reference requires training mode"}});
    std::string all;
    for (const std::string& type : from_outside) all += type + ' ';
    CHECK(all == "");
}
