// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/query.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sweep.hpp>

// A command line that asks something of a model, understood.
namespace llmcost::cli {

/// The numbers of a workload, which may be lists.
inline constexpr std::array swept_options{listed(option::batch), listed(option::sequence), listed(option::past),
                                          listed(option::input), listed(option::output),   listed(option::encoder_sequence)};

/// Whether an encoder reads the input of a whole request; throws `usage` where a model cannot write token by token.
[[nodiscard]] inline bool subject_encodes(const model& subject, const job& work) {
    if (work.kind != job_kind::generation) return false;
    if (work.output > 1 && count_model(subject, work.base).cache == count{})
        refuse(option::output.name, "this model keeps no cache: it does not write token by token");
    return has_encoder(subject);
}

/// Understands a command line that asks something of a model that has been read.
[[nodiscard]] inline question understand(const arguments& args, const read_subject& read,
                                         std::span<const command* const> commands = {}) {
    question q;
    const model& subject = q.subject = read.subject;
    q.described = read.described;
    q.who = read.found.who;
    q.stored = read.stored;
    q.work = read_job(args);
    q.assumes_sound = !args.has(option::audio) && reads_sound_alone(subject);
    if (q.assumes_sound) q.work.base.audio_milliseconds = assumed_sound;
    check_workload(subject, q.work);
    q.work.media_tokens = media_tokens_of(subject, q.work.base);
    for (request_group& g : q.work.groups) g.media_tokens = g.past == 0 ? media_tokens_of(subject, g.of(q.work.base)) : 0;
    if (!args.has(option::sequence) && !args.has(option::input) && !args.has(option::requests))
        q.work.base.sequence = fitting_sequence(subject, q.work.base);
    q.format = static_cast<output_format>(args.choice(option::format));
    q.scopes = args.has(option::scopes);
    q.tensors = args.has(option::tensors);
    q.tree = args.has(option::tree);
    q.depth = args.number(option::depth, -1, 0);
    if (q.depth >= 0 && !q.tree) refuse("--depth", "needs --tree");
    if (q.format != output_format::json && q.tensors && (q.tree || q.scopes))
        refuse("--tensors", "is a table of its own: leave out --tree and --scopes, or say --format json");
    for (const std::string_view change : args.all(option::set)) q.overrides.push_back(printable(change));
    q.phases = phases_of(q.work, subject_encodes(subject, q.work));
    q.asked = read_query(args.words(), subject, q.who.name, q.phases.front().parts.front().load, commands);
    return q;
}

}  // namespace llmcost::cli
