// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>

namespace llmcost::cli {

/// A parsed query: model, workload and output.
struct request {
    std::shared_ptr<const custom_model> custom{};  ///< owner of the specs of `model`; null for built-in types
    llmcost::model model{};
    model_name name_of_model{};  ///< printable
    workload_request workload{};
    metric_query metrics{};
    output_format format = output_format::text;
    bool lists_scopes = false;
    bool lists_tensors = false;
    bool has_tree = false;
    std::int64_t tree_depth = -1;  ///< levels of the tree; -1: all
    bool has_color = false;
    std::size_t columns = 0;                ///< width of the terminal; 0: unknown
    bool disables_cache = false;            ///< the configuration has `use_cache: false`
    stored_model_weights stored_weights{};  ///< weights of several element types
    std::int64_t mtp_layers = 0;            ///< multi-token prediction layers of the checkpoint
    bool has_default_audio = false;         ///< the length of the audio is `assumed_sound`
    std::vector<std::string> overrides{};   ///< what `--set` changed, printable
    std::string adapter{};                  ///< label of the adapter, printable; empty: none
    std::vector<workload_phase> phases{};
};

/// The input unit of a query.
[[nodiscard]] inline input_unit input_unit_of(const request& q) { return unit_of(q.model, q.workload.base_workload); }

/// The number of tokens of the longest sequence at the end of a workload, including the last output token.
[[nodiscard]] std::int64_t longest_sequence(const workload_request& work, const std::vector<workload_phase>& phases);

/// Whether a number of tokens exceeds the context length; false if the context length is unknown.
[[nodiscard]] inline bool exceeds_context(const model& m, std::int64_t tokens) noexcept {
    return m.config.context_length() > 0 && tokens > m.config.context_length() && !reads_pixels(m);
}

/// Warns if a number of tokens exceeds the context length of a model.
void warn_if_context_exceeded(std::ostream& notes, std::string_view name, const model& m, std::int64_t tokens);

/// Whether the cost of a model depends on the number of encoder tokens.
[[nodiscard]] bool has_encoder(const model& m);

/// Throws: `usage` for images, videos or audio that a model does not support.
void check_media(const model& m, const workload& load);

/// Throws: `usage` for inputs that a model does not support, e.g. encoder tokens without an encoder, or no tokens for a
/// text model.
void check_workload(const model& m, const workload_request& work);

/// The default length of audio in milliseconds, which every feature extractor accepts.
inline constexpr std::int64_t assumed_sound = 10'000;

/// The tokens of a workload, limited to the context length of the model.
[[nodiscard]] std::int64_t fitting_sequence(const model& m, const workload& load);

/// Sets the defaults of a workload that depend on the model: audio of audio-only models, and a sequence that fits the
/// context length.
void complete_workload(const model& m, const arguments& args, workload& load);

/// The number of tokens of the multimodal inputs of a sequence.
[[nodiscard]] inline std::int64_t media_tokens_of(const model& m, const workload& load) {
    return m.spec->compute_media_shapes == nullptr ? 0 : m.spec->compute_media_shapes(m, load).num_tokens(load);
}

/// Computes the metrics of all scopes of a model, in the order in which they first occurred.
class scope_listener {
public:
    explicit scope_listener(const model& m) : model_(m) {}

    metric_list operator()(const workload& load);
    /// Paths, classes, roles, parents and tensors; the cache is that of the last call.
    [[nodiscard]] const model_listing& listing() const noexcept { return listing_; }

private:
    std::size_t place_of(const scope_figures& s, std::size_t hint, const model_listing& listing);

    const model& model_;
    model_listing listing_;
    std::unordered_map<std::string, std::size_t> scope_indices_;
};

/// Whether a scope is the scope of a query or inside it; true for all scopes without one.
[[nodiscard]] bool is_requested(const request& q, const model_listing& listing, std::size_t i);

namespace detail {

/// Replaces the weight bytes of a scope by those of the stored weights.
void replace_weight_bytes(workload_totals& r, std::size_t scope, count bytes);

}  // namespace detail

/// The metrics of all scopes of a workload.
struct scope_results {
    model_listing listing;
    workload_totals figures;
};

/// Computes the metrics of all scopes of a query.
[[nodiscard]] scope_results compute_scopes(const request& q);

/// Whether `saved_bytes` is among the metrics; it requires a training step.
[[nodiscard]] bool needs_saved_bytes(const std::vector<const metric*>& list);

/// Computes the metrics of the scope of a query, or of the model. Throws: `usage`.
[[nodiscard]] workload_totals compute_scope(const request& q, const std::vector<const metric*>& list);

/// The workload as text in the format of llm-profiler: `with input batchsize 16 and sequence length 200`.
[[nodiscard]] std::string describe_workload(const request& q);

/// A metric as a title: `ADD`, `CACHE_BYTES`.
[[nodiscard]] std::string title_of(const metric& m);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/request.ipp>  // IWYU pragma: export
#endif
