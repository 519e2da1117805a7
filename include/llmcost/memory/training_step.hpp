// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/fused_loss.hpp>
#include <llmcost/memory/label_loss.hpp>
#include <llmcost/memory/quantized_base.hpp>
#include <llmcost/memory/timeline.hpp>

namespace llmcost {

/// What backward begins at: cross-entropy of labels, as the model's own class computes it, the sum of what it returns, or
/// the head and cross-entropy in one.
enum class training_loss : std::uint8_t { labels, sum, fused };

/// How a model is trained.
struct training_plan {
    training_loss loss = training_loss::labels;
    adapter adapts{};
    quantization base{};  ///< how weights that are frozen are stored; without a method as all others
    training_schedule step{};
};

/// What a training step executes and what it holds.
struct training_run {
    figures counted{};  ///< of the pass, its loss left out
    memory_timeline memory{};
    std::vector<std::string> adapted{};  ///< paths of what the adapter found
    std::uint64_t positions = 0;  ///< parameters in tables of positions
    bool knows_attention = false;
};

namespace detail {

/// The loss that the class under a head computes where it is given labels.
[[nodiscard]] inline label_loss loss_of(const model& m) noexcept {
    const bool reads_tokens = m.dims.head == head_kind::causal_lm && m.dims.encoder.num_hidden_layers == 0;
    return {.in_float = reads_tokens, .shifts = reads_tokens};
}

/// Whether a parameter is a table of learned positions, by the names that models give it.
[[nodiscard]] inline bool is_table_of_positions(const tape_parameter& p, std::int64_t held) {
    const std::string_view name = p.name;
    const bool named = name.ends_with("wpe.weight") || name.ends_with("embed_positions.weight") ||
                       name.ends_with("positions_embed.weight") || name.ends_with("position_embeddings.weight");
    return named && p.sizes.size() == 2 && p.sizes[0] >= held;
}

/// Puts the head and its loss, made as one, behind hidden states.
inline void record_fused_loss(tape& out, tape_listener& ear, trace& t, const head_policy& head, const value& states,
                              const storage_types& types, training_run& told) {
    if (head.weight() == nullptr) report_description("no head without a bias over words, which a fused loss would take in");
    out.loss = ear.tensor_of(t.call("loss", fused_label_loss{*head.weight()}, states));
    told.counted = whole_figures_of(t.sums(), types);
}

}  // namespace detail

/// What backward begins at: one number, of what a pass returned.
constexpr value loss_behind(const model& m, trace& t, const value& scores, training_loss of) {
    return of == training_loss::labels ? t.call("loss", detail::loss_of(m), scores)
                                       : t.sum(t.reshape(t.to(scores, dtype::float32), {-1}), 0);
}

/// Records a pass of a model, its loss behind it, as autograd does.
[[nodiscard]] inline tape record_tape(const model& m, workload load, const training_plan& plan, training_run& told) {
    load.training = true;
    if (plan.loss == training_loss::fused) load.head = logits::none;
    const storage_types types = types_of(m, load);
    const bool adapted = plan.adapts.kind != adapter_kind::none;
    tape out;
    detail::tape_listener ear{out};
    const bool beside = adapted && plan.adapts.kind != adapter_kind::frozen;
    adapter_policy policy{plan.adapts, m, beside && plan.step.recompute == recomputation::full};
    trace t{resolved(load, types), &ear};
    const bool fused = plan.loss == training_loss::fused;
    head_policy head{m.dims.vocab_size, adapted ? &policy : nullptr};
    model trained = m;
    trained.policy = fused ? static_cast<leaf_policy*>(&head) : adapted ? &policy : nullptr;
    const value scores = trained.forward(t);
    told.counted = whole_figures_of(t.sums(), types), told.adapted = policy.adapted();
    for (const tape_parameter& p : out.parameters)
        if (detail::is_table_of_positions(p, m.dims.max_position_embeddings)) told.positions += p.elements;
    if (fused) return record_fused_loss(out, ear, t, head, scores, types, told), out;
    out.returned = ear.tensor_of(scores);
    out.loss = ear.tensor_of(loss_behind(m, t, scores, plan.loss));
    return out;
}

/// Bytes of the integers that a step is handed: tokens of each side, labels.
[[nodiscard]] inline std::uint64_t integer_inputs(const model& m, const workload& load, training_loss of) {
    const auto integers = [](std::int64_t rows, std::int64_t columns) {
        return (count(8) * count(rows) * count(columns)).to_64();
    };
    const std::int64_t encoder = load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence;
    const bool labels = of != training_loss::sum;
    if (m.dims.vocab_size == 0) return labels ? integers(load.batch, 1) : 0;
    if (m.dims.encoder.num_hidden_layers > 0) return integers(load.batch, encoder + load.sequence);
    return integers(load.batch, load.sequence) * (labels ? 2 : 1);
}

/// Memory of a training step, exact for what PyTorch holds as a reference runs it.
[[nodiscard]] inline training_run train(const model& m, const workload& load, training_plan plan) {
    training_run out;
    tape pass = record_tape(m, load, plan, out);
    const dtype weights = types_of(m, load).weights;
    if (!plan.base.none()) hold_quantized(pass, quantized_weights(m, plan.base, weights), weights);
    plan.step.inputs = integer_inputs(m, load, plan.loss);
    out.memory = timeline_of(pass, plan.step), out.knows_attention = pass.cores > 0;
    return out;
}

}  // namespace llmcost
