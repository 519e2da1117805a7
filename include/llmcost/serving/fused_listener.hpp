// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/serving/placed_listener.hpp>

namespace llmcost::detail {

/// Writes down the kernels that an engine runs for what it sees executed.
///
/// A product with a weight is one GEMM; products of one module that read the same tensor are merged into one (queries, keys
/// and values; gate and up). Fused parts are theirs. Everything between is a chain: one kernel that reads what comes from
/// outside of it once, and writes what is read outside of it. Behind each attention and feed-forward block of a model that
/// is split stands the sum over devices.
class fused_listener final : public placed_listener {
public:
    fused_listener(std::vector<model_kernel>& out, const execution& how) : placed_listener(out, how) {}

    void fused_begins(const recorder& r, const fused_part& part) override {
        if (fused_++ != 0 || part.kind == fused_kind::cache) return;
        end_chain();
        times_ = as_size(r.times());
        switch (part.kind) {
            case fused_kind::attention: attention(part); break;
            case fused_kind::latent_attention: latent_attention(part); break;
            case fused_kind::linear_attention: linear_attention(part); break;
            case fused_kind::experts: experts(part); break;
            case fused_kind::cache: break;
        }
    }
    void fused_ends(const recorder&) override { --fused_; }
    void renamed(const recorder& r, std::int32_t before, std::int32_t now) override {
        placed_listener::renamed(r, before, now);
        const std::ptrdiff_t maker = made_by_.of(before);
        made_by_.forget_from(now);
        made_by_.set(now, maker);
    }

    void executed(const recorder& r, const operation& o) override {
        last_elements_ = static_cast<std::int64_t>(o.output.elements);
        times_ = as_size(r.times());
        read(o);
        if (fused_ == 0 && o.kind != op::constant && o.output.elements > 0) {
            if (const value* weight = weight_of(o))
                product(o, *weight);
            else
                link(o);
        }
        mark(o, of_parameters(o));
        made(o.output, fused_ == 0 && chain_ >= 0 && o.kind != op::constant && weight_of(o) == nullptr ? chain_ : outside);
    }

    /// What follows the last operation.
    void finish() { end_chain(); }

private:
    static constexpr std::ptrdiff_t outside = -1;
    struct mergeable {
        std::int64_t parent;
        std::int32_t storage;
        std::size_t kernel;
    };

    // ---- products

    void product(const operation& o, const value& weight) {
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        const auto outputs = static_cast<std::int64_t>(o.output.elements);
        const std::int64_t k = static_cast<std::int64_t>((o.work / count(o.output.elements)).to_64());
        const std::int64_t n = static_cast<std::int64_t>(weight.elements) / k, m = outputs / n;
        const value& read = o.inputs[0] == &weight ? *o.inputs[1] : *o.inputs[0];
        if (is_adapter()) {  // in 16 bits, and what it stands beside is merged all the same (vllm/lora/layers)
            end_chain();
            return emit(path_, "gemm", {m, n, k}, how_.unquantised());
        }
        const std::size_t depth = depth_of_parent();
        const std::int64_t parent = depth == 0 ? 0 : open_[depth - 1].number;
        for (const mergeable& before : products_) {
            model_kernel& first = out_[before.kernel];
            if (convolves || before.parent != parent || before.storage != read.storage || first.shape.sizes[0] != m ||
                first.shape.sizes[2] != k || first.times != times_)
                continue;
            first.shape.sizes[1] += n;
            first.name += '+' + path_.substr(path_.rfind('.') + 1);
            return;
        }
        end_chain();  // what follows a merged product stands behind what it was merged with
        if (!products_.empty() && products_.back().parent != parent) products_.clear();
        const role what = open_.empty() ? role::none : open_.back().info.what;
        const bool kept = what == role::head || what == role::router || convolves;
        products_.push_back({parent, read.storage, out_.size()});
        emit(path_, "gemm", {m, n, k}, kept ? how_.unquantised() : how_.products);
    }

    void before_collective() override { end_chain(); }

    // ---- fused parts

    [[nodiscard]] bool decodes(const fused_part& p) const noexcept {
        return p.sequence == 1 || (how_.decodes && p.past > 0);
    }
    /// Pieces of a row that attend alone (windows of an image, parts of a recording) are sequences of one call.
    void attention(const fused_part& p) {
        if (!p.causal) {
            const std::int64_t pieces = std::exchange(times_, 1);
            emit(path_, "full_attention",
                 {checked_product(p.batch, pieces), p.sequence, p.heads, p.kv_heads, p.head_dim, p.past + p.sequence},
                 how_.attention);
        } else if (decodes(p) && !(how_.beside_prompts == taken_decodes::in_tiles && p.window == 0)) {
            emit(path_, "generation_attention", {p.batch, p.past, p.heads, p.kv_heads, p.head_dim, p.window, p.sequence - 1},
                 how_.attention, how_.cache->name);
        } else {
            emit(path_, "context_attention", {p.batch, p.sequence, p.heads, p.kv_heads, p.head_dim, p.window, p.past},
                 how_.prompts, how_.cache->name);
        }
    }
    /// A decoding step compares in the latent space, with queries and outputs taken there and back; prompts are expanded.
    void latent_attention(const fused_part& p) {
        const std::string expansion = path_ + '.' + p.expansion;
        if (decodes(p)) {
            const std::int64_t rows = checked_product(p.batch, p.sequence);
            emit(expansion, "gemm", {rows, p.heads * p.latent_dim, p.head_dim}, how_.unquantised());
            emit(path_, "generation_mla", {p.batch, p.past, p.heads, p.sequence - 1}, how_.attention, how_.cache->name);
            emit(expansion, "gemm", {rows, p.heads * p.value_dim, p.latent_dim}, how_.unquantised());
        } else {
            const std::int64_t rows = checked_product(p.batch, p.past + p.sequence);
            emit(expansion, "gemm", {rows, p.heads * (p.head_dim + p.value_dim), p.latent_dim}, how_.products);
            emit(path_, "context_mla", {p.batch, p.sequence, p.heads, p.past}, how_.attention, how_.cache->name);
        }
    }
    void linear_attention(const fused_part& p) {
        emit(path_, "linear_attention", {p.batch, p.sequence, p.heads, p.kv_heads, p.head_dim, p.value_dim, p.chunk},
             how_.unquantised(), p.corrects ? "delta" : "decay");
    }
    void experts(const fused_part& p) {
        const sharding& s = how_.shards;
        experts_inside_ = true;
        const std::int64_t tokens = checked_product(p.tokens, s.data);
        if (s.data > 1) collective("all_gather", checked_product(tokens, p.width), s.data, s.tensor);
        // two matrices cost as much as three of two thirds of the width, on each of the devices that share an expert
        const std::int64_t share = p.inner / s.expert_tensor;
        const std::int64_t inner = p.gated ? p.inner : (2 * share + 2) / 3 * s.expert_tensor;
        emit(path_, "moe",
             {tokens, p.width, inner, p.num_experts_per_tok, s.places(p.num_experts), s.expert_tensor, s.expert},
             how_.experts, how_.distribution);
    }

    // ---- chains

    void link(const operation& o) {
        if (chain_ >= 0 && chain_times_ != times_) end_chain();
        if (chain_ < 0) {
            chain_ = chains_++;
            chain_name_ = path_;
            chain_elements_ = {}, chain_additions_ = 0, chain_products_ = 0;
            shared_elements_ = {}, shared_additions_ = 0, shared_products_ = 0;
            chain_times_ = times_;
            chain_reads_.clear();
        }
        for (int i = 0; i < o.input_count && price_of(o.kind).read != reads::nothing; ++i) {
            const value& in = *o.inputs[i];
            if (price_of(o.kind).read == reads::picked && i == 0) {
                chain_elements_ += count(o.output.elements);
                continue;
            }
            if (in.is_stored() && chain_of(in.storage) == chain_) continue;
            if (in.is_stored() && has_read(in.storage)) continue;
            chain_elements_ += count(in.distinct_elements());
            if (of_parameters(in)) shared_elements_ += count(in.distinct_elements());
        }
        const bool multiplies = price_of(o.kind).torch_flops != 0;
        const double work = multiplies ? static_cast<double>(o.work) : additions_of(o);
        (multiplies ? chain_products_ : chain_additions_) += work;
        last_is_shared_ = of_parameters(o);
        if (last_is_shared_) (multiplies ? shared_products_ : shared_additions_) += work;
        chain_last_ = count(o.output.elements);
        chain_width_ = o.output.rank > 0 ? o.output.size[o.output.rank - 1] : 1;
        chain_last_storage_ = o.output.storage;
    }
    bool has_read(std::int32_t storage) {
        for (const std::int32_t s : chain_reads_)
            if (s == storage) return true;
        chain_reads_.push_back(storage);
        return false;
    }
    void end_chain() {
        if (chain_ < 0) return;
        const std::int64_t width = chain_width_ > 0 ? chain_width_ : 1, rows = as_size(chain_last_) / width;
        emit(chain_name_, "elementwise",
             {rows, width, as_size(chain_elements_ + chain_last_), as_size(chain_additions_), as_size(chain_products_)},
             how_.unquantised(), "map");
        out_.back().times = chain_times_;
        std::int64_t* const shared = out_.back().of_parameters;
        if (last_is_shared_) shared[0] = rows, shared_elements_ += chain_last_;
        shared[moved] = as_size(shared_elements_);
        shared[additions] = as_size(shared_additions_), shared[products] = as_size(shared_products_);
        written_.push_back({chain_, chain_last_storage_, out_.size() - 1});
        chain_ = -1;
    }
    /// Whoever reads what an earlier chain made has had it written.
    void read(const operation& o) {
        for (int i = 0; i < o.input_count; ++i) {
            const std::int32_t s = o.inputs[i]->storage;
            if (s < 0) continue;
            const std::ptrdiff_t maker = chain_of(s);
            if (maker < 0 || maker == chain_) continue;
            made_by_.set(s, outside);  // once
            const count elements(o.inputs[i]->distinct_elements());
            for (const chain_output& w : written_) {
                if (w.chain != maker || w.last == s) continue;
                model_kernel& k = out_[w.kernel];
                k.shape.sizes[moved] = as_size(count(k.shape.sizes[moved]) + elements);
                if (of_parameters(*o.inputs[i])) k.of_parameters[moved] = as_size(count(k.of_parameters[moved]) + elements);
            }
        }
    }
    [[nodiscard]] std::ptrdiff_t chain_of(std::int32_t s) const noexcept { return made_by_.of(s); }
    void made(const value& v, std::ptrdiff_t chain) {
        if (!v.is_stored()) return;
        made_by_.set(v.storage, chain);
        while (written_.size() > 512) written_.erase(written_.begin(), written_.begin() + 256);
    }

    struct chain_output {
        std::ptrdiff_t chain;
        std::int32_t last;  ///< whose write is counted already
        std::size_t kernel;
    };

    std::vector<mergeable> products_;
    std::vector<chain_output> written_;
    std::vector<std::int32_t> chain_reads_;
    std::string chain_name_;
    by_storage<std::ptrdiff_t> made_by_{outside};
    std::ptrdiff_t chain_ = -1, chains_ = 0;
    std::int64_t chain_times_ = 1;
    std::int64_t chain_width_ = 1;
    double chain_additions_ = 0, chain_products_ = 0;
    count chain_elements_, chain_last_;
    double shared_additions_ = 0, shared_products_ = 0;  ///< of the chain's, what parameters alone make
    count shared_elements_;
    bool last_is_shared_ = false;
    std::int32_t chain_last_storage_ = value::no_storage;
    int fused_ = 0;
};

}  // namespace llmcost::detail
