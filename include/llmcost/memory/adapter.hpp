// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// How a model is fine-tuned beside or instead of all its parameters.
enum class adapter_kind : std::uint8_t {
    none,
    lora,    ///< two products of a low rank beside a linear layer (arXiv 2106.09685); rsLoRA scales them otherwise
    dora,    ///< the same with a magnitude for each output, of weights whose norm is worked out in every pass (2402.09353)
    ia3,     ///< a factor for each feature (2205.05638)
    prompt,  ///< tokens in front of the text (2104.08691)
    bitfit   ///< biases alone (2106.10199)
};

/// Which biases an adapter trains besides.
enum class adapter_bias : std::uint8_t { none, all, lora_only };

/// An adapter, as PEFT's configuration says it.
struct adapter {
    adapter_kind kind = adapter_kind::none;
    std::int64_t rank = 8;
    std::int64_t tokens = 20;  ///< of a prompt
    adapter_bias bias = adapter_bias::none;
    bool all_linear = false;
    std::vector<std::string> targets{};      ///< ends of paths
    std::vector<std::string> feedforward{};  ///< of IA3: those whose input is scaled
    std::vector<std::string> saved{};        ///< modules that are trained as copies (`modules_to_save`)

    /// Whether it stands beside modules and names none.
    [[nodiscard]] bool needs_targets() const noexcept {
        const bool beside = kind == adapter_kind::lora || kind == adapter_kind::dora || kind == adapter_kind::ia3;
        return beside && !all_linear && targets.empty();
    }
};

/// The modules that PEFT adapts where its configuration names none, by `model_type`; IA3 scales the inputs of the last.
///
/// Source: peft/utils/constants.py.
struct usual_targets {
    std::string_view model_type;
    std::string_view lora;  ///< ends of paths, parted by blanks
    std::string_view ia3;
    std::string_view feedforward;  ///< of IA3's
};
// clang-format off
inline constexpr usual_targets usual_targets_of_types[]{
    {"bart",        "q_proj v_proj",         "q_proj v_proj fc2",              "fc2"},
    {"bert",        "query value",           "key value output.dense",         "output.dense"},
    {"bloom",       "query_key_value",       "query_key_value mlp.dense_4h_to_h", "mlp.dense_4h_to_h"},
    {"codegen",     "qkv_proj",              "",                               ""},
    {"deberta-v2",  "query_proj value_proj", "key_proj value_proj output.dense", "output.dense"},
    {"electra",     "query value",           "",                               ""},
    {"falcon",      "query_key_value",       "query_key_value dense_4h_to_h",  "dense_4h_to_h"},
    {"gemma",       "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"gemma2",      "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"gemma3_text", "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"gpt2",        "c_attn",                "c_attn mlp.c_proj",              "mlp.c_proj"},
    {"gpt_bigcode", "c_attn",                "c_attn mlp.c_proj",              "mlp.c_proj"},
    {"gpt_neo",     "q_proj v_proj",         "q_proj v_proj c_proj",           "c_proj"},
    {"gpt_neox",    "query_key_value",       "query_key_value dense_4h_to_h",  "dense_4h_to_h"},
    {"gptj",        "q_proj v_proj",         "q_proj v_proj fc_out",           "fc_out"},
    {"layoutlm",    "query value",           "",                               ""},
    {"llama",       "q_proj v_proj",         "k_proj v_proj down_proj",        "down_proj"},
    {"llama4",      "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"mistral",     "q_proj v_proj",         "k_proj v_proj down_proj",        "down_proj"},
    {"mixtral",     "q_proj v_proj",         "k_proj v_proj w2",               "w2"},
    {"mpt",         "Wqkv",                  "",                               ""},
    {"mt5",         "q v",                   "k v wi_1",                       ""},
    {"nemotron_h",  "q_proj k_proj v_proj o_proj", "",                         ""},
    {"opt",         "q_proj v_proj",         "q_proj k_proj fc2",              "fc2"},
    {"phi",         "q_proj v_proj fc1 fc2", "q_proj v_proj fc2",              "fc2"},
    {"qwen2",       "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"qwen3",       "q_proj v_proj",         "q_proj v_proj down_proj",        "down_proj"},
    {"roberta",     "query value",           "key value output.dense",         "output.dense"},
    {"stablelm",    "q_proj v_proj",         "",                               ""},
    {"t5",          "q v",                   "k v wo",                         "wo"},
    {"xlm-roberta", "query value",           "",                               ""},
};
// clang-format on

/// The parts of a list.
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view list, char between) {
    std::vector<std::string> out;
    while (!list.empty()) {
        const std::size_t at = list.find(between);
        out.emplace_back(list.substr(0, at));
        list.remove_prefix(at == std::string_view::npos ? list.size() : at + 1);
    }
    return out;
}

/// The adapter with PEFT's usual targets where it names none; as it was where PEFT knows none of this type.
[[nodiscard]] inline adapter with_usual_targets(adapter a, std::string_view model_type) {
    if (a.all_linear || !a.targets.empty()) return a;
    for (const usual_targets& t : usual_targets_of_types) {
        if (t.model_type != model_type) continue;
        a.targets = split_list(a.kind == adapter_kind::ia3 ? t.ia3 : t.lora, ' ');
        if (a.kind == adapter_kind::ia3) a.feedforward = split_list(t.feedforward, ' ');
    }
    return a;
}

/// An adapter at the leaves of a walk, as PEFT puts it there; `matched()` says how many it found.
///
/// Sources: peft/tuners/lora/{layer,dora,variants}.py, ia3/layer.py, peft_model.py.
class adapter_policy final : public leaf_policy {
public:
    /// `vocabulary` names the table of words, before which a prompt stands; `leaf_embeddings`: gradients are asked of what
    /// it gives, as checkpointing needs it (`enable_input_require_grads`).
    adapter_policy(const adapter& of, std::int64_t vocabulary, bool leaf_embeddings)
        : of_(of), vocabulary_(vocabulary), leaf_embeddings_(leaf_embeddings) {}

    [[nodiscard]] std::int64_t matched() const noexcept { return matched_; }

    void enter(const module_info& m) override {
        open_.push_back(path_.size());
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        is_head_ = m.what == role::head;
    }
    void leave(const module_info&) override { path_.resize(open_.back()), open_.pop_back(); }
    [[nodiscard]] bool trains(literal name) const override {
        const std::string_view word = name;
        const bool bias = word == "bias" || word == "b" || word.ends_with("_bias");
        if (of_.kind == adapter_kind::none) return true;
        if (of_.kind == adapter_kind::bitfit || of_.bias == adapter_bias::all) return bias;
        return of_.bias == adapter_bias::lora_only && bias && adapts();
    }
    [[nodiscard]] bool copies() const override { return ends_with_one_of(of_.saved); }
    [[nodiscard]] value reads(trace& t, const value& x) override {
        if (of_.kind != adapter_kind::ia3 || !adapts() || !ends_with_one_of(of_.feedforward)) return x;
        ++matched_;
        const value by = t.mul(t.added_param("ia3_l.default", {1, x.dim(-1)}, own_type(t)).view({x.dim(-1)}));
        return t.to(t.mul(t.to(x, by.type), by), x.type);
    }
    [[nodiscard]] value gives(trace& t, const value& x, const value& weight, bool turned, const value* bias,
                              const value& y) override {
        // PEFT leaves the scores of words alone (`get_output_embeddings`)
        if (!adapts() || (of_.all_linear && is_head_ && y.dim(-1) == vocabulary_)) return y;
        if (of_.kind == adapter_kind::ia3) return ends_with_one_of(of_.feedforward) ? y : scaled(t, y);
        if (of_.kind != adapter_kind::lora && of_.kind != adapter_kind::dora) return y;
        ++matched_;
        const value in = t.to(x, own_type(t));
        const value a = t.added_param("lora_A.default.weight", {of_.rank, x.dim(-1)}, own_type(t));
        const value b = t.added_param("lora_B.default.weight", {y.dim(-1), of_.rank}, own_type(t));
        if (of_.kind == adapter_kind::dora) return decomposed(t, in, weight, turned, bias, y, a, b);
        return t.to(t.add(y, t.mul(t.linear(t.linear(in, a), b))), y.type);
    }
    [[nodiscard]] extents looks_up(std::int64_t rows, const extents& ids) override {
        extents read = ids;
        if (prompts(rows)) read.size[1] -= of_.tokens;
        return read;
    }
    [[nodiscard]] value looked_up(trace& t, std::int64_t rows, const value& found) override {
        value x = found;
        if (prompts(rows)) {
            ++matched_;
            const value table =
                t.added_param("prompt_encoder.default.embedding.weight", {of_.tokens, x.dim(-1)}, own_type(t));
            x = t.cat({t.gather(table, {x.dim(0), of_.tokens, x.dim(-1)}), x}, 1);
        }
        if (rows == vocabulary_ && leaf_embeddings_) t.require_grad(x);
        return x;
    }

private:
    /// PEFT keeps what it adds in 32 bits (`autocast_adapter_dtype`).
    [[nodiscard]] static dtype own_type(const trace&) noexcept { return dtype::float32; }
    [[nodiscard]] bool prompts(std::int64_t rows) const noexcept {
        return of_.kind == adapter_kind::prompt && rows == vocabulary_;
    }
    [[nodiscard]] bool ends_with_one_of(const std::vector<std::string>& names) const {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return path_ == name || std::string_view(path_).ends_with('.' + name); });
    }
    [[nodiscard]] bool adapts() const { return of_.all_linear || ends_with_one_of(of_.targets); }
    [[nodiscard]] value scaled(trace& t, const value& y) {
        ++matched_;
        const value by = t.mul(t.added_param("ia3_l.default", {y.dim(-1), 1}, own_type(t)).view({y.dim(-1)}));
        return t.to(t.mul(y, by), y.type);
    }
    /// The low-rank product of the weights themselves, for their norm: worked out in every pass, gone back through by none.
    [[nodiscard]] static value norm_of_weights(trace& t, const value& weight, bool turned, const value& a, const value& b,
                                               dtype type) {
        const recorder::no_grad_guard detached{t};
        const value eye = t.constant({a.dim(1), a.dim(1)}, a.type);
        const value low = t.to(t.linear(t.linear(eye, a), b).transpose(0, 1), type);
        const value whole = t.to(weight, type);
        const value sum = t.add(turned ? whole.transpose(0, 1) : whole, t.mul(low));
        return t.vector_norm(sum, 1);
    }
    [[nodiscard]] static value decomposed(trace& t, const value& x, const value& weight, bool turned, const value* bias,
                                          const value& y, const value& a, const value& b) {
        const value norm = norm_of_weights(t, weight, turned, a, b, x.type);
        const value magnitude = t.added_param("lora_magnitude_vector.default.weight", {y.dim(-1)}, x.type);
        const value share = t.div(magnitude, norm).view({1, y.dim(-1)});
        const value low = t.linear(t.linear(x, a), b);
        const value base = bias != nullptr ? t.sub(y, *bias) : y;
        const value more = t.add(t.mul(t.unary(op::sub, share), base), t.mul(t.mul(share, low)));
        return t.to(t.add(y, more), y.type);
    }

    const adapter& of_;
    std::int64_t vocabulary_;
    bool leaf_embeddings_;
    std::string path_;
    std::vector<std::size_t> open_;
    bool is_head_ = false;
    std::int64_t matched_ = 0;
};

}  // namespace llmcost
