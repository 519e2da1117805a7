// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/serving/parallel_training.hpp>

// An iteration of reinforcement learning after pretraining: rollout, forward passes, training steps, weight transfer.
namespace llmcost {

/// The estimator of advantages. It decides which models an iteration has.
enum class rl_algorithm : std::uint8_t {
    grpo,  ///< advantages relative to the other responses of a prompt: no critic (arXiv 2402.03300)
    ppo    ///< generalized advantage estimation with a critic (arXiv 1707.06347, 1506.02438)
};

/// An iteration, with the names of verl.
///
/// Source: verl/trainer/config/ppo_trainer.yaml; verl/trainer/ppo/ray_trainer.py, `fit`.
struct rl_workload {
    rl_algorithm algorithm = rl_algorithm::grpo;
    std::int64_t train_batch_size = 1;  ///< prompts of an iteration
    std::int64_t rollout_n = 1;         ///< responses to a prompt
    std::int64_t mini_batch_size = 1;   ///< prompts of a training step
    std::int64_t epochs = 1;            ///< training passes over the responses of an iteration
    double prompt_tokens = 1;
    double response_tokens = 1;  ///< mean
    bool has_reference = true;   ///< a frozen copy of the model, for the KL divergence
    bool has_reward_model = false;
    bool is_async = false;  ///< the rollout of an iteration runs during the training of the previous one

    [[nodiscard]] std::int64_t num_responses() const noexcept { return train_batch_size * rollout_n; }
    /// Mini-batches of an epoch.
    [[nodiscard]] std::int64_t num_mini_batches() const noexcept { return train_batch_size / mini_batch_size; }
};

/// Seconds of the parts of an iteration.
struct rl_parts {
    double rollout_seconds = 0;        ///< until the last response is complete
    double training_step_seconds = 0;  ///< of a mini-batch
    double forward_seconds = 0;        ///< of a mini-batch (`forward_pass_seconds`)
    double weight_transfer_seconds = 0;
    double offload_seconds = 0;  ///< trainer state to the host before a rollout, and back
};

/// What a phase of an iteration runs on.
enum class rl_place : std::uint8_t { rollout, trainer, all };

/// A phase of an iteration.
struct rl_phase {
    std::string_view name{};  ///< as the timers of verl: `generate_sequences`, `compute_log_prob`
    rl_place place{};
    double seconds = 0;
};

/// The time of an iteration.
struct rl_iteration {
    std::vector<rl_phase> phases{};
    double seconds = 0;
};

/// Forward of all microbatches of a training step, in seconds, without its optimizer.
///
///     (step − optimizer) · forward / (forward + backward + recomputed)
///
/// Communication, bubbles and host time belong to forward and backward in proportion to their computation.
[[nodiscard]] double forward_pass_seconds(const parallel_training_cost& step) noexcept;

/// Composes an iteration.
///
///     rollout; log-probabilities of the model, of the reference and values of the critic: a forward of each
///     mini-batch; reward model: a forward of each mini-batch; training: epochs · mini-batches steps of the model, and
///     of the critic; transfer of the weights to the rollout engine.
///
/// Phases follow each other. With `is_async`: max(rollout, phases of the trainer) + transfer. Critic and reward model
/// have the size of the model.
/// Source: verl/trainer/ppo/ray_trainer.py, `fit`; verl recipe/one_step_off_policy.
[[nodiscard]] rl_iteration compose_iteration(const rl_workload& load, const rl_parts& parts);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/rl_iteration.ipp>  // IWYU pragma: export
#endif
