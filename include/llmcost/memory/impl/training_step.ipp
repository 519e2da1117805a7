// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/training_step.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/fused_loss.hpp>
#include <llmcost/memory/label_loss.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/quantized_base_model.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE label_loss loss_of(const model& m) noexcept {
    const bool reads_tokens = m.config.head == head_kind::causal_lm && m.config.encoder.num_hidden_layers == 0;
    // transformers/loss/loss_utils.py, `ForMaskedLMLoss`; most masked language models call `CrossEntropyLoss` instead
    const bool is_masked = m.config.head == head_kind::masked_lm && m.spec->has_float32_masked_lm_loss;
    return {.in_float = reads_tokens || is_masked, .shifts = reads_tokens};
}

/// Whether a parameter is a table of learned positions, judged by its name.
[[nodiscard]] LLMCOST_INLINE bool is_table_of_positions(const tape_parameter& p, std::int64_t max_positions) {
    const std::string_view name = p.name;
    const bool named = name.ends_with("wpe.weight") || name.ends_with("embed_positions.weight") ||
                       name.ends_with("positions_embed.weight") || name.ends_with("position_embeddings.weight");
    return named && p.sizes.size() == 2 && p.sizes[0] >= max_positions;
}

/// Records the fused head and loss after the hidden states.
LLMCOST_INLINE void record_fused_loss(tape& out, tape_listener& listener, trace& t, const head_policy& head,
                                      const tensor& states, const storage_types& types, training_run& run) {
    if (head.weight() == nullptr) throw_description_error("the fused loss requires a language model head without bias");
    const tensor loss = t.call("loss", fused_label_loss{*head.weight()}, states);
    out.loss = listener.tensor_id(loss);
    t.accumulate_gradient(loss);
    run.pass_metrics = full_model_metrics_of(t.totals(), types);
}

}  // namespace llmcost::detail

namespace llmcost {

/// Records the forward pass and loss of a model as autograd does.
[[nodiscard]] LLMCOST_INLINE tape record_training_tape(const model& m, workload load, const training_plan& plan,
                                                       training_run& run, bool records_operands) {
    load.training = true;
    load.is_train_mode = true;
    load.keeps_float32_parameters = true;
    load.recomputes_layers = plan.schedule.recompute == recompute_mode::full;
    if (plan.loss == training_loss::fused) load.head = logits::none;
    const storage_types types = storage_types_of(m, load);
    const bool adapted = plan.adapter_config.kind != adapter_kind::none;
    tape out;
    detail::tape_listener listener{
        out, {.adds_load_balancing_loss = plan.loss == training_loss::labels, .records_operands = records_operands}};
    const bool has_adapter_modules = adapted && plan.adapter_config.kind != adapter_kind::frozen;
    adapter_policy policy{plan.adapter_config, m,
                          has_adapter_modules && plan.schedule.recompute == recompute_mode::full};
    trace t{with_storage_types(load, types), &listener};
    const bool fused = plan.loss == training_loss::fused;
    head_policy head{m.config.vocab_size, adapted ? &policy : nullptr};
    model trained = m;
    trained.policy = fused ? static_cast<leaf_module_policy*>(&head) : adapted ? &policy : plan.parallel_policy;
    const tensor scores = trained.forward(t);
    if (!fused) t.accumulate_gradient(scores);
    run.pass_metrics = full_model_metrics_of(t.totals(), types);
    run.adapted_modules = policy.adapted_modules();
    for (const tape_parameter& p : out.parameters)
        if (detail::is_table_of_positions(p, m.config.max_position_embeddings))
            run.num_position_parameters += p.elements;
    if (fused) {
        record_fused_loss(out, listener, t, head, scores, types, run);
        return out;
    }
    out.output = listener.tensor_id(scores);
    tensor loss = compute_loss(m, t, scores, plan.loss);
    if (const load_balancing_sizes& balance = listener.deferred_load_balancing_loss(); balance.num_routers > 0) {
        trace counted{with_storage_types(load, types)};  // metrics of a pass that include the load-balancing loss
        const tensor counted_scores = trained.forward(counted);
        counted.accumulate_gradient(counted_scores);
        run.pass_metrics = full_model_metrics_of(counted.totals(), types);
        t.add_(loss, t.mul_scalar(compute_load_balancing_loss(t, balance, listener.router_logits(t))));
    }
    out.loss = listener.tensor_id(loss);
    return out;
}

/// Bytes of the integer inputs of a step: tokens of encoder and decoder, labels.
[[nodiscard]] LLMCOST_INLINE std::uint64_t integer_inputs(const model& m, const workload& load, training_loss loss) {
    const auto integers = [](std::int64_t rows, std::int64_t columns) {
        return (count(8) * count(rows) * count(columns)).to_64();
    };
    const std::int64_t encoder = load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence;
    const bool labels = loss != training_loss::sum;
    if (m.config.vocab_size == 0) return labels ? integers(load.batch, 1) : 0;
    if (m.config.encoder.num_hidden_layers > 0) return integers(load.batch, encoder + load.sequence);
    return integers(load.batch, load.sequence) * (labels ? 2 : 1);
}

LLMCOST_INLINE recorded_training record_training(const model& m, const workload& load, training_plan plan,
                                                 bool records_operands) {
    recorded_training out;
    out.pass = record_training_tape(m, load, plan, out.run, records_operands);
    const dtype weights = storage_types_of(m, load).weights;
    if (!plan.base_quantization.none())
        store_quantized(out.pass, quantized_weights(m, plan.base_quantization, weights), weights);
    plan.schedule.input_bytes = integer_inputs(m, load, plan.loss);
    plan.schedule.cuda_capability = load.cuda_capability;
    out.run.has_attention_shape = out.pass.num_attentions > 0;
    out.plan = std::move(plan);
    return out;
}

LLMCOST_INLINE training_run train(const model& m, const workload& load, training_plan plan) {
    recorded_training recorded = record_training(m, load, std::move(plan));
    recorded.run.memory = replay_training(recorded.pass, recorded.plan.schedule);
    return std::move(recorded.run);
}

}  // namespace llmcost
