// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/fused_loss.hpp>
#include <llmcost/memory/label_loss.hpp>
#include <llmcost/memory/quantized_base_model.hpp>
#include <llmcost/memory/timeline.hpp>

namespace llmcost {

/// The scalar at which backward starts.
///
/// `labels`: cross-entropy, as computed by the model class. `sum`: sum of the outputs. `fused`: head and cross-entropy
/// in one.
enum class training_loss : std::uint8_t { labels, sum, fused };

/// How a model is trained.
struct training_plan {
    training_loss loss = training_loss::labels;
    adapter adapter_config{};
    quantization base_quantization{};  ///< storage of frozen weights; without a method: like all others
    training_schedule schedule{};
};

/// The computation and memory of a training step.
struct training_run {
    model_metrics pass_metrics{};  ///< metrics of the pass, without its loss
    memory_timeline memory{};
    std::vector<std::string> adapted_modules{};  ///< paths of the modules with an adapter
    std::uint64_t num_position_parameters = 0;   ///< parameters in position embedding tables
    bool has_attention_shape = false;
};

namespace detail {

/// The loss that the model class computes from labels.
[[nodiscard]] inline label_loss loss_of(const model& m) noexcept {
    const bool reads_tokens = m.config.head == head_kind::causal_lm && m.config.encoder.num_hidden_layers == 0;
    return {.in_float = reads_tokens, .shifts = reads_tokens};
}

/// Whether a parameter is a table of learned positions, judged by its name.
[[nodiscard]] inline bool is_table_of_positions(const tape_parameter& p, std::int64_t max_positions) {
    const std::string_view name = p.name;
    const bool named = name.ends_with("wpe.weight") || name.ends_with("embed_positions.weight") ||
                       name.ends_with("positions_embed.weight") || name.ends_with("position_embeddings.weight");
    return named && p.sizes.size() == 2 && p.sizes[0] >= max_positions;
}

/// Records the fused head and loss after the hidden states.
inline void record_fused_loss(tape& out, tape_listener& listener, trace& t, const head_policy& head,
                              const tensor& states, const storage_types& types, training_run& run) {
    if (head.weight() == nullptr) throw_description_error("the fused loss requires a language model head without bias");
    out.loss = listener.tensor_id(t.call("loss", fused_label_loss{*head.weight()}, states));
    run.pass_metrics = full_model_metrics_of(t.totals(), types);
}

}  // namespace detail

/// The scalar loss of a model output.
constexpr tensor compute_loss(const model& m, trace& t, const tensor& scores, training_loss loss) {
    return loss == training_loss::labels ? t.call("loss", detail::loss_of(m), scores)
                                         : t.sum(t.reshape(t.to(scores, dtype::float32), {-1}), 0);
}

/// Records the forward pass and loss of a model as autograd does.
[[nodiscard]] inline tape record_training_tape(const model& m, workload load, const training_plan& plan,
                                               training_run& run) {
    load.training = true;
    if (plan.loss == training_loss::fused) load.head = logits::none;
    const storage_types types = storage_types_of(m, load);
    const bool adapted = plan.adapter_config.kind != adapter_kind::none;
    tape out;
    detail::tape_listener listener{out};
    const bool has_adapter_modules = adapted && plan.adapter_config.kind != adapter_kind::frozen;
    adapter_policy policy{plan.adapter_config, m,
                          has_adapter_modules && plan.schedule.recompute == recompute_mode::full};
    trace t{with_storage_types(load, types), &listener};
    const bool fused = plan.loss == training_loss::fused;
    head_policy head{m.config.vocab_size, adapted ? &policy : nullptr};
    model trained = m;
    trained.policy = fused ? static_cast<leaf_module_policy*>(&head) : adapted ? &policy : nullptr;
    const tensor scores = trained.forward(t);
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
    out.loss = listener.tensor_id(compute_loss(m, t, scores, plan.loss));
    return out;
}

/// Bytes of the integer inputs of a step: tokens of encoder and decoder, labels.
[[nodiscard]] inline std::uint64_t integer_inputs(const model& m, const workload& load, training_loss loss) {
    const auto integers = [](std::int64_t rows, std::int64_t columns) {
        return (count(8) * count(rows) * count(columns)).to_64();
    };
    const std::int64_t encoder = load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence;
    const bool labels = loss != training_loss::sum;
    if (m.config.vocab_size == 0) return labels ? integers(load.batch, 1) : 0;
    if (m.config.encoder.num_hidden_layers > 0) return integers(load.batch, encoder + load.sequence);
    return integers(load.batch, load.sequence) * (labels ? 2 : 1);
}

/// Simulates training. The memory is exact for the tensors that PyTorch holds when it runs the reference.
[[nodiscard]] inline training_run train(const model& m, const workload& load, training_plan plan) {
    training_run out;
    tape pass = record_training_tape(m, load, plan, out);
    const dtype weights = storage_types_of(m, load).weights;
    if (!plan.base_quantization.none())
        hold_quantized(pass, quantized_weights(m, plan.base_quantization, weights), weights);
    plan.schedule.input_bytes = integer_inputs(m, load, plan.loss);
    out.memory = replay_training(pass, plan.schedule);
    out.has_attention_shape = pass.num_attentions > 0;
    return out;
}

}  // namespace llmcost
