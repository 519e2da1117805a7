// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/architecture.hpp>
#include <llmcost/latency/families.hpp>
#include <llmcost/serving/sharding.hpp>
#include <llmcost/trace.hpp>

namespace llmcost {

/// What an engine holds tensors in, how it splits a model, and what it cannot know of its input.
struct execution {
    const operand_row* products = find_operand("bfloat16");   ///< of linear layers; head and routers keep 16 bits
    const operand_row* experts = find_operand("bfloat16");    ///< of routed experts
    const operand_row* cache = find_operand("bfloat16");      ///< of cached keys and values
    const operand_row* attention = find_operand("bfloat16");  ///< in which fused attention multiplies
    const operand_row* prompts = find_operand("bfloat16");    ///< and that of prompts
    string_ref distribution = "power_law_1.2";                ///< how tokens are spread over experts
    bool static_scales = true;                                ///< a checkpoint in fp8 brings the scales of activations along
    sharding shards{};

    static constexpr std::int64_t most_devices_of_a_node = 8;
};

/// A kernel of a model's forward pass on one device: where it stands, what it is, how often it runs.
struct model_kernel {
    std::string name;  ///< path of its module, `*` for the layer; of merged ones with `+`
    operator_shape shape{};
    std::int64_t times = 1;

    /// Whether two are the same kernel, however often each runs.
    friend bool operator==(const model_kernel& a, const model_kernel& b) noexcept {
        for (std::size_t i = 0; i < most_operator_sizes; ++i)
            if (a.shape.sizes[i] != b.shape.sizes[i]) return false;
        return a.shape.family == b.shape.family && a.shape.operand == b.shape.operand &&
               a.shape.variant == b.shape.variant && a.name == b.name;
    }
};

namespace detail {

/// How many additions the primitives of an operation are worth.
[[nodiscard]] inline double additions_of(const operation& o) {
    static_assert(std::size(vector_costs) == primitive_kinds);
    const op_price& price = price_of(o.kind);
    const double work = static_cast<double>(o.work), rows = static_cast<double>(o.rows);
    double sum = 0;
    for (std::size_t k = 0; k < primitive_kinds; ++k) {
        const auto member = primitive_members<std::int8_t>[k];
        sum += vector_costs[k].additions * (price.per_work.*member * work + price.per_row.*member * rows);
    }
    return sum;
}

/// Writes down the kernels that an engine runs for what it sees executed.
///
/// A product with a weight is one GEMM; products of one module that read the same tensor are merged into one (queries, keys
/// and values; gate and up). Fused parts are theirs. Everything between is a chain: one kernel that reads what comes from
/// outside of it once, and writes what is read outside of it. Behind each attention and feed-forward block of a model that
/// is split stands the sum over devices.
class kernel_listener final : public listener {
public:
    kernel_listener(std::vector<model_kernel>& out, const execution& how) : out_(out), how_(how) {
        for (std::ptrdiff_t& maker : made_by_) maker = outside;
    }

    void enter(const recorder&, const module_info& m) override {
        open_.push_back({m, ++modules_, path_.size()});
        lengthen(m);
        if (is_block(m.what) && blocks_++ == 0) experts_inside_ = false;
    }
    void leave(const recorder& r, const module_info& m) override {
        if (is_block(m.what) && --blocks_ == 0 && !r.idle()) join_block();
        if (m.what == role::embedding && !r.idle()) collective("all_reduce", last_elements_, how_.shards.tensor);
        if (m.what == role::head && !r.idle())
            collective("all_gather", checked_product(last_elements_, how_.shards.tensor), how_.shards.tensor);
        path_.resize(open_.back().path_before);
        open_.pop_back();
    }
    void fused_begins(const recorder&, const fused_part& part) override {
        if (fused_++ != 0 || part.kind == fused_kind::cache) return;
        end_chain();
        switch (part.kind) {
            case fused_kind::attention: attention(part); break;
            case fused_kind::latent_attention: latent_attention(part); break;
            case fused_kind::experts: experts(part); break;
            case fused_kind::cache: break;
        }
    }
    void fused_ends(const recorder&) override { --fused_; }
    void renamed(const recorder&, std::int32_t before, std::int32_t now) override {
        const auto from = static_cast<std::size_t>(before), to = static_cast<std::size_t>(now);
        const std::ptrdiff_t maker = made_by_[from];
        for (std::size_t s = to; s < most_storages && s <= highest_; ++s) made_by_[s] = outside;
        made_by_[to] = maker;
        highest_ = to;
    }

    void executed(const recorder& r, const operation& o) override {
        last_elements_ = static_cast<std::int64_t>(o.output.elements);
        read(o);
        if (fused_ == 0 && o.kind != op::constant) {
            if (const value* weight = weight_of(o))
                product(o, *weight);
            else
                link(r, o);
        }
        made(o.output, fused_ == 0 && chain_ >= 0 && o.kind != op::constant && weight_of(o) == nullptr ? chain_ : outside);
    }

    /// What follows the last operation.
    void finish() { end_chain(); }

private:
    static constexpr std::size_t most_storages = 2048;
    static constexpr std::ptrdiff_t outside = -1;
    static constexpr std::size_t moved = 2;  ///< of elementwise: elements read and written
    struct open_module {
        module_info info;
        std::int64_t number;
        std::size_t path_before;  ///< length of the path around it
    };
    struct mergeable {
        std::int64_t parent;
        std::int32_t storage;
        std::size_t kernel;
    };

    static std::int64_t as_size(count n) {
        if (n.to_wide() >> 63 != 0) report_overflow();
        return static_cast<std::int64_t>(n.to_64());
    }
    static std::int64_t as_size(double n) {
        if (!(n < 9e18)) report_overflow();
        return static_cast<std::int64_t>(n);
    }
    static bool is_block(role what) noexcept {
        return what == role::attn || what == role::cross_attn || what == role::mlp || what == role::mixer;
    }

    // ---- names

    void lengthen(const module_info& m) {
        if (is_empty(m.name)) return;
        if (!path_.empty()) path_ += '.';
        path_ += m.name;
        if (m.index >= 0) path_ += ".*";
    }
    [[nodiscard]] std::size_t depth_of_parent() const noexcept {
        return !open_.empty() && open_.back().info.leaf ? open_.size() - 1 : open_.size();
    }

    // ---- products

    /// The parameter that a product multiplies by; null where it is no product, or one of activations.
    static const value* weight_of(const operation& o) noexcept {
        if (price_of(o.kind).torch_flops == 0 || o.input_count < 2) return nullptr;
        if (o.inputs[1]->requires_grad) return is_depthwise(o) ? nullptr : o.inputs[1];
        return o.inputs[0]->requires_grad ? o.inputs[0] : nullptr;
    }
    static bool is_depthwise(const operation& o) noexcept {
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        return convolves && o.inputs[1]->size[1] == 1 && o.inputs[0]->size[1] > 1;
    }
    void product(const operation& o, const value& weight) {
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        const auto outputs = static_cast<std::int64_t>(o.output.elements);
        const std::int64_t k = static_cast<std::int64_t>((o.work / count(o.output.elements)).to_64());
        const std::int64_t n = static_cast<std::int64_t>(weight.elements) / k, m = outputs / n;
        const value& read = o.inputs[0] == &weight ? *o.inputs[1] : *o.inputs[0];
        const std::size_t depth = depth_of_parent();
        const std::int64_t parent = depth == 0 ? 0 : open_[depth - 1].number;
        for (const mergeable& before : products_) {
            model_kernel& first = out_[before.kernel];
            if (convolves || before.parent != parent || before.storage != read.storage || first.shape.sizes[0] != m ||
                first.shape.sizes[2] != k)
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
        emit(path_, "gemm", {m, n, k}, kept ? find_operand("bfloat16") : how_.products);
    }

    // ---- fused parts

    void attention(const fused_part& p) {
        if (!p.causal) {
            emit(path_, "full_attention", {p.batch, p.sequence, p.heads, p.kv_heads, p.head_dim, p.past + p.sequence},
                 how_.attention);
        } else if (p.sequence == 1) {
            emit(path_, "generation_attention", {p.batch, p.past, p.heads, p.kv_heads, p.head_dim, p.window}, how_.attention,
                 how_.cache->name);
        } else {
            emit(path_, "context_attention", {p.batch, p.sequence, p.heads, p.kv_heads, p.head_dim, p.window, p.past},
                 how_.prompts, how_.cache->name);
        }
    }
    /// One new token is compared in the latent space, with queries and outputs taken there and back; prompts are expanded.
    void latent_attention(const fused_part& p) {
        const std::string expansion = path_ + '.' + p.expansion;
        if (p.sequence == 1) {
            emit(expansion, "gemm", {p.batch, p.heads * p.latent_dim, p.head_dim}, find_operand("bfloat16"));
            emit(path_, "generation_mla", {p.batch, p.past, p.heads}, how_.attention, how_.cache->name);
            emit(expansion, "gemm", {p.batch, p.heads * p.value_dim, p.latent_dim}, find_operand("bfloat16"));
        } else {
            const std::int64_t rows = checked_product(p.batch, p.past + p.sequence);
            emit(expansion, "gemm", {rows, p.heads * (p.head_dim + p.value_dim), p.latent_dim}, how_.products);
            emit(path_, "context_mla", {p.batch, p.sequence, p.heads, p.past}, how_.attention, how_.cache->name);
        }
    }
    void experts(const fused_part& p) {
        const sharding& s = how_.shards;
        experts_inside_ = true;
        const std::int64_t tokens = checked_product(p.tokens, s.data);
        if (s.data > 1) collective("all_gather", checked_product(tokens, p.width), s.data);
        emit(path_, "moe", {tokens, p.width, p.inner, p.num_experts_per_tok, p.num_experts, s.expert_tensor, s.expert},
             how_.experts, how_.distribution);
    }

    // ---- chains

    void link(const recorder& r, const operation& o) {
        if (chain_ < 0) {
            chain_ = chains_++;
            chain_name_ = path_;
            chain_elements_ = {}, chain_additions_ = 0, chain_products_ = 0,
            chain_times_ = static_cast<std::int64_t>(r.times().to_64());
            chain_reads_.clear();
        }
        for (int i = 0; i < o.input_count && price_of(o.kind).read != reads::nothing; ++i) {
            const value& in = *o.inputs[i];
            if (price_of(o.kind).read == reads::picked && i == 0) {
                chain_elements_ += count(o.output.elements);
                continue;
            }
            if (in.storage != value::no_storage && chain_of(in.storage) == chain_) continue;
            if (in.storage != value::no_storage && has_read(in.storage)) continue;
            chain_elements_ += count(in.distinct_elements());
        }
        if (price_of(o.kind).torch_flops != 0)
            chain_products_ += static_cast<double>(o.work);
        else
            chain_additions_ += additions_of(o);
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
             find_operand("bfloat16"), "map");
        out_.back().times = chain_times_;
        written_.push_back({chain_, chain_last_storage_, out_.size() - 1});
        chain_ = -1;
    }
    /// Whoever reads what an earlier chain made has had it written.
    void read(const operation& o) {
        for (int i = 0; i < o.input_count; ++i) {
            const std::int32_t s = o.inputs[i]->storage;
            if (s == value::no_storage) continue;
            const std::ptrdiff_t maker = chain_of(s);
            if (maker < 0 || maker == chain_) continue;
            made_by_[static_cast<std::size_t>(s)] = outside;  // once
            for (const chain_output& w : written_)
                if (w.chain == maker && w.last != s)
                    out_[w.kernel].shape.sizes[moved] =
                        as_size(count(out_[w.kernel].shape.sizes[moved]) + count(o.inputs[i]->distinct_elements()));
        }
    }
    [[nodiscard]] std::ptrdiff_t chain_of(std::int32_t s) const noexcept { return made_by_[static_cast<std::size_t>(s)]; }
    void made(const value& v, std::ptrdiff_t chain) {
        if (v.storage == value::no_storage) return;
        const auto s = static_cast<std::size_t>(v.storage);
        made_by_[s] = chain;
        if (s > highest_) highest_ = s;
        while (written_.size() > 64) written_.erase(written_.begin(), written_.begin() + 32);
    }

    // ---- between devices

    void join_block() {
        const sharding& s = how_.shards;
        if (experts_inside_ && s.data > 1)
            collective("reduce_scatter", checked_product(last_elements_, s.data), s.data);
        else if (experts_inside_ && s.expert * s.expert_tensor > s.tensor)
            collective("all_reduce", last_elements_, s.expert * s.expert_tensor);
        else
            collective("all_reduce", last_elements_, s.tensor);
    }
    void collective(literal name, std::int64_t elements, std::int64_t devices) {
        if (devices <= 1) return;
        end_chain();
        emit(path_, "nccl", {elements, devices}, find_operand("float16"), name);
    }

    void emit(std::string name, literal family, std::initializer_list<std::int64_t> sizes, const operand_row* operand,
              string_ref variant = {}) {
        model_kernel k;
        k.name = std::move(name);
        k.shape.family = find_family(family);
        k.shape.operand = operand;
        k.shape.variant = variant;
        std::size_t i = 0;
        for (const std::int64_t size : sizes) k.shape.sizes[i++] = size;
        out_.push_back(std::move(k));
    }

    struct chain_output {
        std::ptrdiff_t chain;
        std::int32_t last;  ///< whose write is counted already
        std::size_t kernel;
    };

    std::vector<model_kernel>& out_;
    const execution& how_;
    std::vector<open_module> open_;
    std::vector<mergeable> products_;
    std::vector<chain_output> written_;
    std::vector<std::int32_t> chain_reads_;
    std::string path_, chain_name_;
    std::ptrdiff_t made_by_[most_storages];
    std::size_t highest_ = 0;
    std::ptrdiff_t chain_ = -1, chains_ = 0;
    std::int64_t modules_ = 0, last_elements_ = 0, chain_times_ = 1;
    std::int64_t chain_width_ = 1;
    double chain_additions_ = 0, chain_products_ = 0;
    count chain_elements_, chain_last_;
    std::int32_t chain_last_storage_ = value::no_storage;
    int fused_ = 0, blocks_ = 0;
    bool experts_inside_ = false;
};

/// The kernels of a part of a model, equal ones together in the order of the first.
[[nodiscard]] inline std::vector<model_kernel> folded_kernels(const model& part, const workload& load,
                                                              const execution& how) {
    std::vector<model_kernel> all, folded;
    kernel_listener ear(all, how);
    trace t{load, &ear};
    part.describe(t);
    ear.finish();
    for (model_kernel& k : all) {
        model_kernel* same = nullptr;
        for (model_kernel& known : folded)
            if (known == k) same = &known;
        if (same != nullptr)
            same->times += k.times;
        else
            folded.push_back(std::move(k));
    }
    return folded;
}

}  // namespace detail

/// The kernels of one forward pass on one device, as an engine runs them, equal ones together in the order of the first;
/// of a model that is split, those of each device.
///
/// Layers that are all alike are walked three and four times, and what the fourth adds stands for the others.
[[nodiscard]] inline std::vector<model_kernel> kernels_of(const model& whole, const workload& load, const execution& how) {
    constexpr std::int64_t few = 3;
    const model part = sharded(whole, how.shards);
    if (part.dims.layers.mixed || part.dims.num_hidden_layers <= few + 1) return detail::folded_kernels(part, load, how);
    model shallow = part;
    shallow.dims.num_hidden_layers = few;
    const std::vector<model_kernel> before = detail::folded_kernels(shallow, load, how);
    shallow.dims.num_hidden_layers = few + 1;
    std::vector<model_kernel> all = detail::folded_kernels(shallow, load, how);
    bool alike = before.size() == all.size();
    for (std::size_t i = 0; alike && i < all.size(); ++i) alike = before[i] == all[i];
    if (!alike) return detail::folded_kernels(part, load, how);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].times += (all[i].times - before[i].times) * (part.dims.num_hidden_layers - few - 1);
    return all;
}

}  // namespace llmcost
