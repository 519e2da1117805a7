// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/workload_request.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE workload request_group::to_workload(workload load) const noexcept {
    load.batch = num_requests;
    load.sequence = sequence;
    load.past = past;
    if (image_width > 0) {
        load.images = 1;
        load.image_width = image_width;
        load.image_height = image_height;
    }
    return load;
}

LLMCOST_INLINE std::vector<request_group> parse_ragged_batch(std::string_view list) {
    std::vector<request_group> groups;
    const std::string_view name = option::ragged_batch.name;
    for (bool has_more = true; has_more;) {
        const std::size_t comma = list.find(',');
        std::string_view item = list.substr(0, comma);
        has_more = comma != std::string_view::npos;
        list.remove_prefix(has_more ? comma + 1 : list.size());
        request_group g;
        if (const std::size_t plus = item.find('+'); plus != std::string_view::npos) {
            const std::string_view size = item.substr(plus + 1);
            const std::size_t separator = size.find('x'), end = separator == std::string_view::npos
                                                                    ? separator
                                                                    : size.find_first_of("@x", separator + 1);
            if (separator == std::string_view::npos)
                throw_usage(name, "expected an image size such as 1024x768 after +, found " + quote(size));
            g.image_width = parse_integer(name, size.substr(0, separator), 1);
            g.image_height = parse_integer(
                name, size.substr(separator + 1, end == std::string_view::npos ? end : end - separator - 1), 1);
            const std::string_view rest = end == std::string_view::npos ? std::string_view{} : size.substr(end);
            const std::size_t count_separator = rest.find('x');
            if (count_separator != std::string_view::npos)
                g.num_requests = parse_integer(name, rest.substr(count_separator + 1), 1);
            if (rest.starts_with('@'))
                g.past = parse_integer(
                    name,
                    rest.substr(1, count_separator == std::string_view::npos ? count_separator : count_separator - 1),
                    0);
            g.sequence = parse_integer(name, item.substr(0, plus), 1);
            groups.push_back(g);
            continue;
        }
        const std::size_t times = item.find('x');
        if (times != std::string_view::npos) {
            g.num_requests = parse_integer(name, item.substr(times + 1), 1);
            item = item.substr(0, times);
        }
        const std::size_t separator = item.find('@');
        if (separator != std::string_view::npos) {
            g.past = parse_integer(name, item.substr(separator + 1), 0);
            item = item.substr(0, separator);
        }
        g.sequence = parse_integer(name, item, 1);
        groups.push_back(g);
    }
    return groups;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE void reject_combinations(const arguments& args, const option_spec& first_option,
                                        std::initializer_list<option_spec> others) {
    if (!args.has(first_option)) return;
    for (const option_spec& other_option : others)
        if (args.has(other_option))
            throw_usage(first_option.name, "cannot be combined with " + std::string(other_option.name));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void parse_multimodal_inputs(const arguments& args, workload& load) {
    const auto read_sizes = [&](const option_spec& o, std::initializer_list<std::int64_t*> targets,
                                std::string_view example) {
        std::string_view text = args.text(o);
        std::size_t left = targets.size();
        for (std::int64_t* value : targets) {
            const std::size_t x = text.find('x');
            if ((x == std::string_view::npos) != (--left == 0))
                throw_usage(o.name, "expected " + std::string(o.value) + ", e.g. " + std::string(example) + ", found " +
                                        quote(args.text(o)));
            *value = parse_integer(o.name, text.substr(0, x), 1);
            text.remove_prefix(x == std::string_view::npos ? text.size() : x + 1);
        }
    };
    if (args.has(option::image)) read_sizes(option::image, {&load.image_width, &load.image_height}, "640x480");
    if (args.has(option::video))
        read_sizes(option::video, {&load.video_frames, &load.video_width, &load.video_height}, "8x640x480");
    load.images = args.number(option::images, args.has(option::image) ? 1 : 0, 0);
    load.videos = args.number(option::videos, args.has(option::video) ? 1 : 0, 0);
    if (load.videos > 0 && !args.has(option::video)) throw_usage(option::videos.name, "requires --video");
    if (args.has(option::audio))
        load.audio_milliseconds = parse_milliseconds(option::audio.name, args.text(option::audio));
}

LLMCOST_INLINE workload_request parse_workload(const arguments& args) {
    detail::reject_combinations(
        args, option::ragged_batch,
        {option::batch, option::sequence, option::past, option::input, option::output, option::training});
    detail::reject_combinations(args, option::input, {option::sequence, option::training});
    detail::reject_combinations(args, option::output, {option::sequence, option::training});
    if (args.has(option::output) && !args.has(option::input)) throw_usage(option::output.name, "requires --input");

    workload_request j;
    j.base_workload.batch = args.number(option::batch, 1);
    j.base_workload.sequence = args.number(option::sequence, 1024, 0);
    j.has_no_text = j.base_workload.sequence == 0;
    if (j.has_no_text) j.base_workload.sequence = 1;
    j.base_workload.past = args.number(option::past, 0, 0);
    j.base_workload.encoder_sequence = args.number(option::encoder_sequence, 0, 0);
    parse_multimodal_inputs(args, j.base_workload);
    j.base_workload.attention = static_cast<attention_scores>(args.choice(option::attention));
    j.base_workload.weights = args.type(option::dtype);
    j.base_workload.activations = args.type(option::activation_dtype);
    j.base_workload.cache = args.type(option::cache_dtype);
    j.is_training = args.has(option::training);
    if (j.is_training && j.base_workload.past > 0) throw_usage(option::training.name, "cannot be combined with --past");
    if (args.has(option::ragged_batch)) {
        j.kind = workload_kind::ragged_batch;
        j.request_groups = parse_ragged_batch(args.text(option::ragged_batch));
    } else if (args.has(option::input)) {
        j.kind = workload_kind::generation;
        j.input_tokens = j.base_workload.sequence = args.number(option::input, 1);
        j.output_tokens = args.number(option::output, 1);
        if (j.base_workload.past + j.input_tokens > max_input - j.output_tokens)
            throw_usage(option::output.name, "the sum of past, input and output exceeds 2147483647 tokens");
    }
    const logits usual = j.kind == workload_kind::generation ? logits::last : logits::all;
    j.base_workload.head = static_cast<logits>(args.choice(option::logits, static_cast<int>(usual)));
    return j;
}

LLMCOST_INLINE std::vector<workload_phase> phases_of(const workload_request& j, bool encodes) {
    std::vector<workload_phase> out;
    if (j.kind == workload_kind::forward_pass) out.push_back({"pass", {{j.base_workload, 1}}});
    if (j.kind == workload_kind::ragged_batch) {
        workload_phase all{"step", {}};
        for (const request_group& g : j.request_groups) {
            all.parts.push_back({g.to_workload(j.base_workload), 1});
        }
        out.push_back(std::move(all));
    }
    if (j.kind == workload_kind::generation) {
        workload prefill = j.base_workload;
        if (encodes) {
            prefill.encoder_sequence = j.input_tokens;
            prefill.sequence = 1;
        }
        workload step = prefill;
        step.past = prefill.past + prefill.sequence + j.num_media_tokens;
        step.sequence = 1;
        if (step.head == logits::all) step.head = logits::last;
        out.push_back({"prefill", {{prefill, 1}}, true});
        out.push_back({"decode", {}, true});
        if (j.output_tokens > 1) out.back().parts.push_back({step, j.output_tokens - 1});
    }
    return out;
}

}  // namespace llmcost::cli
