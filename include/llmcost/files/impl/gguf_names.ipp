// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/gguf_names.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE const gguf_name_map& naming_of(const model& m) {
    const std::string_view type = (m.text_spec != nullptr ? m.text_spec : m.spec)->model_type;
    std::string known;
    for (const gguf_name_map& n : gguf_namings) {
        if (n.model_type == type) return n;
        known += (known.empty() ? "" : ", ") + std::string(n.model_type);
    }
    throw error(errc::unsupported, "", quote(type) + " is converted in a way that is not known; known are " + known);
}

LLMCOST_INLINE void gguf_converter::add(const tensor_shape& t) {
    std::string name = t.name;
    parameter_ = t.name;
    // parts other than the text model are written to a separate file
    for (const std::string_view excluded_prefix :
         {"model.vision_tower.", "model.multi_modal_projector.", "model.visual."})
        if (name.starts_with(excluded_prefix)) return;
    erase(name, "language_model.");
    if (name.starts_with("bert.")) name.erase(0, 5);
    if (names_.hidden_states_alone && (name.starts_with("pooler.") || name.starts_with("cls."))) return;
    sizes_.assign(t.sizes.begin(), t.sizes.end());
    std::string_view rest = name;
    std::int64_t layer = -1;
    if (!layer_of(rest, layer)) {
        const auto [module, parameter] = halves(name);
        const std::string_view ours = renamed(gguf_globals, module);
        if (ours.empty() || parameter.empty()) fail(t.name);
        out_.push_back({std::string(ours) + '.' + std::string(parameter), sizes_, -1, parameter_});
        return;
    }
    if (!add_in_layer(rest, layer)) fail(t.name);
}

LLMCOST_INLINE gguf_converter::name_halves gguf_converter::halves(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {name, {}};
    return {name.substr(0, dot), name.substr(dot + 1)};
}

LLMCOST_INLINE bool gguf_converter::layer_of(std::string_view& rest, std::int64_t& layer) {
    for (const std::string_view list : {"model.layers.", "encoder.layer."}) {
        if (!rest.starts_with(list)) continue;
        rest.remove_prefix(list.size());
        for (layer = 0; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1))
            layer = layer * 10 + (rest.front() - '0');
        if (!rest.empty()) rest.remove_prefix(1);
        return true;
    }
    return false;
}

LLMCOST_INLINE void gguf_converter::fail(std::string_view name) const {
    throw error(errc::unsupported, "",
                "how " + quote(name) + " of " + std::string(names_.model_type) + " is converted is not known");
}

LLMCOST_INLINE bool gguf_converter::add_in_layer(std::string_view rest, std::int64_t layer) {
    if (rest == "self_attn.sinks") {
        emit(layer, "attn_sinks.weight", sizes_);
        return true;
    }
    if (rest == "self_attn.kv_b_proj.weight") {
        split_latent(layer);
        return true;
    }
    if (rest.starts_with("mlp.experts.")) return add_experts(rest.substr(12), layer);
    const auto [module, parameter] = halves(rest);
    const std::string_view ours =
        module == "post_attention_layernorm" ? names_.post_attention_norm : renamed(gguf_modules, module);
    if (ours.empty() || (parameter != "weight" && parameter != "bias")) return false;
    emit(layer, std::string(ours) + '.' + std::string(parameter), sizes_);
    if (module != "mlp.gate" || !names_.corrects_scores) return true;
    parameter_.clear();  // a buffer
    emit(layer, "exp_probs_b.bias", {sizes_[0]});
    return true;
}

LLMCOST_INLINE void gguf_converter::split_latent(std::int64_t layer) {
    const auto heads = static_cast<std::uint64_t>(model_.config.num_attention_heads);
    const auto nope = static_cast<std::uint64_t>(model_.config.mla.qk_nope_head_dim);
    emit(layer, "attn_k_b.weight", {heads, sizes_[1], nope});
    emit(layer, "attn_v_b.weight", {heads, static_cast<std::uint64_t>(model_.config.mla.v_head_dim), sizes_[1]});
}

LLMCOST_INLINE bool gguf_converter::add_experts(std::string_view part, std::int64_t layer) {
    const std::vector<std::uint64_t>& s = sizes_;
    const bool is_transposed = names_.experts_by_input;
    if (part == "gate_up_proj" && s.size() == 3) {
        const std::vector<std::uint64_t> half{s[0], s[is_transposed ? 2 : 1] / 2, s[is_transposed ? 1 : 2]};
        emit(layer, "ffn_gate_exps.weight", half);
        emit(layer, "ffn_up_exps.weight", half);
    } else if (part == "down_proj" && s.size() == 3) {
        emit(layer, "ffn_down_exps.weight", {s[0], s[is_transposed ? 2 : 1], s[is_transposed ? 1 : 2]});
    } else if (part == "gate_up_proj_bias" && s.size() == 2) {
        emit(layer, "ffn_gate_exps.bias", {s[0], s[1] / 2});
        emit(layer, "ffn_up_exps.bias", {s[0], s[1] / 2});
    } else if (part == "down_proj_bias" && s.size() == 2) {
        emit(layer, "ffn_down_exps.bias", s);
    } else {
        return false;
    }
    return true;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<gguf_tensor> gguf_tensors(const model& m, const model_listing& listing) {
    detail::gguf_converter out{m, detail::naming_of(m)};
    for (const tensor_shape& t : listing.tensors) out.add(t);
    return out.release();
}

}  // namespace llmcost
