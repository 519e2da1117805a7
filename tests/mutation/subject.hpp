// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include "program_subject.hpp"

#include "../golden/golden_compare.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace llmcost::testing {

/// A hash that is no sum of others: splitmix64 after every word.
class mixer {
public:
    constexpr mixer& operator<<(std::uint64_t bits) noexcept {
        state_ += bits + 0x9e3779b97f4a7c15U;
        state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9U;
        state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebU;
        state_ ^= state_ >> 31;
        return *this;
    }
    constexpr mixer& operator<<(std::string_view text) noexcept {
        std::uint64_t letters = 0xcbf29ce484222325U;
        for (const char c : text) letters = (letters ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        return *this << letters << text.size();
    }
    constexpr mixer& operator<<(count n) noexcept {
        return *this << static_cast<std::uint64_t>(n.to_uint128()) << static_cast<std::uint64_t>(n.to_uint128() >> 64);
    }
    [[nodiscard]] constexpr std::uint64_t digest() const noexcept { return state_; }

private:
    std::uint64_t state_ = 0;
};

/// What a golden records of a listed walk, in one number and the classes by path.
///
/// As in a golden, the order of modules means nothing, and a module that has done nothing may be missing.
class print_listener final : public listener {
public:
    /// `roles`: what a golden does not record and people can ask for; `figures`: not only tensors and classes.
    explicit print_listener(bool roles = false, bool figures = true) : roles_(roles), figures_(figures) {}

    void on_module_enter(const recorder& r, const module_info& m) override {
        std::uint64_t parent = open_.empty() ? 0 : open_.back().path;
        if (m.index >= 0) {
            parent = (mixer{} << parent << m.name).digest();
            classes.insert((mixer{} << parent << "ModuleList").digest());
        }
        const std::uint64_t path = m.index >= 0 ? (mixer{} << parent << static_cast<std::uint64_t>(m.index)).digest()
                                                : (mixer{} << parent << m.name).digest();
        const std::string type = std::string(m.class_of_module.prefix) + m.class_of_module.suffix;
        classes.insert((mixer{} << path << type).digest());
        if (roles_) sum += (mixer{} << path << static_cast<std::uint64_t>(m.module_role)).digest();
        open_.push_back({path, m.index >= 0 ? parent : 0, so_far(r)});
    }
    void on_module_leave(const recorder& r, const module_info&) override {
        const open_scope top = open_.back();
        open_.pop_back();
        if (!figures_) return;
        const columns now = so_far(r);
        for (const std::uint64_t path : {top.path, top.list})
            for (std::size_t i = 0; path != 0 && i < now.size(); ++i)
                if (now[i] != top.initial_totals[i])
                    sum += (mixer{} << path + i).digest() * (now[i] - top.initial_totals[i]);
    }
    void on_op(const recorder& r, const operation& o) override {
        if (!figures_) return;
        const op_cost& p = op_cost_of(o.kind);
        const std::uint64_t work = low(o.work * r.multiplier()), rows = low(o.rows * r.multiplier());
        for (std::size_t i = 0; i < num_primitives; ++i)
            done_[i] += static_cast<std::uint64_t>(std::int64_t{p.per_work.*primitive_members<std::int8_t>[i]}) * work +
                        static_cast<std::uint64_t>(std::int64_t{p.per_row.*primitive_members<std::int8_t>[i]}) * rows;
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        mixer h;
        h << open_.back().path << name << std::uint64_t{tied};
        if (!tied) add_sizes(h, v);
        sum += h.digest();
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        if (!figures_) return;
        std::uint64_t layer = 0;
        for (const open_scope& s : open_)
            if (layer == 0 && s.list != 0) layer = s.path;
        if (layer != cached_layer_) {
            cached_layer_ = layer;
            ++cached_layers_;
            cached_tensors_ = 0;
        }
        mixer h;
        h << "cache" << cached_layers_ << ++cached_tensors_;
        add_sizes(h, v);
        sum += h.digest();
    }

    std::uint64_t sum = 0;
    std::unordered_set<std::uint64_t> classes;

private:
    /// A golden's figures, their last 64 bits.
    using columns = std::array<std::uint64_t, num_primitives + 2>;
    struct open_scope {
        std::uint64_t path;
        std::uint64_t list;
        columns initial_totals;
    };
    [[nodiscard]] static std::uint64_t low(count n) { return static_cast<std::uint64_t>(n.to_uint128()); }
    [[nodiscard]] columns so_far(const recorder& r) const {
        columns now = done_;
        now[num_primitives] = low(r.totals().module_output_elements);
        now[num_primitives + 1] = low(r.totals().written_elements);
        return now;
    }
    static void add_sizes(mixer& h, const tensor& v) {
        for (int i = 0; i < v.rank; ++i) h << static_cast<std::uint64_t>(v.size[i]);
    }

    std::vector<open_scope> open_;
    columns done_{};
    std::uint64_t cached_layer_ = 0, cached_layers_ = 0, cached_tensors_ = 0;
    bool roles_;
    bool figures_;
};

[[nodiscard]] inline std::uint64_t total_print(const llmcost::model_metrics& f) {
    mixer h;
    for (const count n : columns_of(f)) h << n;
    return (h << f.torch_flops << f.cache_elements).digest();
}
[[nodiscard]] inline std::uint64_t training_print(const llmcost::model_metrics& f, bool with_backward) {
    mixer h;
    for (const auto primitive : primitive_members<count>)
        if (with_backward) h << f.backward.*primitive;
    return (h << f.torch_flops << f.backward_torch_flops << f.saved_bytes).digest();
}

/// What became of a golden when something was changed.
enum class outcome : std::uint8_t { green, red, refused };

/// A golden with its configuration, the model that it makes, and what the library says of that unchanged.
class subject {
public:
    explicit subject(golden_file golden)
        : golden_(std::move(golden)),
          document_(read_config_file(golden_.config_path.string())),
          row_(parts::registry.find(golden_.model_type)),
          built_(read(*row_)) {
        print();
    }

    [[nodiscard]] const golden_file& golden() const noexcept { return golden_; }
    [[nodiscard]] const model_spec& row() const noexcept { return *row_; }
    [[nodiscard]] const model& built() const noexcept { return built_; }
    /// What the configuration says through another row.
    [[nodiscard]] model read(const model_spec& row) const {
        return document_.read_with([&](config_view root) { return parts::registry.parse_with(row, root); });
    }

    /// A mixer that the configuration has no sizes for gets the smallest: a division by zero is no difference.
    static void lend_sizes(model_config& config) {
        if (config.mla == mla_config{}) config.mla = {0, 1, 1, 2, 1};
        for (std::int64_t* n :
             {&config.ssm.state_size, &config.ssm.conv_kernel, &config.ssm.intermediate_size,
              &config.ssm.time_step_rank, &config.ssm.n_groups, &config.ssm.num_heads, &config.ssm.head_dim,
              &config.ssm.chunk_size, &config.delta.num_key_heads, &config.delta.num_value_heads,
              &config.delta.key_head_dim, &config.delta.value_head_dim, &config.delta.conv_kernel})
            if (*n == 0) *n = 1;
    }
    /// Whether the golden turns red: cheap figures first, those that a change of a name shows, and no further than the
    /// first difference.
    [[nodiscard]] outcome hold(model m, bool names = false) const try {
        lend_sizes(m.config);
        if (names && !holds_list(m)) return outcome::red;
        if (!holds_runs(m) || !holds_trainings(m)) return outcome::red;
        return names || holds_list(m) ? outcome::green : outcome::red;
    } catch (const std::exception&) {
        return outcome::refused;
    }
    /// Verifies a row, with which the configuration is parsed again.
    [[nodiscard]] outcome hold(const model_spec& row, bool names = false) const try {
        return hold(read(row), names);
    } catch (const std::exception&) {
        return outcome::refused;
    }

    /// Whether nothing at all changes, in workloads that no golden has: other logits, sparse scores, roles of modules.
    [[nodiscard]] bool has_no_effect(model m) const try {
        lend_sizes(m.config);
        for (std::size_t i = 0; i < others_.size(); ++i)
            if (compute_fingerprint(m, other_workloads()[i]) != others_[i]) return false;
        return true;
    } catch (const std::exception&) {
        return false;
    }

    /// Whether the golden stays green under the prices of now, which change nothing but sums.
    [[nodiscard]] bool holds_prices() const { return holds_trainings(built_) && holds_runs(built_); }
    /// What the recorded runs execute.
    [[nodiscard]] const operation_census& census() const noexcept { return census_; }

    /// How long a walk is: so many operations.
    [[nodiscard]] std::size_t length() const noexcept { return census_.operations; }

private:
    [[nodiscard]] bool holds_runs(const model& m) const {
        for (std::size_t i = 0; i < golden_.runs.size(); ++i)
            if (golden_.runs[i].unknown.empty() &&
                total_print(count_model(m, workload_of(golden_.runs[i]))) != totals_[i])
                return false;
        return true;
    }
    [[nodiscard]] bool holds_list(const model& m) const {
        const print_listener now = listed(m);
        if (now.sum != listed_sum_) return false;
        for (const std::uint64_t type : now.classes)
            if (!listed_classes_.contains(type)) return false;
        return true;
    }
    [[nodiscard]] bool holds_trainings(const model& m) const {
        for (std::size_t i = 0; i < golden_.trainings.size(); ++i)
            if (training_print(count_model(m, workload_of(golden_.trainings[i])), golden_.trainings[i].has_backward) !=
                trainings_[i])
                return false;
        return true;
    }
    void note_operations(const workload& load) {
        trace t{with_storage_types(load, storage_types_of(built_, load)), &census_};
        built_.trace_with_loss(t);
    }
    void print() {
        const model& m = built_;
        for (const golden_run& run : golden_.runs) note_operations(workload_of(run));
        for (const golden_training& step : golden_.trainings) note_operations(workload_of(step));
        for (const golden_run& run : golden_.runs) totals_.push_back(total_print(count_model(m, workload_of(run))));
        for (const golden_training& step : golden_.trainings)
            trainings_.push_back(training_print(count_model(m, workload_of(step)), step.has_backward));
        print_listener now = listed(m);
        for (const workload& load : other_workloads()) others_.push_back(compute_fingerprint(m, load));
        listed_sum_ = now.sum;
        listed_classes_ = std::move(now.classes);
    }
    /// The run whose modules the golden has; where it has none, tensors and classes.
    [[nodiscard]] print_listener listed(const model& m) const {
        const auto run = std::find_if(golden_.runs.begin(), golden_.runs.end(),
                                      [](const golden_run& r) { return r.modules.has_value(); });
        const bool figures = run != golden_.runs.end();
        print_listener listener{false, figures};
        const workload load = figures ? workload_of(*run) : workload{.sequence = 3, .weights = dtype::float32};
        trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
        m.trace_with_loss(t);
        return listener;
    }
    [[nodiscard]] static std::vector<workload> other_workloads() {
        return {
            {.batch = 2,
             .sequence = 5,
             .head = logits::last,
             .attention = attention_scores::causal,
             .weights = dtype::float32},
            {.batch = 1, .sequence = 3, .past = 9, .head = logits::none, .weights = dtype::float32},
            {.batch = 2, .sequence = 3, .weights = dtype::bfloat16, .activations = dtype::bfloat16, .training = true}};
    }
    /// What a workload gives that no golden has; 0 where the model refuses it.
    [[nodiscard]] static std::uint64_t compute_fingerprint(const model& m, const workload& load) try {
        print_listener listener{true};
        trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
        m.trace_with_loss(t);
        const llmcost::model_metrics f = count_model(m, load);
        mixer h;
        h << total_print(f) << training_print(f, true) << f.params << f.active_params << f.weight_bytes << f.cache_bytes
          << listener.sum;
        std::uint64_t classes = 0;
        for (const std::uint64_t type : listener.classes) classes += type;
        return (h << classes).digest();
    } catch (const std::exception&) {
        return 0;
    }

    golden_file golden_;
    config_document document_;
    const model_spec* row_;
    model built_;
    std::vector<std::uint64_t> totals_;
    operation_census census_;
    std::vector<std::uint64_t> others_;
    std::vector<std::uint64_t> trainings_;
    std::uint64_t listed_sum_ = 0;
    std::unordered_set<std::uint64_t> listed_classes_;
};

/// Every golden of a known type, in the order of their names.
[[nodiscard]] inline const std::vector<subject>& subjects() {
    static const std::vector<subject> all = [] {
        std::vector<subject> found;
        for (const std::filesystem::path& path : golden_paths(golden_folder()))
            if (golden_file golden = read_golden(path); parts::registry.find(golden.model_type) != nullptr)
                found.emplace_back(std::move(golden));
        return found;
    }();
    return all;
}

}  // namespace llmcost::testing
