// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_pass.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// What selective recomputation asks of a kernel.
struct recomputed_kernel {
    bool is_product = false, is_attention = false, is_attention_part = false, is_norm = false, is_expert = false;
    bool is_in_mlp = false;
};

/// A module of `--recompute-modules`, and the share of a kernel that backward repeats.
struct recomputed_module {
    literal name;
    double (*share)(const recomputed_kernel& k);
};

/// Source: Megatron-LM, `--recompute-modules`; torchtitan, distributed/activation_checkpoint.py (`_apply_op_sac`):
/// `operators` is every second product, and everything that is neither product nor attention.
inline constexpr recomputed_module recomputed_modules[]{
    {"operators", [](const recomputed_kernel& k) { return k.is_attention ? 0
                                                          : k.is_product ? 0.5
                                                                         : 1; }},
    {"core_attn", [](const recomputed_kernel& k) { return k.is_attention_part ? 1.0 : 0; }},
    {"layernorm", [](const recomputed_kernel& k) { return k.is_norm ? 1.0 : 0; }},
    {"moe_act", [](const recomputed_kernel& k) { return !k.is_product && k.is_in_mlp ? 1.0 : 0; }},
    {"moe", [](const recomputed_kernel& k) { return k.is_expert ? 1.0 : 0; }},
};

/// The share of a kernel that backward repeats by selective recomputation of `modules`. A name that
/// `recomputed_modules` does not have is a part of the module path.
[[nodiscard]] LLMCOST_INLINE double repeated_share(const model_kernel& k, const std::vector<std::string>& modules) {
    const auto is_of = [&](literal type) { return k.shape.type == find_operator_type(type); };
    const auto contains = [&](std::string_view part) { return k.module_path.find(part) != std::string::npos; };
    recomputed_kernel facts;
    facts.is_product = k.shape.type->backward == backward_rule::products;
    facts.is_attention = k.shape.type->backward == backward_rule::attention;
    facts.is_attention_part = facts.is_attention || is_of("batched_gemm") || is_of("softmax");
    // a fusion group between the modules of a layer is a residual sum with the norm that follows
    facts.is_norm = is_of("norm") || contains("norm") || k.module_path.ends_with(".*");
    facts.is_expert = is_of("moe") || contains("moe");
    facts.is_in_mlp = contains("mlp");
    for (const std::string& name : modules) {
        const auto* const row = std::ranges::find_if(
            recomputed_modules, [&](const recomputed_module& m) { return std::string_view(m.name) == name; });
        const double share = row != std::ranges::end(recomputed_modules) ? row->share(facts) : contains(name) ? 1 : 0;
        if (share > 0) return share;
    }
    return 0;
}

/// The fraction of the speed of isolated kernels that products of a training job have, by bits of their operands.
///
/// The power limit lowers the clock during long products, and collectives of other streams use multiprocessors and
/// memory.
struct sustained_fractions {
    literal device = "";
    double bits_16 = 1, bits_8 = 1, bits_4 = 1;
};
// Chosen on the rows of the split "fit" of tests/oracle/compare_training_runs_time.py: dense models without pipeline on
// A100 and H100 (llm-foundry), B200 (SimuMax, Megatron-Bridge), GB200 and GB300 (Megatron-Bridge).
inline constexpr sustained_fractions sustained_table[]{
    {"a100_sxm_80gb", 0.90, 1, 1},  {"a100_sxm_40gb", 0.90, 1, 1},  {"h100_sxm", 0.70, 0.78, 1},
    {"h200_sxm", 0.70, 0.78, 1},    {"b200_sxm", 0.67, 0.78, 0.75}, {"gb200", 0.67, 0.73, 0.63},
    {"b300_sxm", 0.80, 0.92, 0.84}, {"gb300", 0.80, 0.92, 0.84},
};

/// Source: see `sustained_table`; other devices as an H100.
[[nodiscard]] LLMCOST_INLINE double sustained_fraction(const device& target_device,
                                                       const operand_type& operand) noexcept {
    sustained_fractions found{.bits_16 = 0.70, .bits_8 = 0.78, .bits_4 = 0.75};
    for (const sustained_fractions& row : sustained_table)
        if (target_device.names[0] == row.device) found = row;
    if (operand.unit == &device::fp4) return found.bits_4;
    return operand.unit == &device::fp8 || operand.unit == &device::int8 ? found.bits_8 : found.bits_16;
}

/// The fraction of the speed of a product whose rows are not multiples of 64 elements.
///
/// The fraction was chosen on rows of bigscience with a hidden size of 14,400 over 8 ranks, of the split "fit".
/// Source: NVIDIA, Matrix Multiplication Background User's Guide, "Requirements to use Tensor Cores" (A100).
[[nodiscard]] LLMCOST_INLINE double tile_fraction(const operator_shape& shape) noexcept {
    constexpr std::int64_t elements = 64;
    if (shape.type != find_operator_type("gemm")) return 1;
    return shape.sizes[1] % elements == 0 && shape.sizes[2] % elements == 0 ? 1 : 0.8;
}

/// The kernels of a microbatch on the devices of a tensor-, context- and expert-parallel group.
class pass_builder {
public:
    /// `full_sequence`: tokens of a sequence on all context-parallel ranks.
    pass_builder(const model& full_model, std::int64_t full_sequence, const execution& execution, const device& device,
                 kernel_source& kernels, const training_plan& plan, const training_job& job)
        : model_(full_model),
          execution_(execution),
          device_(device),
          kernels_(kernels),
          plan_(plan),
          job_(job),
          full_sequence_(full_sequence) {
        execution_.parallel = {};
    }

    [[nodiscard]] training_passes build(const std::vector<model_kernel>& forward_kernels) {
        training_passes out;
        bool has_layers = false;
        for (model_kernel k : forward_kernels) {
            const bool is_layer = k.module_path.find('*') != std::string::npos;
            has_layers = has_layers || is_layer;
            training_pass& part = is_layer ? out.layers : has_layers ? out.after : out.before;
            part.add(pass_of(k, is_layer, out), 1);
        }
        return out;
    }

private:
    [[nodiscard]] static std::int64_t divided(std::int64_t n, std::int64_t ranks) noexcept {
        return (n + ranks - 1) / ranks;
    }

    /// Divides a product over the tensor-parallel ranks: columns, or rows if its result is added to the residual.
    ///
    /// The rows of the output projection of attention, of the second product of an MLP; every other product by columns.
    /// Source: Megatron-LM, arXiv 1909.08053, section 3.
    void divide_product(model_kernel& k, bool is_layer, training_passes& out) {
        std::int64_t* const sizes = k.shape.sizes;
        const std::int64_t hidden = model_.config.hidden_size, ranks = job_.parallel.tensor;
        const bool is_router =
            is_layer && model_.config.moe.num_experts > 1 && sizes[1] == model_.config.moe.num_experts;
        if (is_router) return;
        if (is_layer && sizes[1] == hidden && (sizes[2] != hidden || has_mixed_tokens_)) {
            sizes[2] = divided(sizes[2], ranks);
            out.tensor_messages += static_cast<double>(k.num_runs);
            out.tensor_message_elements = static_cast<double>(sizes[0] * hidden);
        } else {
            sizes[1] = divided(sizes[1], ranks);
        }
    }

    /// The share of a kernel that a rank runs, after its sizes were divided.
    [[nodiscard]] double divide(model_kernel& k, bool is_layer, training_passes& out) {
        const training_parallelism& parallel = job_.parallel;
        std::int64_t* const sizes = k.shape.sizes;
        const std::int64_t ranks = parallel.tensor;
        const literal attention_types[]{"context_attention", "full_attention", "linear_attention"};
        if (k.shape.type == find_operator_type("moe")) {
            sizes[0] = std::max<std::int64_t>(1, sizes[0] * parallel.expert_tensor * parallel.expert / ranks);
            sizes[5] = parallel.expert_tensor;
            sizes[6] = parallel.expert;
            k.shape.variant = "balanced";
            if (is_layer) out.expert_layers += static_cast<double>(k.num_runs);
            has_mixed_tokens_ = false;
            return 1;
        }
        if (k.shape.type == find_operator_type("gemm")) {
            if (ranks > 1) divide_product(k, is_layer, out);
            return 1;
        }
        for (const literal name : attention_types)
            if (k.shape.type == find_operator_type(name)) {
                sizes[2] = divided(sizes[2], ranks);
                sizes[3] = divided(sizes[3], ranks);
                has_mixed_tokens_ = true;
            }
        if (k.shape.type == find_operator_type("context_mla")) {
            sizes[2] = divided(sizes[2], ranks);
            has_mixed_tokens_ = true;
        }
        if (is_fused_attention(k.shape)) {
            // every rank has an early and a late chunk of the sequence, and so the same number of query-key pairs
            sizes[1] = full_sequence_;
            return 1 / static_cast<double>(parallel.context);
        }
        if (k.shape.type == find_operator_type("full_attention")) sizes[5] = full_sequence_;
        const bool is_product = k.shape.type == find_operator_type("batched_gemm");
        if (is_product) has_mixed_tokens_ = true;
        const bool is_map =
            k.shape.type == find_operator_type("elementwise") || k.shape.type == find_operator_type("norm");
        // norms, dropout and residuals are divided with sequence parallelism only
        const bool is_residual = is_map && sizes[1] == model_.config.hidden_size;
        const bool is_divided = is_product || k.shape.type == find_operator_type("softmax") ||
                                (is_map && !is_residual) || (is_residual && parallel.has_sequence_parallel);
        return is_layer && is_divided ? 1 / static_cast<double>(ranks) : 1;
    }

    /// The cost of a kernel at the sustained clock of a job. Kernels without products are bounded by memory.
    [[nodiscard]] step_cost cost(const model_kernel& k) const {
        step_cost c = cost_of(device_, match_kernels({k}, execution_, kernels_).front());
        const auto times = static_cast<double>(k.num_runs);
        constexpr double latency = 2e-6, bandwidth_fraction = 0.8;  // torch/kernel_time.hpp, elementwise kernels
        const bool is_map = k.shape.type == find_operator_type("elementwise") ||
                            k.shape.type == find_operator_type("norm") || k.shape.type == find_operator_type("softmax");
        if (is_map && k.shape.work().flops == 0)
            c.seconds =
                times * latency + c.bytes / (bandwidth_fraction * std::max(device_.memory_bandwidth, 1.0) * 1e9);
        else if (!is_map)
            c.seconds /= sustained_fraction(device_, *k.shape.operand) * tile_fraction(k.shape);
        return c;
    }

    /// The cost of routed experts: products of the rows of each expert, and the movement of their tokens.
    ///
    /// Every expert of a rank has as many rows. Tokens are permuted before and after: read and written.
    [[nodiscard]] training_pass experts(const model_kernel& k, bool frozen) const {
        const std::int64_t* const s = k.shape.sizes;  // tokens, hidden, inner, top_k, experts, etp, ep
        const std::int64_t local = std::max<std::int64_t>(1, s[4] / s[6]), rows_of_rank = s[0] * s[3] / s[6];
        const std::int64_t rows = std::max<std::int64_t>(1, rows_of_rank / local),
                           inner = std::max<std::int64_t>(1, s[2] / s[5]);
        training_pass pass;
        for (const auto& [n, inputs] : {std::pair{2 * inner, s[1]}, std::pair{s[1], inner}}) {
            model_kernel product = k;
            product.shape = {
                .type = find_operator_type("gemm"), .sizes = {rows, n, inputs}, .operand = k.shape.operand};
            product.num_runs = k.num_runs * local;
            step_cost forward = cost(product);
            forward.launches = static_cast<double>(k.num_runs);
            pass.forward += forward;
            for (const model_kernel& gradient : products_of_backward(product, frozen)) {
                step_cost backward = cost(gradient);
                backward.launches = static_cast<double>(k.num_runs);
                pass.backward += backward;
            }
        }
        // gathers of rows before and after the products, and the activation between them
        constexpr double bytes_per_element = 2, permutations = 2, bandwidth_fraction = 0.6;
        const double elements = static_cast<double>(rows_of_rank) *
                                (2 * permutations * static_cast<double>(s[1]) + 3 * static_cast<double>(inner));
        step_cost moved;
        moved.bytes = static_cast<double>(k.num_runs) * elements * bytes_per_element;
        moved.seconds = moved.bytes / (bandwidth_fraction * std::max(device_.memory_bandwidth, 1.0) * 1e9);
        moved.launches = 3 * static_cast<double>(k.num_runs);
        pass.forward += moved;
        pass.backward.add(moved, 1.5);
        return pass;
    }

    /// The softmax of an eager loss in float32, with 16-bit logits.
    ///
    /// Forward converts them (2 + 4 bytes) and computes `log_softmax` (4 + 4). Backward has two gradients in float32
    /// and one in 16 bits: 4 + 4 + 4 + 4 + 2 bytes. Source: torch/nn/functional.py, `cross_entropy` under autocast.
    [[nodiscard]] training_pass loss_of(const model_kernel& k) const {
        constexpr double forward_bytes = 14, backward_bytes = 18, bandwidth_fraction = 0.8;
        const double elements = static_cast<double>(k.shape.sizes[0]) * static_cast<double>(k.shape.sizes[1]);
        const double rate = bandwidth_fraction * std::max(device_.memory_bandwidth, 1.0) * 1e9;
        training_pass pass;
        pass.forward = {.seconds = elements * forward_bytes / rate, .bytes = elements * forward_bytes, .launches = 2};
        pass.backward = {
            .seconds = elements * backward_bytes / rate, .bytes = elements * backward_bytes, .launches = 3};
        return pass;
    }

    /// Replaces the time of fused attention by that of the kernel of the job.
    void set_attention_seconds(step_cost& c, const model_kernel& k, bool is_backward) const {
        if (job_.attention == nullptr) return;
        const auto times = static_cast<double>(k.num_runs);
        const std::int64_t* const sizes = k.shape.sizes;  // batch, sequence, heads
        const auto tokens = static_cast<double>(sizes[1]);
        const double pairs = static_cast<double>(sizes[0]) * static_cast<double>(sizes[2]) * tokens * tokens;
        const bool is_latent = k.shape.type == find_operator_type("context_mla");
        c.launches = times * job_.attention->launches * (is_backward ? 2 : 1);
        c.seconds = times * attention_seconds(device_, *job_.attention, k.shape.work().flops, pairs,
                                              is_latent ? latent_head_dim : sizes[4], is_backward);
    }

    [[nodiscard]] training_pass pass_of(model_kernel& k, bool is_layer, training_passes& out) {
        const bool is_attention = is_fused_attention(k.shape);
        const bool is_moe = k.shape.type == find_operator_type("moe");
        const auto runs = static_cast<double>(k.num_runs);
        const double share = divide(k, is_layer, out);
        training_pass pass;
        const bool is_frozen = model_.policy != nullptr && !k.is_adapter;
        if (is_moe) {
            pass = experts(k, is_frozen);
            set_recomputed(pass, k, is_layer);
            return pass;
        }
        if (!is_layer && k.shape.type == find_operator_type("softmax")) {
            pass = loss_of(k);
            return pass;
        }
        step_cost forward = cost(k);
        if (is_attention) set_attention_seconds(forward, k, false);
        const double launches = forward.launches;
        pass.forward.add(forward, share);
        pass.forward.launches = launches;
        const backward_rule rule = k.shape.type->backward;
        if (rule == backward_rule::products) {
            for (const model_kernel& backward_kernel : products_of_backward(k, is_frozen))
                pass.backward += cost(backward_kernel);
        } else {
            step_cost backward = forward * backward_factor(rule);
            if (is_attention) set_attention_seconds(backward, k, true);
            pass.backward.add(backward, share);
            pass.backward.launches = (rule == backward_rule::two_times_forward ? 2 : 1) * launches;
            if (is_attention) pass.backward.launches = backward.launches;
        }
        if (is_layer && is_attention) {
            out.attention_layers += runs;
            out.attention_forward_seconds += pass.forward.seconds;
            out.attention_backward_seconds += pass.backward.seconds;
        }
        set_recomputed(pass, k, is_layer);
        return pass;
    }

    /// Adds the forward pass of a kernel that backward repeats.
    void set_recomputed(training_pass& pass, const model_kernel& k, bool is_layer) const {
        const recompute_mode mode = plan_.schedule.recompute;
        if (!is_layer || mode == recompute_mode::none) return;
        if (mode == recompute_mode::full) {
            const double layers = static_cast<double>(std::max<std::int64_t>(model_.config.num_hidden_layers, 1));
            pass.recomputed =
                pass.forward *
                (job_.recomputed_layers < 0 ? 1 : std::min(1.0, static_cast<double>(job_.recomputed_layers) / layers));
            return;
        }
        static const std::vector<std::string> core_attention{"core_attn"};
        pass.recomputed = pass.forward *
                          repeated_share(k, job_.recomputed_modules.empty() ? core_attention : job_.recomputed_modules);
    }

    const model& model_;
    execution execution_;
    const device& device_;
    kernel_source& kernels_;
    const training_plan& plan_;
    const training_job& job_;
    std::int64_t full_sequence_;
    bool has_mixed_tokens_ = false;                       ///< whether attention precedes the kernel
    static constexpr std::int64_t latent_head_dim = 192;  ///< of DeepSeek V2 and V3
};

LLMCOST_INLINE std::vector<model_kernel> forward_kernels_of(const model& full_model, workload load, execution execution,
                                                            const training_plan& plan, std::int64_t context) {
    load.sequence = tokens_of_context_rank(load.sequence, context);
    load.past = 0;
    load.head = logits::all;
    execution.parallel = {};
    const auto loss = [&](const model& part, trace& trace, const tensor& scores) {
        (void)compute_loss(part, trace, scores, plan.loss);
    };
    return kernels_of(full_model, load, execution, loss);
}

LLMCOST_INLINE training_passes training_passes_of(const model& full_model, const workload& load,
                                                  const execution& execution, const device& device,
                                                  kernel_source& kernels, const training_plan& plan,
                                                  const training_job& job,
                                                  const std::vector<model_kernel>& forward_kernels) {
    return pass_builder(full_model, load.sequence, execution, device, kernels, plan, job).build(forward_kernels);
}

}  // namespace llmcost::detail
