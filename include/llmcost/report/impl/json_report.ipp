// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/json_report.hpp>

#include <string>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void write_figures(json_writer& json, const model_metrics& f, saved_figure saved) {
    for (const metric& m : metrics)
        if (m.name == "saved_bytes" && saved == saved_figure::unknown)
            json.key(m.name).null();
        else
            json.member(m.name, m.value_of(f));
}

LLMCOST_INLINE void write_primitives(json_writer& json, const primitives<count>& p) {
    model_metrics f;
    static_cast<primitives<count>&>(f) = p;
    json.object();
    for (std::size_t i = 0; i < num_primitives; ++i) json.member(metrics[i].name, metrics[i].value_of(f));
    json.member("flops", f.flops()).end_object();
}

LLMCOST_INLINE void write_name(json_writer& json, const model& m, const model_name& name) {
    const std::string_view row = m.spec->model_type;
    json.member("name", name.name).member("model_type", name.type ? std::string_view(*name.type) : row);
    if (name.type) json.member("as", row);
}

/// Writes multimodal inputs and their numbers of tokens.
LLMCOST_INLINE void write_media(json_writer& json, const media_shapes& media, const workload& load) {
    if (load.images > 0) {
        json.member("images", load.images).member("image_tokens", load.images * media.image.num_tokens);
        json.key("image").object();
        json.member("tokens", media.image.num_tokens).member("tiles", media.image.num_tiles);
        json.member("height", media.image.height).member("width", media.image.width).end_object();
    }
    if (load.videos > 0) {
        json.member("videos", load.videos).member("video_tokens", load.videos * media.video.num_tokens);
        json.key("video").object();
        json.member("frames", load.video_frames)
            .member("tokens", media.video.num_tokens)
            .member("tiles", media.video.num_tiles);
        json.member("height", media.video.height).member("width", media.video.width).end_object();
    }
    if (load.audio_milliseconds > 0) {
        json.member("audio_milliseconds", load.audio_milliseconds).member("audio_tokens", media.audio.num_tokens);
        json.key("audio").object();
        json.member("samples", media.audio.num_samples).member("frames", media.audio.num_frames).end_object();
    }
}

LLMCOST_INLINE void write_workload(json_writer& json, const model& m, const workload& load,
                                   const storage_types& types) {
    json.key("workload").object();
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.member("encoder_sequence", load.encoder_sequence);
    if (load.image_height > 0) json.member("image_height", load.image_height).member("image_width", load.image_width);
    if (m.spec->compute_media_shapes != nullptr) write_media(json, m.spec->compute_media_shapes(m, load), load);
    json.member("logits", name_of(load.head)).member("attention", name_of(load.attention));
    json.member("dtype", llmcost::name_of(types.weights))
        .member("activation_dtype", llmcost::name_of(types.activations));
    json.member("cache_dtype", llmcost::name_of(types.cache));
    json.end_object();
}

LLMCOST_INLINE void write_sizes(json_writer& json, const std::vector<std::int64_t>& sizes) {
    json.array(true);
    for (const std::int64_t n : sizes) json.value(n);
    json.end_array();
}

LLMCOST_INLINE void write_tensors(json_writer& json, const model_listing& listing, const storage_types& types,
                                  const stored_bytes* stored) {
    json.key("tensors").array();
    for (const tensor_shape& t : listing.tensors) {
        json.object().member("name", t.name).key("shape");
        write_sizes(json, t.sizes);
        json.member("dtype",
                    stored == nullptr ? std::string(llmcost::name_of(types.weights)) : stored->type_of(t.name));
        json.end_object();
    }
    json.end_array().key("tied").array();
    for (const std::string& name : listing.tied) json.value(name);
    json.end_array();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string json_report(const model& m, const model_name& name, const workload& load, json_parts parts) {
    const storage_types types = storage_types_of(m, load);
    const model_listing listing = list_model(m, load);
    workload step = load;
    step.training = true;
    const model_metrics trained = parts.training ? count_model(m, step) : model_metrics{};
    model_metrics totals = listing.total;
    if (parts.weights != nullptr) totals.weight_bytes = parts.weights->total;
    totals.saved_bytes = trained.saved_bytes;
    json_writer json;
    json.object();
    json.key("model").object();
    detail::write_name(json, m, name);
    json.member("architecture", listing.scopes.empty() ? std::string() : listing.scopes.front().type);
    json.member("source", name.source).end_object();
    detail::write_workload(json, m, load, types);
    json.key("totals").object();
    detail::write_figures(json, totals, static_cast<detail::saved_figure>(parts.training));
    json.end_object();
    json.key("cache_layers").array();
    for (const kv_cache_entry& layer : listing.cache) {
        json.array(true);
        for (const auto& sizes : layer.tensors) detail::write_sizes(json, sizes);
        json.end_array();
    }
    json.end_array();
    if (parts.scopes) {
        json.key("scopes").array();
        const std::vector<count> bytes =
            parts.weights == nullptr ? std::vector<count>{} : bytes_by_scope(*parts.weights, listing);
        for (std::size_t i = 0; i < listing.scopes.size(); ++i) {
            const scope_figures& s = listing.scopes[i];
            if (s.path.empty()) continue;
            json.object().member("path", s.path).member("class", s.type).member("role", name_of(s.module_role));
            model_metrics f = model_metrics_of(s.sums, types);
            if (parts.weights != nullptr) f.weight_bytes = bytes[i];
            detail::write_figures(json, f);
            json.end_object();
        }
        json.end_array();
    }
    if (parts.tensors) detail::write_tensors(json, listing, types, parts.weights);
    if (parts.training) {
        json.key("training").object().member("saved_bytes", trained.saved_bytes);
        json.key("torch_flops").object().member("forward", trained.torch_flops);
        json.member("backward", trained.backward_torch_flops);
        json.end_object();
        json.key("backward");
        detail::write_primitives(json, trained.backward);
        json.end_object();
    }
    json.end_object();
    return json.text() + "\n";
}

}  // namespace llmcost
