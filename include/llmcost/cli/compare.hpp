// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/cli/command.hpp>
#include <llmcost/cli/compare_page.hpp>
#include <llmcost/cli/find_metric.hpp>
#include <llmcost/cli/memory.hpp>
#include <llmcost/cli/shell.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sums.hpp>
#include <llmcost/cli/sweep.hpp>
#include <llmcost/cli/understand.hpp>

// `llmcost compare`: figures of models beside each other, what of them differs and how many times as much it is.
namespace llmcost::cli {

namespace detail {

/// Whether a word asks for something rather than names a model: a metric, a role, or a class, path or pattern.
inline bool is_query_word(std::string_view word, const program& io) {
    if (find_metric(word) != nullptr || role_from(word) != role::none || word == "all") return true;
    const bool path = word.find('/') != std::string_view::npos || word.ends_with(".json") || word.ends_with(".gguf");
    const bool scope = word.find('*') != std::string_view::npos || word.find('.') != std::string_view::npos;
    return !path && scope && find_bundled(io.bundled, word) == nullptr;
}

/// Whether a word is nearly a metric or a role, and no name of a model that is known here.
inline bool is_nearly_query_word(std::string_view word, const program& io) {
    std::error_code none;
    if (word.find('/') != std::string_view::npos || find_bundled(io.bundled, word) != nullptr ||
        std::filesystem::exists(std::filesystem::path(std::string(word)), none))
        return false;
    nearest_names near(word);
    for (const metric& m : metrics) near.offer(m.name);
    for (const std::string_view name : role_names) near.offer(name);
    return near.is_near();
}

/// Takes the figures of models, one by one.
class comparing final : public subject_sink {
public:
    comparing(const sweep& work, const arguments& given, const program& io)
        : work_(work), given_(given), io_(io), by_(engine_memory_of(given)) {}

    void put(const read_subject& read) override {
        try {
            compared_model out{read.found.who.name,
                               read.found.who.type.value_or(std::string(read.subject.kind->model_type))};
            for (std::size_t i = 0; i < work_.size(); ++i) {
                const arguments asked = work_.at(i);
                const question q = understand(asked, read, io_.commands);
                if (figures_.empty()) choose_figures(q);
                compared_work one{printable(name_of_scope(q)), {}, {}, {}};
                for (const workload_column* c : columns_of_workload(given_, work_, true))
                    one.workload.push_back(c->of(q, asked));
                one.sentence = sentence_of(one.workload);
                one.values = values_of(q, read);
                out.works.push_back(std::move(one));
            }
            models_.push_back(std::move(out));
        } catch (const error& e) {
            if (e.code() == errc::usage) problem_ = std::current_exception();
            throw;
        }
    }
    void fail(std::string name, std::string problem) override {
        if (problem_) std::rethrow_exception(problem_);
        throw error(errc::bad_value, name, problem);
    }
    [[nodiscard]] comparison taken() && {
        return {std::move(models_), std::move(figures_), columns_of_workload(given_, work_, true), work_.any()};
    }

private:
    void choose_figures(const question& q) {
        const auto add = [&](std::string_view name, const metric* m, bool bytes) {
            figures_.push_back({std::string(name), m, bytes});
        };
        std::vector<const metric*> list = metrics_of(q.asked, true, q.work.base.has_media());
        if (q.asked.asked.empty()) {
            for (const std::string_view first :
                 {"cache_bytes", "weight_bytes", "macs", "torch_flops", "active_flops", "flops", "active", "params"}) {
                const auto at = std::find(list.begin(), list.end(), find_metric(first));
                if (at != list.end()) std::rotate(list.begin(), at, at + 1);
            }
        }
        for (const metric* m : list) add(m->name, m, is_bytes(*m));
        if (!q.asked.empty()) return;
        add(per_token, nullptr, true);
        add(held, nullptr, true);
    }
    [[nodiscard]] std::string sentence_of(const std::vector<std::string>& values) const {
        std::string out;
        const auto columns = columns_of_workload(given_, work_, true);
        for (std::size_t i = 0; i < columns.size(); ++i)
            out += (out.empty() ? "" : ", ") + std::string(columns[i]->title) + ' ' +
                   (columns[i]->is_number() ? grouped(values[i]) : values[i]);
        return out;
    }
    std::vector<std::optional<count>> values_of(const question& q, const read_subject& read) {
        std::vector<const metric*> list;
        for (const compared_figure& f : figures_)
            if (f.of != nullptr && f.name != "saved_bytes") list.push_back(f.of);
        const figures f = read_scope(q, list).total.front();
        const bool works = !q.asked.scope || q.asked.scope->kind != scope_kind::parameter;
        std::vector<std::optional<count>> out;
        for (const compared_figure& figure : figures_) {
            std::optional<count>& value = out.emplace_back();
            const bool pass = q.work.kind == job_kind::pass;
            if (figure.name == "saved_bytes") {
                if (pass && q.work.base.past == 0) value = read_scope(q, {figure.of}).total.front().saved_bytes;
            } else if (figure.of != nullptr) {
                if (works || is_parameter_metric(*figure.of)) value = figure.of->of(f);
            } else if (figure.name == per_token) {
                value = cache_bytes_per_token(q.subject, q.work.base);
            } else if (pass) {
                workload load = q.work.base;
                load.head = logits::last;
                value = inference_memory_of(q.subject, load, by_, bytes_of_weights(read)).total();
            }
        }
        return out;
    }
    static constexpr std::string_view per_token = "cache_bytes_per_token", held = "memory_bytes";

    const sweep& work_;
    const arguments& given_;
    const program& io_;
    engine_memory by_;
    std::vector<compared_model> models_;
    std::vector<compared_figure> figures_;
    std::exception_ptr problem_;
};

}  // namespace detail

/// What `llmcost compare` prints.
[[nodiscard]] inline answered compare_answer(const arguments& typed, const program& io) {
    arguments given = typed;
    std::size_t names = 0;
    if (!given.has(option::model) && !given.has(option::config))
        while (names < given.words().size() && !detail::is_query_word(given.words()[names], io) &&
               !(names > 1 && detail::is_nearly_query_word(given.words()[names], io)))
            ++names;
    given.take_words(option::model, names);
    const sweep work(given, swept_options);
    (void)read_job(work.at(0));
    check_plot(given, true, {});
    detail::comparing models(work, given, io);
    if (!io.read_each(given, io, models)) refuse("compare", "needs two models or more: llmcost compare A B");
    return written_comparison(std::move(models).taken(), given, work);
}

/// What may stand behind `compare`: models, then metrics and a scope.
[[nodiscard]] inline std::vector<std::string_view> compare_words(const program& io) {
    std::vector<std::string_view> words = bundled_names(io);
    for (const metric& m : metrics) words.push_back(m.name);
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) words.push_back(name);
    return words;
}

inline constexpr std::array compare_options =
    joined(model_options, swept_options, std::array{option::image, option::images, option::video, option::videos, option::audio},
           std::array{option::requests, option::logits, option::attention, option::dtype, option::quantization,
                      option::activation_dtype, option::cache_dtype, option::allocator, option::format, option::plot},
           help_option);

inline constexpr std::array<example_row, 4> compare_examples{{
    {"llmcost compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B", "all figures side by side"},
    {"llmcost compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B google/gemma-2-2b mult attn", "of one scope"},
    {"llmcost compare old/config.json new/config.json --format markdown", "what a change costs, for a review"},
    {"llmcost compare Qwen/Qwen3-8B meta-llama/Llama-3.1-8B --sequence 1024..131072:x2 flops --plot out.svg", "as lines"},
}};

inline constexpr command compare_command{
    .name = "compare",
    .meaning = "models side by side: differences and ratios",
    .usage = "MODEL MODEL... [option]... [metric]... [scope]",
    .about =
        "Figures of models beside each other. MODEL is a name or a file, as of --model;\n"
        "the first one is what the others are held against. Metrics and a scope as of\n"
        "llmcost alone; without: parameters, counts, cache, what training keeps, memory.\n",
    .options = compare_options,
    .answer = compare_answer,
    .examples = compare_examples,
    .words = compare_words};

}  // namespace llmcost::cli
