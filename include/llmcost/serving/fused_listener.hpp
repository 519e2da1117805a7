// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// Records the kernels that an engine runs.
///
///  - A product with a weight is one GEMM.
///  - Products of one module with the same input are merged: query, key and value; gate and up.
///  - Attention, experts and other fused parts are operators of their own.
///  - All operations in between form fusion groups. A group reads each external input once and writes external outputs.
///  - A sharded model has a tensor-parallel all-reduce after each attention and MLP block.
class fused_listener final : public module_listener {
public:
    fused_listener(std::vector<model_kernel>& out, const execution& execution) : module_listener(out, execution) {}

    void on_fused_kernel_begin(const recorder& r, const fused_kernel& part) override;
    void on_fused_kernel_end(const recorder&) override {
        if (!is_in_index_selection_) --fused_depth_;
        is_in_index_selection_ = false;
    }
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t new_storage) override;

    void on_op(const recorder& r, const operation& o) override;

    /// Ends the trace: records the last fusion group.
    void finish() { end_fusion_group(); }

private:
    static constexpr std::ptrdiff_t no_group = -1;
    struct mergeable {
        std::int64_t parent;
        std::int32_t storage;
        std::size_t kernel;
    };

    // Products.

    void product(const operation& o, const tensor& weight);
    /// The outputs of a language-model head of this rank, padded as the engine does. Heads of few labels are not
    /// padded.
    [[nodiscard]] std::int64_t padded_vocabulary(std::int64_t outputs) const;

    void before_collective() override { end_fusion_group(); }

    // Fused operators.

    [[nodiscard]] bool is_decode(const fused_kernel& p) const noexcept {
        return p.num_queries == 1 || (execution_.is_decode_step && p.past_length > 0);
    }
    /// Parts of a sequence with separate attention (windows of an image, segments of audio) are sequences of one call.
    void attention(const fused_kernel& p);
    /// Decode attention is computed in the latent space, with projections of queries and outputs. Prefill expands the
    /// latents.
    void latent_attention(const fused_kernel& p);
    void linear_attention(const fused_kernel& p);
    void experts(const fused_kernel& p);

    // Fusion groups.

    void append_to_fusion_group(const operation& o);
    bool has_read(std::int32_t storage);
    void end_fusion_group();
    /// A tensor of an earlier fusion group that is read here must be written by that group.
    void read(const operation& o);
    [[nodiscard]] std::ptrdiff_t fusion_group_of(std::int32_t s) const noexcept { return producer_groups_.get(s); }
    void register_output(const tensor& v, std::ptrdiff_t chain);

    struct fusion_group_output {
        std::ptrdiff_t chain;
        std::int32_t last;  ///< whose write is counted
        std::size_t kernel;
    };

    std::vector<mergeable> products_;
    std::vector<fusion_group_output> group_outputs_;
    std::vector<std::int32_t> chain_reads_;
    std::string chain_name_;
    storage_map<std::ptrdiff_t> producer_groups_{no_group};
    std::ptrdiff_t chain_ = -1, chains_ = 0;
    std::int64_t chain_times_ = 1;
    std::int64_t chain_width_ = 1;
    double chain_additions_ = 0, chain_products_ = 0;
    count chain_elements_, chain_last_;
    double shared_additions_ = 0, shared_products_ = 0;  ///< part of the group's work that depends only on parameters
    count shared_elements_;
    bool last_is_shared_ = false;
    std::int32_t chain_last_storage_ = tensor::no_storage_id;
    int fused_depth_ = 0;
    bool is_in_index_selection_ = false;  ///< its operations are not merged into one kernel: none was measured
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/fused_listener.ipp>  // IWYU pragma: export
#endif
