// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/stored_weights.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/files/check_gguf.hpp>
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/stored_weights.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// Whether an element type of a file is not a quantized type.
LLMCOST_INLINE bool is_plain(std::string_view type) {
    for (const std::string_view plain : {"F64", "F32", "F16", "BF16"})
        if (type == plain) return true;
    return dtype_from(string_ref(type)) != dtype::unspecified && bits_of(dtype_from(string_ref(type))) >= 16;
}

/// Counts all parameters and the quantized ones, and sets the label.
LLMCOST_INLINE void set_quantized_share(stored_model_weights& out, const model_listing& listing,
                                        const std::string& description) {
    for (const tensor_shape& t : listing.tensors) {
        count n = 1;
        for (const std::int64_t size : t.sizes) n *= count(size);
        out.elements += n;
        const auto known = out.bytes.parameters.find(t.name);
        if (known != out.bytes.parameters.end() && !is_plain(known->second.type)) out.quantized += n;
    }
    out.label = "weights as " + description;
    if (out.quantized != count{}) out.label += " (" + percent(out.quantized, out.elements) + " quantized)";
}

LLMCOST_INLINE stored_model_weights weights_by_quantization(const model& m, const quantization& plan,
                                                            const std::string& description) {
    stored_model_weights out{.is_applied = true};
    out.unquantized_type = m.config.dtype_of_weights != dtype::unspecified ? m.config.dtype_of_weights
                           : plan.default_type != dtype::unspecified       ? plan.default_type
                                                                           : dtype::bfloat16;
    const stored_weights all = quantized_weights(m, plan, out.unquantized_type);
    out.bytes = to_weight_parts(all);
    out.elements = count(all.elements);
    out.quantized = count(all.quantized);
    out.expert_weights = expert_weight_format_of(plan);
    out.label = "weights as " + description + " (" + percent(out.quantized, out.elements) + " quantized)";
    return out;
}

/// The weights as llama.cpp would write them. Throws: `error` for unsupported models.
LLMCOST_INLINE stored_model_weights weights_by_gguf_mix(const parsed_model& read, std::string_view gguf_mix) {
    stored_model_weights out{.is_applied = true,
                             .unquantized_type = dtype::float16};  // also the type of llama.cpp's KV cache
    const model_listing listing = list_model(read.subject, minimal_workload(read.subject));
    const gguf_source source = read.found.document.read_with([](config_view root) { return gguf_source_of(root); });
    try {
        const stored_tensors all = gguf_sizes(read.subject, listing, gguf_mix, source).weights;
        out.bytes = stored_bytes_of(all.tensors, check_gguf(gguf_tensors(read.subject, listing), all));
    } catch (const error& e) {
        throw error(e.code(), std::string(option::quantization.name), e.what());
    }
    set_quantized_share(out, listing, "in " + std::string(gguf_mix) + " checkpoints");
    out.has_ggml_types = out.quantized != count{};
    return out;
}

/// The weights as a file stores them.
LLMCOST_INLINE stored_model_weights weights_in_file(parsed_model& read) {
    const located_weights& file = *read.found.weights;
    stored_model_weights out{.is_applied = true, .unquantized_type = file.is_gguf ? dtype::float16 : dtype::bfloat16};
    const model_listing listing = list_model(read.subject, minimal_workload(read.subject));
    try {
        read.checked = file.is_gguf ? check_gguf(gguf_tensors(read.subject, listing), file.tensors)
                                    : check_tensors(listing, file.tensors.tensors);
    } catch (const error& e) {
        out.mismatch_warning = file.name + ": tensors were not assigned to modules: " + printable(e.what());
    }
    out.bytes = stored_bytes_of(file.tensors.tensors, read.checked.value_or(tensor_check{}));
    set_quantized_share(out, listing, "stored in " + file.name);
    out.has_ggml_types = file.is_gguf && out.quantized != count{};
    if (read.checked && !read.checked->has_no_mismatch())
        out.mismatch_warning =
            file.name + ": the tensors differ from those of the model; using those of the file (see llmcost check)";
    return out;
}

LLMCOST_INLINE requested_quantization parse_quantization(std::string_view name) {
    std::string spelled = lower(name);
    const auto normalize = [&](char replaced, char to) {
        std::replace(spelled.begin(), spelled.end(), replaced, to);
        return std::string_view(spelled);
    };
    requested_quantization out{find_quantization_preset(normalize('_', '-')), nullptr};
    out.gguf_mix = llmcost::detail::lookup_gguf_mix(normalize('-', '_'));
    return out;
}

/// Throws: `usage` for an unknown quantization.
[[noreturn]] LLMCOST_INLINE void refuse_quantization(std::string_view name) {
    name_suggestions near(name);
    for (const quantization_preset& known : quantization_presets) near.add_candidate(known.name);
    for (const llmcost::detail::gguf_mix_entry& gguf_mix : llmcost::detail::gguf_mixes)
        near.add_candidate(gguf_mix.name);
    throw_usage(option::quantization.name, "no quantization " + quote(name) + near.suggestion_or_list());
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void set_quantization(const arguments& args, config_document& document) {
    if (!args.has(option::quantization)) return;
    const auto [known, gguf_mix] = detail::parse_quantization(args.text(option::quantization));
    if (known == nullptr && gguf_mix == nullptr) detail::refuse_quantization(args.text(option::quantization));
    if (known == nullptr) return;
    // the plan replaces every object that `find_quantization` reads
    std::vector<std::string> replaced;
    document.read_with([&](config_view root) {
        if (const auto mlx_block = root.find("quantization"); mlx_block && is_mlx_quantization(*mlx_block))
            replaced.emplace_back("quantization");
        if (root.contains("compression_config")) replaced.emplace_back("compression_config");
        const auto text = root.find("text_config");
        if (!text || !text->is_object()) return;
        for (const literal key : {"quantization_config", "quantization"})
            if (text->contains(key)) replaced.push_back("text_config." + std::string(key));
    });
    for (const std::string& key : replaced) document.set(key, "null");
    document.set("quantization_config", known->plan);
}

LLMCOST_INLINE void require_known_layout(const parsed_model& read) {
    if (!read.stored.rejection_reason.empty())
        throw error(errc::unsupported, {},
                    read.stored.rejection_reason + "; the size of the weights requires --quantization or --dtype");
}

LLMCOST_INLINE bool includes_weight_bytes(const metric_query& query) {
    return query.metrics.empty() || std::ranges::any_of(query.metrics, [](const metric* m) {
               return m->name == std::string_view("weight_bytes");
           });
}

LLMCOST_INLINE stored_model_weights stored_weights_of(parsed_model& read, const arguments& args) {
    const bool has_quantization = args.has(option::quantization);
    const auto [known, gguf_mix] = detail::parse_quantization(args.text(option::quantization));
    if (!has_quantization && args.has(option::dtype)) return {};
    const bool file = !has_quantization && read.found.weights.has_value();
    if (!has_quantization && !file && !read.subject.config.quantized) return {};
    try {
        check_size(read.subject, minimal_workload(read.subject));
        if (file) return detail::weights_in_file(read);
        if (gguf_mix != nullptr) return detail::weights_by_gguf_mix(read, gguf_mix->name);
        if (known != nullptr && !known->experts.empty() && read.subject.config.moe.num_experts > 1)
            read.found.document.set("quantization_config", known->experts);
        const quantization plan =
            read.found.document.read_with([](config_view root) { return parse_quantization(root); });
        model m = read.subject;
        if (has_quantization && args.has(option::dtype)) m.config.dtype_of_weights = args.type(option::dtype);
        return plan.none() ? stored_model_weights{}
                           : detail::weights_by_quantization(m, plan,
                                                             has_quantization
                                                                 ? "in " + std::string(known->name) + " checkpoints"
                                                                 : "in quantization_config");
    } catch (const error& e) {
        if (has_quantization) throw;
        stored_model_weights out;
        (file ? out.mismatch_warning : out.rejection_reason) = printable(e.what());
        return out;
    }
}

}  // namespace llmcost::cli
