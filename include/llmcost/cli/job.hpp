// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/arguments.hpp>

namespace llmcost::cli {

/// Requests of a ragged batch that are at the same point: so many sequences with so many new tokens after so many.
struct request_group {
    std::int64_t sequence = 0;
    std::int64_t past = 0;
    std::int64_t how_many = 1;
    std::int64_t image_width = 0;  ///< of the image that each shows; 0: none
    std::int64_t image_height = 0;
    std::int64_t media_tokens = 0;  ///< which stand for it

    /// What one of them asks, beside what all groups have in common.
    [[nodiscard]] workload of(workload load) const noexcept {
        load.batch = how_many, load.sequence = sequence, load.past = past;
        if (image_width > 0) load.images = 1, load.image_width = image_width, load.image_height = image_height;
        return load;
    }
};

/// Forward passes of one workload, each with one token more in the cache than the one before.
struct stretch {
    workload load;
    std::int64_t steps = 1;
};

/// Work that has a name of its own in an answer.
struct phase {
    std::string name;
    std::vector<stretch> parts;
    bool in_order = false;  ///< parts follow each other on one cache, instead of standing side by side
};

enum class job_kind : std::uint8_t { pass, requests, generation };

/// What the command line asks a model to do.
struct job {
    job_kind kind = job_kind::pass;
    workload base{};  ///< of a pass; of a generation its prefill; else what all groups have in common
    std::vector<request_group> groups{};
    std::int64_t input = 0;
    std::int64_t output = 0;
    bool training = false;
    bool no_tokens = false;         ///< `--sequence 0`: of a model that reads no text
    std::int64_t media_tokens = 0;  ///< of a sequence, which stand for what it shows
};

/// Reads `512@0x4,1@8000x60,64+1024x768@0x2`: new tokens, an image beside them, tokens in the cache before (0), how many
/// (1).
[[nodiscard]] inline std::vector<request_group> read_requests(std::string_view list) {
    std::vector<request_group> groups;
    const std::string_view name = option::requests.name;
    for (bool more = true; more;) {
        const std::size_t comma = list.find(',');
        std::string_view item = list.substr(0, comma);
        more = comma != std::string_view::npos;
        list.remove_prefix(more ? comma + 1 : list.size());
        request_group g;
        if (const std::size_t plus = item.find('+'); plus != std::string_view::npos) {
            const std::string_view size = item.substr(plus + 1);
            const std::size_t by = size.find('x'),
                              end = by == std::string_view::npos ? by : size.find_first_of("@x", by + 1);
            if (by == std::string_view::npos)
                refuse(name, "expected an image as 1024x768 behind +, found " + in_quotes(size));
            g.image_width = read_number(name, size.substr(0, by), 1);
            g.image_height = read_number(name, size.substr(by + 1, end == std::string_view::npos ? end : end - by - 1), 1);
            const std::string_view rest = end == std::string_view::npos ? std::string_view{} : size.substr(end);
            const std::size_t many = rest.find('x');
            if (many != std::string_view::npos) g.how_many = read_number(name, rest.substr(many + 1), 1);
            if (rest.starts_with('@'))
                g.past = read_number(name, rest.substr(1, many == std::string_view::npos ? many : many - 1), 0);
            g.sequence = read_number(name, item.substr(0, plus), 1);
            groups.push_back(g);
            continue;
        }
        const std::size_t times = item.find('x');
        if (times != std::string_view::npos) {
            g.how_many = read_number(name, item.substr(times + 1), 1);
            item = item.substr(0, times);
        }
        const std::size_t at = item.find('@');
        if (at != std::string_view::npos) {
            g.past = read_number(name, item.substr(at + 1), 0);
            item = item.substr(0, at);
        }
        g.sequence = read_number(name, item, 1);
        groups.push_back(g);
    }
    return groups;
}

namespace detail {

inline void refuse_together(const arguments& args, const option_row& given, std::initializer_list<option_row> others) {
    if (!args.has(given)) return;
    for (const option_row& other : others)
        if (args.has(other)) refuse(given.name, "cannot stand together with " + std::string(other.name));
}

}  // namespace detail

/// Reads what a sequence shows: `--image 640x480` (width, then height), `--video 8x640x480` (frames first), `--audio 30` (seconds).
inline void read_media(const arguments& args, workload& load) {
    const auto read_sizes = [&](const option_row& o, std::initializer_list<std::int64_t*> into, std::string_view example) {
        std::string_view text = args.text(o);
        std::size_t left = into.size();
        for (std::int64_t* each : into) {
            const std::size_t x = text.find('x');
            if ((x == std::string_view::npos) != (--left == 0))
                refuse(o.name, "expected " + std::string(o.value) + " such as " + std::string(example) + ", found " +
                                   in_quotes(args.text(o)));
            *each = read_number(o.name, text.substr(0, x), 1);
            text.remove_prefix(x == std::string_view::npos ? text.size() : x + 1);
        }
    };
    if (args.has(option::image)) read_sizes(option::image, {&load.image_width, &load.image_height}, "640x480");
    if (args.has(option::video))
        read_sizes(option::video, {&load.video_frames, &load.video_width, &load.video_height}, "8x640x480");
    load.images = args.number(option::images, args.has(option::image) ? 1 : 0, 0);
    load.videos = args.number(option::videos, args.has(option::video) ? 1 : 0, 0);
    if (load.videos > 0 && !args.has(option::video)) refuse(option::videos.name, "needs --video");
    if (args.has(option::audio)) load.audio_milliseconds = read_milliseconds(option::audio.name, args.text(option::audio));
}

/// The job of a command line; throws `usage` where options contradict each other.
[[nodiscard]] inline job read_job(const arguments& args) {
    detail::refuse_together(
        args, option::requests,
        {option::batch, option::sequence, option::past, option::input, option::output, option::training});
    detail::refuse_together(args, option::input, {option::sequence, option::training});
    detail::refuse_together(args, option::output, {option::sequence, option::training});
    if (args.has(option::output) && !args.has(option::input)) refuse(option::output.name, "needs --input");

    job j;
    j.base.batch = args.number(option::batch, 1);
    j.base.sequence = args.number(option::sequence, 1024, 0);
    j.no_tokens = j.base.sequence == 0;
    if (j.no_tokens) j.base.sequence = 1;
    j.base.past = args.number(option::past, 0, 0);
    j.base.encoder_sequence = args.number(option::encoder_sequence, 0, 0);
    read_media(args, j.base);
    j.base.attention = static_cast<attention_scores>(args.choice(option::attention));
    j.base.weights = args.type(option::dtype);
    j.base.activations = args.type(option::activation_dtype);
    j.base.cache = args.type(option::cache_dtype);
    j.training = args.has(option::training);
    if (j.training && j.base.past > 0) refuse(option::training.name, "a training step has no past");
    if (args.has(option::requests)) {
        j.kind = job_kind::requests;
        j.groups = read_requests(args.text(option::requests));
    } else if (args.has(option::input)) {
        j.kind = job_kind::generation;
        j.input = j.base.sequence = args.number(option::input, 1);
        j.output = args.number(option::output, 1);
        if (j.base.past + j.input > largest_input - j.output)
            refuse(option::output.name, "past, input and output are more than 2147483647 tokens together");
    }
    const logits usual = j.kind == job_kind::generation ? logits::last : logits::all;
    j.base.head = static_cast<logits>(args.choice(option::logits, static_cast<int>(usual)));
    return j;
}

/// The phases of a job: one for a pass, one for all groups of a ragged batch, prefill and decode for a whole request.
///
/// Where an encoder reads the input (`encodes`), the decoder's prefill is its first token alone.
[[nodiscard]] inline std::vector<phase> phases_of(const job& j, bool encodes = false) {
    std::vector<phase> out;
    if (j.kind == job_kind::pass) out.push_back({"pass", {{j.base, 1}}});
    if (j.kind == job_kind::requests) {
        phase all{"step", {}};
        for (const request_group& g : j.groups) {
            all.parts.push_back({g.of(j.base), 1});
        }
        out.push_back(std::move(all));
    }
    if (j.kind == job_kind::generation) {
        workload prefill = j.base;
        if (encodes) prefill.encoder_sequence = j.input, prefill.sequence = 1;
        workload step = prefill;
        step.past = prefill.past + prefill.sequence + j.media_tokens, step.sequence = 1;
        if (step.head == logits::all) step.head = logits::last;
        out.push_back({"prefill", {{prefill, 1}}, true});
        out.push_back({"decode", {}, true});
        if (j.output > 1) out.back().parts.push_back({step, j.output - 1});
    }
    return out;
}

}  // namespace llmcost::cli
