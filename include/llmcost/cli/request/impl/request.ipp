// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::int64_t longest_sequence(const workload_request& work, const std::vector<workload_phase>& phases) {
    std::int64_t maximum = 0;
    for (const workload_phase& p : phases)
        for (const repeated_step& part : p.parts)
            maximum =
                std::max({maximum, part.load.past + part.load.sequence + part.steps - 1, part.load.encoder_sequence});
    return work.kind == workload_kind::generation ? maximum + 1 : maximum;
}

LLMCOST_INLINE void warn_if_context_exceeded(std::ostream& notes, std::string_view name, const model& m,
                                             std::int64_t tokens) {
    if (exceeds_context(m, tokens))
        notes << "llmcost: warning: " << name << ": " << grouped(count(tokens))
              << " tokens exceed the context length of " << grouped(count(m.config.context_length())) << '\n';
}

LLMCOST_INLINE bool has_encoder(const model& m) {
    return !(count_model(m, {.sequence = 1, .encoder_sequence = 1}) ==
             count_model(m, {.sequence = 1, .encoder_sequence = 2}));
}

/// Whether an encoder runs before the first pass of the decoder, and in no later pass.
[[nodiscard]] LLMCOST_INLINE bool runs_encoder_once(const model& m) {
    const auto work = [&](std::int64_t past) {
        return count_model(m, {.sequence = 1, .past = past}, scope_query{role::encoder});
    };
    return work(0).mult != count{} && work(1).mult == count{};
}

LLMCOST_INLINE void check_media(const model& m, const workload& load) {
    const modality_set& reads = m.spec->modalities;
    const bool has_image = load.images > 0 || load.image_height > 0;
    if (reads_pixels(m)) {
        if (load.images > 1)
            throw_usage(option::images.name, "not supported: images are the only input of this model; use --batch");
        const vision_config& vision = m.config.vision;
        if (load.image_height > 0 && !m.spec->accepts_any_image_size &&
            (load.image_height != vision.image_height || load.image_width != vision.image_width))
            throw_usage(option::image.name,
                        "not supported: the position table or the windows of this model require its image size (" +
                            std::to_string(vision.image_width) + 'x' + std::to_string(vision.image_height) + ")");
    } else if (has_image && !reads.has_images && !m.spec->accepts_any_image_size) {
        throw_usage(option::image.name, "not supported: this model has no image input");
    }
    if (load.videos > 0 && !reads.has_videos)
        throw_usage(option::video.name, "not supported: this model has no video input");
    if (load.audio_milliseconds > 0 && !reads.has_audio)
        throw_usage(option::audio.name, "not supported: this model has no audio input");
    if (m.spec->compute_media_shapes == nullptr || !load.has_multimodal_inputs()) return;
    try {
        (void)m.spec->compute_media_shapes(m, load);
    } catch (const description_error& e) {  // thrown by its processor
        const option_spec& media_option = load.images > 0   ? option::image
                                          : load.videos > 0 ? option::video
                                                            : option::audio;
        throw_usage(media_option.name, e.what());
    }
}

LLMCOST_INLINE void check_workload(const model& m, const workload_request& work) {
    if (work.has_no_text && m.spec->modalities.has_text && m.config.head != head_kind::audio_classification &&
        !reads_pixels(m))
        throw_usage(option::sequence.name, "expected a whole number from 1: this model has text input");
    check_media(m, work.base_workload);
    for (const request_group& g : work.request_groups) check_media(m, g.to_workload(work.base_workload));
    if (work.base_workload.encoder_sequence > 0 && !has_encoder(m) && !runs_encoder_once(m))
        throw_usage(option::encoder_sequence.name,
                    "not supported: this model is not an encoder-decoder; use --sequence");
}

LLMCOST_INLINE std::int64_t fitting_sequence(const model& m, const workload& load) {
    try {
        (void)count_model(m, load);
    } catch (const workload_error& e) {
        if (e.max_positions() > load.past) return e.max_positions() - load.past;
    }
    const std::int64_t left = m.config.context_length() - load.past;
    return left > 0 && left < load.sequence ? left : load.sequence;
}

LLMCOST_INLINE void complete_workload(const model& m, const arguments& args, workload& load) {
    if (!args.has(option::audio) && is_audio_only(m)) load.audio_milliseconds = assumed_sound;
    if (args.has(option::sequence)) return;
    workload plain = load;  // the training command reports what is not supported
    plain.training = plain.has_dropout = false;
    load.sequence = fitting_sequence(m, plain);
}

LLMCOST_INLINE metric_list scope_listener::operator()(const workload& load) {
    if (listing_.scopes.empty()) check_size(model_, load);
    model_listing listing = list_model(model_, load);
    const storage_types types = storage_types_of(model_, load);
    metric_list out(listing_.scopes.size());
    for (std::size_t i = 0; i < listing.scopes.size(); ++i) {
        const scope_figures& s = listing.scopes[i];
        const std::size_t place = place_of(s, i, listing);
        if (place >= out.size()) out.resize(place + 1);
        out[place] = model_metrics_of(s.sums, types);
    }
    if (listing_.tensors.empty()) {
        listing_.tensors = std::move(listing.tensors);
        listing_.tied = std::move(listing.tied);
    }
    listing_.cache = std::move(listing.cache);
    return out;
}

LLMCOST_INLINE std::size_t scope_listener::place_of(const scope_figures& s, std::size_t hint,
                                                    const model_listing& listing) {
    if (hint < listing_.scopes.size() && listing_.scopes[hint].path == s.path) return hint;
    const auto [found, fresh] = scope_indices_.try_emplace(s.path, listing_.scopes.size());
    if (fresh) {
        scope_figures copy = s;
        copy.sums = {};
        if (s.parent >= 0) {
            const std::string& path = listing.scopes[static_cast<std::size_t>(s.parent)].path;
            copy.parent = static_cast<std::ptrdiff_t>(scope_indices_.at(path));
        }
        listing_.scopes.push_back(std::move(copy));
    }
    return found->second;
}

LLMCOST_INLINE bool is_requested(const request& q, const model_listing& listing, std::size_t i) {
    if (!q.metrics.scope || q.metrics.scope->is_all()) return true;
    const scope_selector& scope = *q.metrics.scope;
    const string_ref type = class_name_in(scope.name);
    const role module_role = role_from(scope.name);
    for (auto index = static_cast<std::ptrdiff_t>(i); index >= 0;
         index = listing.scopes[static_cast<std::size_t>(index)].parent) {
        const scope_figures& s = listing.scopes[static_cast<std::size_t>(index)];
        switch (scope.kind) {
            case scope_kind::role:
                if (module_role == role::transformer && s.module_role == role::head) return false;
                if (module_role == s.module_role || (module_role == role::transformer && s.parent < 0)) return true;
                break;
            case scope_kind::module_class:
                if (s.type == type) return true;
                break;
            case scope_kind::path:
                if (matches_pattern(scope.name, s.path)) return true;
                break;
            case scope_kind::parameter: break;
        }
    }
    return false;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE void replace_weight_bytes(workload_totals& r, std::size_t scope, count bytes) {
    r.total[scope].weight_bytes = bytes;
    for (metric_list& phase : r.phase_metrics) phase[scope].weight_bytes = bytes;
}

/// The stored weight bytes of the parameters in the scope of a query.
LLMCOST_INLINE count stored_bytes_of(const request& q) {
    const scope_selector scope = q.metrics.scope.value_or(scope_selector{});
    if (scope.is_all()) return q.stored_weights.bytes.total;
    const model_listing listing = list_model(q.model, q.phases.front().parts.front().load);
    const module_finder module_of(listing);
    count sum;
    for (const tensor_shape& t : listing.tensors) {
        const bool is_selected = scope.kind == scope_kind::parameter ? matches_pattern(scope.name, t.name)
                                                                     : is_requested(q, listing, module_of(t.name));
        if (is_selected) sum += q.stored_weights.bytes.parameter_bytes(t.name);
    }
    return sum;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE scope_results compute_scopes(const request& q) {
    scope_listener reader(q.model);
    const metric_function compute_metrics = [&](const workload& load) { return reader(load); };
    workload_totals r = compute_phases(q.phases, compute_metrics);
    if (q.stored_weights.is_applied) {
        const std::vector<count> bytes = bytes_by_scope(q.stored_weights.bytes, reader.listing());
        for (std::size_t i = 0; i < bytes.size(); ++i) detail::replace_weight_bytes(r, i, bytes[i]);
    }
    return {reader.listing(), std::move(r)};
}

LLMCOST_INLINE bool needs_saved_bytes(const std::vector<const metric*>& list) {
    for (const metric* m : list)
        if (m->name == "saved_bytes") return true;
    return false;
}

LLMCOST_INLINE workload_totals compute_scope(const request& q, const std::vector<const metric*>& list) {
    const scope_selector scope = q.metrics.scope.value_or(scope_selector{});
    const bool saved = needs_saved_bytes(list);
    if (saved && (q.workload.kind != workload_kind::forward_pass || q.workload.base_workload.past != 0))
        throw_usage("saved_bytes", "describes a training step; cannot be combined with --past, --ragged or --input");
    const metric_function compute_metrics = [&](const workload& load) {
        model_metrics f = find_scope(q.model, load, scope).sum;
        if (saved) {
            workload step = load;
            step.training = true;
            f.saved_bytes = find_scope(q.model, step, scope).sum.saved_bytes;
        }
        return metric_list{f};
    };
    workload_totals r = compute_phases(q.phases, compute_metrics);
    if (q.stored_weights.is_applied) detail::replace_weight_bytes(r, 0, detail::stored_bytes_of(q));
    return r;
}

LLMCOST_INLINE std::string describe_workload(const request& q) {
    const workload& load = q.workload.base_workload;
    if (q.workload.kind == workload_kind::ragged_batch) {
        std::string list;
        for (const request_group& g : q.workload.request_groups)
            list +=
                (list.empty() ? "" : ",") + std::to_string(g.sequence) +
                (g.image_width == 0 ? "" : '+' + std::to_string(g.image_width) + 'x' + std::to_string(g.image_height)) +
                '@' + std::to_string(g.past) + 'x' + std::to_string(g.num_requests);
        return "with requests " + list;
    }
    const std::string batch = "with input batchsize " + std::to_string(load.batch);
    const std::string past = load.past == 0 ? "" : ", " + std::to_string(load.past) + " tokens in the KV cache";
    if (q.workload.kind == workload_kind::generation)
        return batch + ", input length " + std::to_string(q.workload.input_tokens) + " and output length " +
               std::to_string(q.workload.output_tokens) + past;
    switch (input_unit_of(q)) {
        case input_unit::token: break;
        case input_unit::image: {
            const vision_config& vision = q.model.config.vision;
            const bool is_default = load.image_height == 0;
            return batch + " and image size " + std::to_string(is_default ? vision.image_width : load.image_width) +
                   'x' + std::to_string(is_default ? vision.image_height : load.image_height);
        }
        case input_unit::sound: return batch + " and " + audio_label(load.audio_milliseconds);
        case input_unit::sample: return batch;
    }
    return batch + " and sequence length " + std::to_string(load.sequence) + past;
}

LLMCOST_INLINE std::string title_of(const metric& m) {
    std::string out(m.name);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

}  // namespace llmcost::cli
