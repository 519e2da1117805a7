// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/parse_request.hpp>

#include <span>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

/// Whether an encoder reads the input of a request. Throws: `usage` for output tokens of a model without a KV cache.
[[nodiscard]] LLMCOST_INLINE bool subject_encodes(const model& subject, const workload_request& work) {
    if (work.kind != workload_kind::generation) return false;
    if (work.output_tokens > 1 && count_model(subject, work.base_workload).cache_elements == count{})
        throw_usage(option::output.name, "not supported: this model has no KV cache and generates no tokens");
    return has_encoder(subject);
}

LLMCOST_INLINE request understand(const arguments& args, const parsed_model& read,
                                  std::span<const command* const> commands) {
    request q;
    const model& subject = q.model = read.subject;
    q.custom = read.custom;
    q.name_of_model = read.found.name_of_model;
    q.stored_weights = read.stored;
    q.workload = parse_workload(args);
    q.has_default_audio = !args.has(option::audio) && is_audio_only(subject);
    if (q.has_default_audio) q.workload.base_workload.audio_milliseconds = assumed_sound;
    check_workload(subject, q.workload);
    q.workload.num_media_tokens = media_tokens_of(subject, q.workload.base_workload);
    for (request_group& g : q.workload.request_groups)
        g.media_tokens = g.past == 0 ? media_tokens_of(subject, g.to_workload(q.workload.base_workload)) : 0;
    if (!args.has(option::sequence) && !args.has(option::input) && !args.has(option::ragged_batch))
        q.workload.base_workload.sequence = fitting_sequence(subject, q.workload.base_workload);
    q.format = static_cast<output_format>(args.choice(option::format));
    q.lists_scopes = args.has(option::scopes);
    q.lists_tensors = args.has(option::tensors);
    q.has_tree = args.has(option::tree);
    q.tree_depth = args.number(option::depth, -1, 0);
    if (q.tree_depth >= 0 && !q.has_tree) throw_usage("--depth", "requires --tree");
    if (q.format != output_format::json && q.lists_tensors && (q.has_tree || q.lists_scopes))
        throw_usage("--tensors", "can be combined with --tree and --scopes only with --format json");
    for (const std::string_view change : args.all(option::set)) q.overrides.push_back(printable(change));
    q.phases = phases_of(q.workload, subject_encodes(subject, q.workload));
    q.metrics =
        read_query(args.positional(), subject, q.name_of_model.name, q.phases.front().parts.front().load, commands);
    return q;
}

}  // namespace llmcost::cli
