// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/analysis/least_workload.hpp>
#include <llmcost/cli/input_words.hpp>
#include <llmcost/cli/job.hpp>
#include <llmcost/cli/query.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sums.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/report/json_report.hpp>

namespace llmcost::cli {

/// A command line that has been understood: which model, what work, which answer.
struct question {
    std::shared_ptr<const described_model> described{};  ///< what `subject` looks at, where a file describes it
    model subject{};
    model_identity who{};  ///< printable
    job work{};
    query asked{};
    output_format format = output_format::text;
    bool scopes = false;
    bool tensors = false;
    bool tree = false;
    std::int64_t depth = -1;  ///< of the tree; -1: all of it
    bool color = false;
    bool declines_cache = false;           ///< the configuration says `use_cache: false`
    stored_subject stored{};               ///< weights that are not all of one type
    std::int64_t mtp_layers = 0;           ///< multi-token prediction layers of the checkpoint
    bool assumes_sound = false;            ///< nobody says how much a model hears that does nothing without sound
    std::vector<std::string> overrides{};  ///< what `--set` changed, printable
    std::string adapter{};                 ///< what stands beside the model's layers, printable; empty: nothing
    std::vector<phase> phases{};
};

/// What a question's model reads.
[[nodiscard]] inline input_unit unit_of(const question& q) { return unit_of(q.subject, q.work.base); }

/// Tokens of the longest sequence at the end of a job, the last one that it writes among them.
[[nodiscard]] inline std::int64_t longest_of(const job& work, const std::vector<phase>& phases) {
    std::int64_t most = 0;
    for (const phase& p : phases)
        for (const stretch& part : p.parts)
            most = std::max({most, part.load.past + part.load.sequence + part.steps - 1, part.load.encoder_sequence});
    return work.kind == job_kind::generation ? most + 1 : most;
}

/// Whether so many tokens are more than a model was made for; not where nobody says for how many, or it reads images.
[[nodiscard]] inline bool beyond_context(const model& m, std::int64_t tokens) noexcept {
    return m.dims.max_position_embeddings > 0 && tokens > m.dims.max_position_embeddings && !reads_pixels(m);
}

/// Says so, where they are.
inline void note_on_context(std::ostream& notes, std::string_view name, const model& m, std::int64_t tokens) {
    if (beyond_context(m, tokens))
        notes << "llmcost: " << name << ": " << grouped(count(tokens)) << " tokens are beyond the model's context of "
              << grouped(count(m.dims.max_position_embeddings)) << '\n';
}

/// Whether an encoder reads tokens of its own: one more of them costs something.
[[nodiscard]] inline bool has_encoder(const model& m) {
    return !(count_model(m, {.sequence = 1, .encoder_sequence = 1}) ==
             count_model(m, {.sequence = 1, .encoder_sequence = 2}));
}

/// Whether an encoder of whatever length runs in front of a decoder's first pass, and in no later one.
[[nodiscard]] inline bool runs_encoder_once(const model& m) {
    const auto work = [&](std::int64_t past) {
        return count_model(m, {.sequence = 1, .past = past}, scope_query{role::encoder});
    };
    return work(0).mult != count{} && work(1).mult == count{};
}

/// Refuses images, videos or sound that a model does not read.
inline void check_media(const model& m, const workload& load) {
    const senses& reads = m.kind->reads;
    const bool shown = load.images > 0 || load.image_height > 0;
    if (reads_pixels(m)) {
        if (load.images > 1) refuse(option::images.name, "this model reads images alone: say how many by --batch");
        const vision_sizes& own = m.dims.vision;
        if (load.image_height > 0 && !m.kind->any_image &&
            (load.image_height != own.image_height || load.image_width != own.image_width))
            refuse(option::image.name, "this model's images have the size that its configuration says (" +
                                           std::to_string(own.image_width) + 'x' + std::to_string(own.image_height) +
                                           "): its positions, or its windows, are made for it");
    } else if (shown && !reads.images && !m.kind->any_image) {
        refuse(option::image.name, "this model reads no images");
    }
    if (load.videos > 0 && !reads.videos) refuse(option::video.name, "this model reads no videos");
    if (load.audio_milliseconds > 0 && !reads.audio) refuse(option::audio.name, "this model reads no sound");
    if (m.kind->media == nullptr || !load.has_media()) return;
    try {
        (void)m.kind->media(m, load);
    } catch (const description_error& e) {  // what its processor refuses
        const option_row& said = load.images > 0 ? option::image : load.videos > 0 ? option::video : option::audio;
        refuse(said.name, e.what());
    }
}

/// Refuses what a model does not read: tokens of an encoder where no decoder stands behind one, no tokens at all where it
/// reads a text, images of a size that its walk does not take, sound.
inline void check_workload(const model& m, const job& work) {
    if (work.no_tokens && m.kind->reads.text && m.dims.head != head_kind::audio_classification && !reads_pixels(m))
        refuse(option::sequence.name, "this model reads tokens: expected a whole number from 1");
    check_media(m, work.base);
    for (const request_group& g : work.groups) check_media(m, g.of(work.base));
    if (work.base.encoder_sequence > 0 && !has_encoder(m) && !runs_encoder_once(m))
        refuse(option::encoder_sequence.name, "this model has no encoder beside a decoder: say --sequence");
}

/// Milliseconds of a recording where nobody says how long: every feature extractor takes as many.
inline constexpr std::int64_t assumed_sound = 10'000;

/// A workload's tokens, or as many as a model was made for.
[[nodiscard]] inline std::int64_t fitting_sequence(const model& m, const workload& load) {
    try {
        (void)count_model(m, load);
    } catch (const workload_error& e) {
        if (e.held() > load.past) return e.held() - load.past;
    }
    const std::int64_t left = m.dims.max_position_embeddings - load.past;
    return left > 0 && left < load.sequence ? left : load.sequence;
}

/// Fills in what a command line leaves open: sound where a model does nothing without, and no more tokens than it was made
/// for.
inline void complete_workload(const model& m, const arguments& given, workload& load) {
    if (!given.has(option::audio) && reads_sound_alone(m)) load.audio_milliseconds = assumed_sound;
    if (given.has(option::sequence)) return;
    workload plain = load;  // what nobody describes of a step is said by who trains
    plain.training = plain.keeps_dropout = false;
    load.sequence = fitting_sequence(m, plain);
}

/// Tokens of a sequence that stand for what it shows.
[[nodiscard]] inline std::int64_t media_tokens_of(const model& m, const workload& load) {
    return m.kind->media == nullptr ? 0 : m.kind->media(m, load).tokens(load);
}

/// Reads every scope of a model, always in the order in which they were first met.
class scope_reader {
public:
    explicit scope_reader(const model& m) : model_(m) {}

    reading operator()(const workload& load) {
        if (seen_.scopes.empty()) check_size(model_, load);
        model_listing listing = list_model(model_, load);
        const storage_types types = types_of(model_, load);
        reading out(seen_.scopes.size());
        for (std::size_t i = 0; i < listing.scopes.size(); ++i) {
            const scope_figures& s = listing.scopes[i];
            const std::size_t place = place_of(s, i, listing);
            if (place >= out.size()) out.resize(place + 1);
            out[place] = figures_of(s.sums, types);
        }
        if (seen_.tensors.empty()) seen_.tensors = std::move(listing.tensors), seen_.tied = std::move(listing.tied);
        seen_.cache = std::move(listing.cache);
        return out;
    }
    /// Paths, classes, roles, parents, tensors; the cache is that of the last reading.
    [[nodiscard]] const model_listing& seen() const noexcept { return seen_; }

private:
    std::size_t place_of(const scope_figures& s, std::size_t hint, const model_listing& listing) {
        if (hint < seen_.scopes.size() && seen_.scopes[hint].path == s.path) return hint;
        const auto [found, fresh] = places_.try_emplace(s.path, seen_.scopes.size());
        if (fresh) {
            scope_figures copy = s;
            copy.sums = {};
            if (s.parent >= 0) {
                const std::string& path = listing.scopes[static_cast<std::size_t>(s.parent)].path;
                copy.parent = static_cast<std::ptrdiff_t>(places_.at(path));
            }
            seen_.scopes.push_back(std::move(copy));
        }
        return found->second;
    }

    const model& model_;
    model_listing seen_;
    std::unordered_map<std::string, std::size_t> places_;
};

/// Whether a scope belongs to what a question asks for: everything, or a scope and what is inside.
[[nodiscard]] inline bool is_asked(const question& q, const model_listing& seen, std::size_t i) {
    if (!q.asked.scope || q.asked.scope->is_all()) return true;
    const scope_word& scope = *q.asked.scope;
    const string_ref type = class_in(scope.word);
    const role what = role_from(scope.word);
    for (auto at = static_cast<std::ptrdiff_t>(i); at >= 0; at = seen.scopes[static_cast<std::size_t>(at)].parent) {
        const scope_figures& s = seen.scopes[static_cast<std::size_t>(at)];
        switch (scope.kind) {
            case scope_kind::role:
                if (what == role::transformer && s.what == role::head) return false;
                if (what == s.what || (what == role::transformer && s.parent < 0)) return true;
                break;
            case scope_kind::type:
                if (s.type == type) return true;
                break;
            case scope_kind::path:
                if (matches_pattern(scope.word, s.path)) return true;
                break;
            case scope_kind::parameter: break;
        }
    }
    return false;
}

namespace detail {

/// Puts bytes of weights as they are stored in the place of those of one element type.
inline void put_weight_bytes(job_reading& r, std::size_t scope, count bytes) {
    r.total[scope].weight_bytes = bytes;
    for (reading& phase : r.by_phase) phase[scope].weight_bytes = bytes;
}

/// Those of the parameters that a question asks about.
inline count stored_bytes_of(const question& q) {
    const scope_word scope = q.asked.scope.value_or(scope_word{});
    if (scope.is_all()) return q.stored.bytes.total;
    const model_listing listing = list_model(q.subject, q.phases.front().parts.front().load);
    const module_finder module_of(listing);
    count sum;
    for (const tensor_shape& t : listing.tensors) {
        const bool asked = scope.kind == scope_kind::parameter ? matches_pattern(scope.word, t.name)
                                                               : is_asked(q, listing, module_of(t.name));
        if (asked) sum += q.stored.bytes.of(t.name);
    }
    return sum;
}

}  // namespace detail

/// All scopes of a job.
struct scopes_read {
    model_listing seen;
    job_reading figures;
};

/// Reads all scopes of a question's work.
[[nodiscard]] inline scopes_read read_scopes(const question& q) {
    scope_reader reader(q.subject);
    const measure take = [&](const workload& load) { return reader(load); };
    job_reading r = read_phases(q.phases, take);
    if (q.stored.applied) {
        const std::vector<count> bytes = bytes_by_scope(q.stored.bytes, reader.seen());
        for (std::size_t i = 0; i < bytes.size(); ++i) detail::put_weight_bytes(r, i, bytes[i]);
    }
    return {reader.seen(), std::move(r)};
}

/// Whether a metric of the list is what autograd keeps, which a training step alone tells.
[[nodiscard]] inline bool asks_for_saved(const std::vector<const metric*>& list) {
    for (const metric* m : list)
        if (m->name == "saved_bytes") return true;
    return false;
}

/// Reads the scope of a question, or the whole model.
[[nodiscard]] inline job_reading read_scope(const question& q, const std::vector<const metric*>& list) {
    const scope_word scope = q.asked.scope.value_or(scope_word{});
    const bool saved = asks_for_saved(list);
    if (saved && (q.work.kind != job_kind::pass || q.work.base.past != 0))
        refuse("saved_bytes", "is of one training step, which has neither past nor --requests nor --input");
    const measure take = [&](const workload& load) {
        figures f = find_scope(q.subject, load, scope).sum;
        if (saved) {
            workload step = load;
            step.training = true;
            f.saved_bytes = find_scope(q.subject, step, scope).sum.saved_bytes;
        }
        return reading{f};
    };
    job_reading r = read_phases(q.phases, take);
    if (q.stored.applied) detail::put_weight_bytes(r, 0, detail::stored_bytes_of(q));
    return r;
}

/// `batch 16 and sequence length 200`, in the words that llm-profiler's block begins with.
[[nodiscard]] inline std::string workload_sentence(const question& q) {
    const workload& load = q.work.base;
    if (q.work.kind == job_kind::requests) {
        std::string list;
        for (const request_group& g : q.work.groups)
            list += (list.empty() ? "" : ",") + std::to_string(g.sequence) +
                    (g.image_width == 0 ? "" : '+' + std::to_string(g.image_width) + 'x' + std::to_string(g.image_height)) +
                    '@' + std::to_string(g.past) + 'x' + std::to_string(g.how_many);
        return "with requests " + list;
    }
    const std::string batch = "with input batchsize " + std::to_string(load.batch);
    const std::string past = load.past == 0 ? "" : ", " + std::to_string(load.past) + " tokens in the cache";
    if (q.work.kind == job_kind::generation)
        return batch + ", input length " + std::to_string(q.work.input) + " and output length " +
               std::to_string(q.work.output) + past;
    return batch + " and sequence length " + std::to_string(load.sequence) + past;
}

/// A metric as a title: `ADD`, `CACHE_BYTES`.
[[nodiscard]] inline std::string title_of(const metric& m) {
    std::string out(m.name);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

}  // namespace llmcost::cli
