// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_parts.hpp>
#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// An adapter at the leaves of a walk, as PEFT puts it there; `adapted()` says which modules the last walk had.
///
/// Sources: peft/tuners/lora/{layer,dora,variants}.py, ia3/layer.py, ln_tuning/layer.py, trainable_tokens/layer.py,
/// utils/other.py (`ModulesToSaveWrapper`), peft_model.py.
class adapter_policy final : public leaf_policy {
public:
    /// `leaf_embeddings`: gradients are asked of what the table of words gives, as checkpointing needs it
    /// (`enable_input_require_grads`).
    adapter_policy(adapter of, const model& m, bool leaf_embeddings = false)
        : of_(std::move(of)),
          layers_(m.dims.num_hidden_layers),
          cached_(m.dims.num_key_value_heads * m.dims.head_dim),
          vocabulary_(m.dims.vocab_size),
          rows_of_device_(m.dims.vocab_size),
          encodes_(m.dims.encoder.num_hidden_layers > 0),
          leaf_embeddings_(leaf_embeddings) {}

    /// From now on nothing goes back, so that nothing is frozen; the model is shared by so many devices, each of which has
    /// its rows of the vocabulary.
    void serve_on(std::int64_t devices) noexcept {
        serves_ = true;
        rows_of_device_ = (vocabulary_ + devices - 1) / devices;
    }
    [[nodiscard]] const adapter& adapts() const noexcept { return of_; }
    /// Paths of what was adapted, in the order of the walk.
    [[nodiscard]] const std::vector<std::string>& adapted() const noexcept { return adapted_; }
    /// Why a module that the adapter names cannot have it; the first one.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    void begin() override {
        path_.clear(), open_.clear(), adapted_.clear(), problem_.clear(), rows_ = prefix_ = {}, encoders_ = 0;
    }
    [[nodiscard]] workload works_on(const workload& load) override {
        workload more = load;
        begins_ = load.past == 0;
        if (of_.kind == adapter_kind::prefix) more.past += of_.tokens;
        if (!of_.is_prompt()) return more;
        if (encodes_)
            more.encoder_sequence = (load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence) + of_.tokens;
        else
            (load.past > 0 ? more.past : more.sequence) += of_.tokens;
        return more;
    }
    void enter(const module_info& m) override {
        const bool copied = !open_.empty() && open_.back().copied;
        const bool within = !open_.empty() && open_.back().frozen;
        open_.push_back({path_.size(), m.type, m.what, copied, false, within});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        encoders_ += m.what == role::encoder ? 1 : 0;
        if (!within && std::ranges::any_of(of_.frozen, [&](const std::string& name) {
                return std::string_view(name_of(m.what)) == name || module_names::is_end(path_, name);
            }))
            open_.back().frozen = true, met();
        if (copied) return;
        const auto saves = [&](const std::string& end) { return std::string_view(path_).ends_with(end); };
        open_.back().copied = std::ranges::any_of(of_.saved, saves) || (of_.kind == adapter_kind::norms && of_.names(path_));
        if (open_.back().copied) met();
    }
    void leave(const module_info& m) override {
        const open_module top = open_.back();
        if (!top.met && !top.copied && !of_.all_linear && stands_beside() && of_.names(path_))
            refuse("is a " + std::string(top.type.prefix) + std::string(top.type.base) +
                   ", beside which PEFT has no such adapter");
        encoders_ -= m.what == role::encoder ? 1 : 0;
        path_.resize(top.outside), open_.pop_back();
    }
    [[nodiscard]] bool trains(literal name) const override {
        if (serves_) return true;
        const std::string_view word = name;
        if (of_.kind == adapter_kind::frozen) return open_.empty() || !open_.back().frozen;
        if (of_.kind == adapter_kind::bitfit) return word == "bias" || word == "b" || word.ends_with("_bias");
        if (of_.bias == adapter_bias::all) return word == "bias";
        return of_.bias == adapter_bias::lora_only && word == "bias" && of_.names_linear(path_);
    }
    [[nodiscard]] bool copies() const override { return !open_.empty() && open_.back().copied; }
    [[nodiscard]] value weighs(trace& t, literal name, const value& own, bool tied) override {
        if (copies()) return own;
        if (of_.kind == adapter_kind::frozen && own.rank == 2 && is_vocabulary(own.dim(0))) {
            if (!tied) words_train_ = own.requires_grad;
            if (tied && own.requires_grad != words_train_)
                refuse("has the tensor of the table of words: freeze both, or neither");
        }
        const recorder::policy_guard none{t, nullptr};
        if (std::string_view(name) == "weight" && !of_.rows.empty()) return with_rows(t, own, tied);
        const std::string path = path_ + '.' + std::string(name);
        const auto named = [&](const std::string& end) { return module_names::is_end(path, end); };
        if (!std::ranges::any_of(of_.parameters, named)) return own;
        adapted_.push_back(path);
        return adapter_parts::added_to(t, name, own, of_.rank_at(path), !of_.unit_scale);
    }
    [[nodiscard]] value reads(trace& t, const value& x) override {
        if (of_.kind != adapter_kind::ia3 || !adapts_linear() || !of_.feedforward.names(path_)) return x;
        met();
        return adapter_parts::factors(t, {1, x.dim(-1)}, x, t.to(x, dtype::float32));
    }
    [[nodiscard]] value gives(trace& t, const value& x, const value& weight, bool turned, const value* bias,
                              const value& y) override {
        // PEFT leaves the scores of words alone (`get_output_embeddings`)
        if (!adapts_linear() || (of_.all_linear && is_head() && is_vocabulary(y.dim(-1)))) return y;
        const recorder::policy_guard none{t, nullptr};
        if (of_.kind == adapter_kind::ia3) {
            if (of_.feedforward.names(path_)) return y;
            met();
            return adapter_parts::factors(t, {y.dim(-1), 1}, y, y);
        }
        if (!of_.is_low_rank()) return y;
        const std::int64_t rank = rank_between(x.dim(-1), y.dim(-1));
        if (of_.kind == adapter_kind::dora && of_.drops && t.drops(dropout_of::always))
            report_description("DoRA multiplies anew what it drops, which is not described");
        if (of_.kind == adapter_kind::dora) return adapter_parts::decomposed(t, x, weight, turned, bias, y, rank);
        return adapter_parts::low_rank(t, of_, x, y, rank);
    }
    [[nodiscard]] value convolved(trace& t, const value& x, const value& weight, const convolution_steps& how,
                                  const value& y) override {
        if (!stands_beside() || !of_.names(path_)) return y;
        const recorder::policy_guard none{t, nullptr};
        const std::int64_t rank = rank_between(x.dim(1), weight.dim(0));
        bool dilated = false;
        for (int i = 2; i < weight.rank; ++i) dilated = dilated || how.dilation.each(i - 2) != 1;
        if (of_.kind == adapter_kind::lora && rank % how.groups == 0 && !dilated)
            return adapter_parts::low_rank(t, of_, x, weight, how, y, rank);
        refuse(of_.kind != adapter_kind::lora ? "is a convolution, of which LoRA alone is described"
               : dilated                      ? "is a dilated convolution, of which PEFT's LoRA has other sizes"
                                              : "has groups that do not divide the rank");
        return y;
    }
    [[nodiscard]] bool remembers(trace& t, const extents& sizes, value& past) override {
        if (of_.kind != adapter_kind::prefix || prefix_.elements == 0) return false;
        if (t.load().implementation == attention_implementation::sdpa)
            report_description("scaled_dot_product_attention is handed a mask behind a prefix: eager is described");
        met();
        if (sizes.size[1] * sizes.size[3] != prefix_.dim(3) || sizes.size[2] != of_.tokens) {
            refuse("keeps other keys and values than a prefix has");
            return false;
        }
        past = adapter_parts::of_layer(t, prefix_, sizes);
        return true;
    }
    [[nodiscard]] extents looks_up(std::int64_t rows, const extents& ids) override {
        extents read = ids;
        if (prompts(rows) && stands_in_front() && read.rank == 3) read.size[1] -= of_.tokens;
        return read;
    }
    [[nodiscard]] value looked_up(trace& t, const value& table, bool scaled, const value& found) override {
        const recorder::policy_guard none{t, nullptr};
        value x = found;
        if (is_vocabulary(table.dim(0)) && leaf_embeddings_) t.require_grad(x);
        if (of_.is_low_rank() && !copies() && of_.names(path_)) {
            const std::int64_t rank = rank_between(table.dim(0), table.dim(1));
            x = of_.kind == adapter_kind::lora ? adapter_parts::rows_of_low_rank(t, table, scaled, x, rank)
                                               : adapter_parts::decomposed_rows(t, table, scaled, x, rank);
        }
        if (of_.kind == adapter_kind::prefix && is_vocabulary(table.dim(0)) && begins_ && prefix_.elements == 0)
            prefix_ = adapter_parts::prefix(t, of_, x, layers_, cached_);
        if (prompts(table.dim(0)) && x.rank == 3) {
            met();
            const recorder::idle_guard in_the_cache{t, !stands_in_front()};
            const value prompt = adapter_parts::prompt(t, of_, x, encodes_ && !of_.one_side);
            if (stands_in_front()) x = t.cat({prompt, x}, 1);
        }
        return x;
    }

private:
    struct open_module {
        std::size_t outside;  ///< letters of the path around it
        class_name type;
        role what;
        bool copied;
        bool met;  ///< an adapter stands beside it
        bool frozen;
    };

    [[nodiscard]] bool stands_beside() const noexcept { return of_.is_low_rank() || of_.kind == adapter_kind::ia3; }
    [[nodiscard]] bool is_vocabulary(std::int64_t rows) const noexcept {
        return rows == vocabulary_ || rows == rows_of_device_;
    }
    [[nodiscard]] bool is_head() const noexcept { return open_.back().what == role::head; }
    [[nodiscard]] bool prompts(std::int64_t rows) const noexcept {
        return of_.is_prompt() && is_vocabulary(rows) && encodes_ == (encoders_ > 0);
    }
    /// Whether tokens of its own stand in front of what is read, and not in the cache (peft_model.py,
    /// `requires_prompt_injection`); an encoder reads all of its side at once.
    [[nodiscard]] bool stands_in_front() const noexcept { return begins_ || encodes_; }
    /// Whether the walk is in a linear layer that is adapted.
    [[nodiscard]] bool adapts_linear() const {
        return stands_beside() && !copies() && std::string_view(open_.back().type.base) != "QuantLinear" &&
               of_.names_linear(path_);
    }
    void met() {
        if (open_.back().met) return;
        open_.back().met = true, adapted_.push_back(path_);
    }
    void refuse(const std::string& why) {
        if (problem_.empty()) problem_ = path_ + ' ' + why;
        open_.back().met = true;
    }
    [[nodiscard]] std::int64_t rank_between(std::int64_t in, std::int64_t out) {
        met();
        const std::int64_t rank = of_.rank_at(path_);
        if (rank > std::max(in, out))
            refuse("has " + std::to_string(in) + " inputs and " + std::to_string(out) + " outputs, no room for a rank of " +
                   std::to_string(rank));
        return std::min(rank, std::max(in, out));
    }
    /// A table with some of its rows in the place of its own.
    [[nodiscard]] value with_rows(trace& t, const value& own, bool tied) {
        if (tied && rows_.elements > 0) return adapter_parts::with_rows(t, own, rows_);
        for (const trained_tokens& rows : of_.rows) {
            const bool named = rows.table.empty() ? is_vocabulary(own.dim(0)) && !tied && !is_head() && rows_.elements == 0
                                                  : std::string_view(path_).ends_with(rows.table);
            if (!named || own.rank != 2) continue;
            met();
            rows_ = adapter_parts::trained_rows(t, rows.tokens, own);
            return adapter_parts::with_rows(t, own, rows_);
        }
        return own;
    }

    adapter of_;
    std::int64_t layers_;
    std::int64_t cached_;  ///< width of keys, and of values
    std::int64_t vocabulary_;
    std::int64_t rows_of_device_;
    bool encodes_;
    bool leaf_embeddings_;
    bool serves_ = false;
    bool words_train_ = true;
    std::string path_;
    std::vector<open_module> open_;
    int encoders_ = 0;    ///< that the walk is in
    bool begins_ = true;  ///< no text comes before this one
    value prefix_{};
    value rows_{};  ///< of the table that others may be tied to
    std::vector<std::string> adapted_;
    std::string problem_;
};

}  // namespace llmcost
