// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/least_workload.hpp>
#include <llmcost/memory/quantization.hpp>

// What the weights of a checkpoint take, tensor by tensor.
namespace llmcost {

/// A tensor of a checkpoint, by the name of the reference's module.
struct weight_bytes_row {
    std::string name;
    std::uint64_t elements = 0;  ///< parameters that it holds: none in scales and the like
    std::uint64_t bytes = 0;
    std::string_view format{};  ///< type of what it is stored as
    std::string parameter{};    ///< of the model, which it holds or stands beside
};

/// All tensors of a checkpoint, and their sums.
struct stored_weights {
    std::vector<weight_bytes_row> rows;
    std::uint64_t elements = 0;
    std::uint64_t quantized = 0;  ///< those of them that are quantised
    std::uint64_t bytes = 0;
    std::vector<std::string> unmatched;  ///< words of the configuration's lists that name no module of this model

    /// The part of the parameters that is quantised, 0 to 1.
    [[nodiscard]] double share() const noexcept {
        return elements == 0 ? 0 : static_cast<double>(quantized) / static_cast<double>(elements);
    }
    /// Bytes of the tensors of one type.
    [[nodiscard]] std::uint64_t bytes_of(std::string_view format) const noexcept {
        std::uint64_t sum = 0;
        for (const weight_bytes_row& row : rows) sum += row.format == format ? row.bytes : 0;
        return sum;
    }
};

namespace detail {

/// Modules that Transformers keeps in 32 bits and so quantises in no format, by the type of the model.
///
/// Source: `_keep_in_fp32_modules` of the reference's classes, as far as it names linear layers.
struct wide_module {
    std::string_view model_type;
    std::string_view ending;
};
inline constexpr wide_module wide_modules[]{
    {"t5", "wo"},
    {"mt5", "wo"},
    {"umt5", "wo"},
    {"pop2piano", "wo"},
    {"udop", "wo"},
    {"axk2", "indexer.weights_proj"},
    {"deepseek_v32", "indexer.weights_proj"},
    {"glm_moe_dsa", "indexer.weights_proj"},
    {"mistral_large4", "indexer.weights_proj"},
    {"deepseek_v4", "self_attn.compressor.kv_proj"},
    {"deepseek_v4", "self_attn.compressor.gate_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.kv_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.gate_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.scorer.weights_proj"},
};

/// Names that a checkpoint may use for a module: that of the reference's class, and what it was called before models that
/// see or hear were taken apart (transformers/conversion_mapping.py).
inline std::vector<std::string> names_of_module(const std::string& path) {
    std::vector<std::string> out{path};
    if (!path.starts_with("model.")) return out;
    constexpr std::string_view words = "model.language_model.";
    if (path.starts_with(words)) {
        const std::string inner = path.substr(words.size());
        out.push_back("model." + inner), out.push_back("language_model.model." + inner),
            out.push_back("language_model." + inner);
    } else {
        out.push_back(path.substr(6));
    }
    return out;
}

/// What a parameter is to a format.
enum class weight_kind : std::uint8_t { other, linear, relative, grouped, turned, embedding, experts };

/// A tensor of experts and the linear layers that it was made of; any other was one layer of its own name, from the
/// model's width.
struct expert_tensor {
    string_ref tensor;
    std::span<const string_ref> parts;
    bool to_width;  ///< gives the model's width, and does not take it
};
inline constexpr string_ref gate_and_up[]{"gate_proj", "up_proj"}, only_down[]{"down_proj"};
inline constexpr expert_tensor expert_tensors[]{{"gate_up_proj", gate_and_up, false}, {"down_proj", only_down, true}};

/// A parameter as a walk told it.
struct told_weight {
    std::size_t module;
    std::string_view name;
    weight_kind kind;
    std::vector<std::int64_t> sizes;
    bool head = false;                       ///< gives scores of words
    bool unpacked = false;                   ///< of experts that are made linear layers
    const expert_tensor* made_of = nullptr;  ///< where the table of experts' tensors has it

    /// How many linear layers an expert's part of it was.
    [[nodiscard]] std::int64_t layers() const noexcept { return made_of == nullptr ? 1 : std::ssize(made_of->parts); }
};

/// Hears of parameters and of what the plan's lists say of the modules that hold them.
class weights_listener final : public listener {
public:
    struct module_told {
        std::string path;
        std::string_view prefix, base;
    };

    weights_listener(const quantization& plan, std::int64_t words) : words_(words) {
        for (const module_rule& rule : plan.kept) rules_.push_back(&rule);
        for (const quantization_group& group : plan.groups)
            for (const module_rule& rule : group.targets) rules_.push_back(&rule);
        met_.resize(rules_.size());
    }

    void enter(const recorder&, const module_info& m) override {
        std::string path = open_.empty() ? std::string() : modules_[open_.back().at].path;
        const std::string_view name = m.name;
        if (!name.empty()) path.append(path.empty() ? "" : ".").append(name);
        if (m.index >= 0) path.append(path.empty() ? "" : ".").append(std::to_string(m.index));
        meet(names_of_module(path), m.type.base);
        open_.push_back({modules_.size(), m.what});
        modules_.push_back({std::move(path), m.type.prefix, m.type.base});
    }
    void leave(const recorder&, const module_info&) override { open_.pop_back(); }
    void parameter(const recorder&, literal name, const value& v, bool tied) override {
        if (tied) return;
        const module_told& m = modules_[open_.back().at];
        told_weight w{open_.back().at, name, kind_of(m, name, v.rank), {v.size, v.size + v.rank}, false, false};
        w.head = open_.back().what == role::head && v.rank == 2 && v.size[0] == words_;
        w.unpacked = m.prefix == "Llama4" && m.base == "TextExperts";
        if (w.kind == weight_kind::experts) {
            const auto row =
                std::ranges::find_if(expert_tensors, [&](const expert_tensor& e) { return e.tensor == w.name; });
            if (row != std::end(expert_tensors)) w.made_of = row;
            for (const std::string& matrix : matrices_of(w)) meet(names_of_module(matrix), "Linear");
        }
        weights_.push_back(std::move(w));
    }

    [[nodiscard]] const std::vector<told_weight>& weights() const noexcept { return weights_; }
    [[nodiscard]] const module_told& module_of(const told_weight& w) const { return modules_[w.module]; }
    [[nodiscard]] bool has_module_below(const std::string& path) const {
        return std::ranges::any_of(modules_, [&](const module_told& m) {
            return m.path.starts_with(path) && m.path.size() > path.size() && m.path[path.size()] == '.';
        });
    }
    [[nodiscard]] std::vector<std::string> unmet() const {
        std::vector<std::string> out;
        for (std::size_t i = 0; i < rules_.size(); ++i)
            if (!met_[i] && rules_[i]->told) out.push_back(rules_[i]->text);
        return out;
    }
    /// The linear layers that a tensor of experts was: those of the first expert stand for all.
    [[nodiscard]] std::vector<std::string> matrices_of(const told_weight& w) const {
        const std::string one = modules_[w.module].path + ".0.";
        if (w.made_of == nullptr) return {one + std::string(w.name)};
        std::vector<std::string> out;
        for (const string_ref part : w.made_of->parts) out.push_back(one + std::string(part));
        return out;
    }
    /// Whether a rule means a module by one of its names or its class.
    [[nodiscard]] static bool means(const module_rule& rule, const std::vector<std::string>& names, std::string_view type) {
        if (rule.means == module_rule::kind::name && rule.text == type) return true;
        return std::ranges::any_of(names, [&](const std::string& name) { return rule.names(name); });
    }

private:
    struct open_module {
        std::size_t at;
        role what;
    };
    void meet(const std::vector<std::string>& names, std::string_view type) {
        for (std::size_t i = 0; i < rules_.size(); ++i)
            if (!met_[i] && means(*rules_[i], names, type)) met_[i] = true;
    }
    static weight_kind kind_of(const module_told& m, std::string_view name, int rank) {
        if (rank == 3 && m.path.ends_with(".experts") && name.ends_with("_proj")) return weight_kind::experts;
        if (name != "weight" || rank != 2) return weight_kind::other;
        if (m.base == "Linear") return m.prefix.empty() ? weight_kind::linear : weight_kind::relative;
        if (m.base == "NonDynamicallyQuantizableLinear") return weight_kind::relative;
        if (m.base == "GroupedLinear") return weight_kind::grouped;
        if (m.base == "Conv1D") return weight_kind::turned;
        return m.base == "Embedding" ? weight_kind::embedding : weight_kind::other;
    }

    std::int64_t words_;
    std::vector<open_module> open_;
    std::vector<module_told> modules_;
    std::vector<told_weight> weights_;
    std::vector<const module_rule*> rules_;
    std::vector<bool> met_;
};

/// Puts the tensors of a plan in the place of those that a walk told.
class weights_writer {
public:
    weights_writer(const model& m, const quantization& plan, dtype otherwise, const weights_listener& heard,
                   stored_weights& out)
        : plan_(plan), otherwise_(otherwise), heard_(heard), out_(out) {
        for (const wide_module& w : wide_modules)
            if (plan.keeps_32_bits && (is(m.kind, w) || is(m.text, w))) wide_.push_back(w.ending);
        for (const std::string& block : plan.blocks)
            if (heard.has_module_below(block)) {
                block_ = block + ".";
                break;
            }
        hidden_ = m.dims.hidden_size;
    }

    void write() {
        const std::vector<told_weight>& all = heard_.weights();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool kept = plan_.keeps_head && (all[i].head || i + 1 == all.size());
            const weight_layout* how = kept ? nullptr : layout_of(all[i]);
            if (how != nullptr && how->whole_blocks && inputs_of(all[i]) % how->block_inputs != 0) how = nullptr;
            how == nullptr ? keep(all[i]) : quantize(all[i], *how);
        }
    }

private:
    static bool is(const architecture* kind, const wide_module& w) {
        return kind != nullptr && std::string_view(kind->model_type) == w.model_type;
    }
    [[nodiscard]] bool reaches(const told_weight& w) const {
        switch (w.kind) {
            case weight_kind::other: return false;
            case weight_kind::linear: return plan_.reach.linear;
            case weight_kind::relative: return plan_.reach.relatives;
            case weight_kind::grouped: return plan_.reach.grouped;
            case weight_kind::turned: return plan_.reach.turned;
            case weight_kind::embedding: return plan_.reach.embedding;
            case weight_kind::experts: break;
        }
        return plan_.reach.experts == expert_reach::all || (plan_.reach.experts == expert_reach::unpacked && w.unpacked);
    }
    /// How a weight is stored; nothing where it stays as it is.
    [[nodiscard]] const weight_layout* layout_of(const told_weight& w) const {
        const std::string& path = heard_.module_of(w).path;
        const bool outside = !plan_.blocks.empty() && (block_.empty() || !path.starts_with(block_));
        if (outside || !reaches(w)) return nullptr;
        const bool wide = std::ranges::any_of(wide_, [&](std::string_view ending) { return path.ends_with(ending); });
        if (wide) return nullptr;
        const bool experts = w.kind == weight_kind::experts;
        std::vector<std::string> names = names_of_module(path);
        if (experts)
            for (const std::string& matrix : heard_.matrices_of(w))
                for (std::string& name : names_of_module(matrix)) names.push_back(std::move(name));
        const std::string_view type = w.kind == weight_kind::embedding ? "Embedding" : "Linear";
        const auto means = [&](const module_rule& rule) { return weights_listener::means(rule, names, type); };
        if (std::ranges::any_of(plan_.kept, means)) return nullptr;
        for (const quantization_group& group : plan_.groups) {
            // a table is quantised where a list names it, a linear layer where none does
            const bool named =
                group.targets.empty() ? w.kind != weight_kind::embedding : std::ranges::any_of(group.targets, means);
            if (named) return experts && group.experts ? &*group.experts : &group.layout;
        }
        return nullptr;
    }
    /// Experts lie outputs × inputs or the other way round; the width that is the model's tells them apart.
    [[nodiscard]] bool turned(const told_weight& w) const {
        if (w.kind != weight_kind::experts) return w.kind == weight_kind::turned;
        const bool down = w.made_of != nullptr && w.made_of->to_width;
        const std::int64_t in = w.sizes[2], out = w.sizes[1];
        return down ? out != hidden_ && in == hidden_ : in != hidden_ && out == hidden_;
    }
    [[nodiscard]] std::int64_t inputs_of(const told_weight& w) const {
        return w.sizes[w.sizes.size() - (turned(w) ? 2 : 1)];
    }

    void add(std::string name, const told_weight& w, std::uint64_t elements, count bytes, std::string_view format) {
        out_.rows.push_back({std::move(name), elements, bytes.to_64(), format, name_of_parameter(w)});
        out_.elements = (count(out_.elements) + count(elements)).to_64();
        out_.bytes = (count(out_.bytes) + bytes).to_64();
    }
    [[nodiscard]] static std::uint64_t elements_of(const told_weight& w) {
        count n = 1;
        for (const std::int64_t size : w.sizes) n *= count(size);
        return n.to_64();
    }
    [[nodiscard]] std::string name_of_parameter(const told_weight& w) const {
        const std::string& path = heard_.module_of(w).path;
        return path.empty() ? std::string(w.name) : path + "." + std::string(w.name);
    }
    [[nodiscard]] std::string name_of_tensor(const told_weight& w, std::string_view tensor) const {
        std::string name = name_of_parameter(w);
        if (w.kind != weight_kind::experts) return name.replace(name.size() - w.name.size(), w.name.size(), tensor);
        if (tensor.starts_with("weight")) return name.append(tensor.substr(6));
        return name.append(tensor.starts_with("_") ? "" : "_").append(tensor);
    }
    void keep(const told_weight& w) {
        const std::uint64_t elements = elements_of(w);
        const count bits = count(elements) * count(bits_of(otherwise_));
        add(name_of_parameter(w), w, elements, (bits + count(7)) / count(8), name_of(otherwise_));
    }
    void quantize(const told_weight& w, const weight_layout& how) {
        const bool experts = w.kind == weight_kind::experts;
        std::int64_t outputs = w.sizes[w.sizes.size() - 2], inputs = w.sizes.back();
        if (turned(w)) std::swap(outputs, inputs);
        const count matrices = (experts ? count(w.sizes[0]) : count(1)) * count(w.layers());
        outputs /= w.layers();
        const std::uint64_t elements = elements_of(w);
        add(name_of_tensor(w, how.numbers), w, elements, matrices * bytes_of_numbers(how, outputs, inputs), how.type);
        for (const tensor_beside& t : how.beside)
            add(name_of_tensor(w, t.name), w, 0, matrices * bytes_of_beside(how, t, outputs, inputs, otherwise_),
                t.type.empty() ? std::string_view(name_of(otherwise_)) : t.type);
        out_.quantized = (count(out_.quantized) + count(elements)).to_64();
    }

    const quantization& plan_;
    dtype otherwise_;
    const weights_listener& heard_;
    stored_weights& out_;
    std::vector<std::string_view> wide_;
    std::string block_;
    std::int64_t hidden_ = 0;
};

}  // namespace detail

/// The tensors of a checkpoint as its plan says; `otherwise` is the type of weights that are not quantised, by default that
/// of the configuration, else of the plan, else float32.
///
/// Tied weights are stored once, under the name that comes first and never quantised as a head. Buffers are no weights.
/// Throws `overflow_error` where a figure passes 64 bits.
[[nodiscard]] inline stored_weights quantized_weights(const model& m, const quantization& plan,
                                                      dtype otherwise = dtype::unspecified) {
    if (otherwise == dtype::unspecified) otherwise = m.dims.type;
    if (otherwise == dtype::unspecified) otherwise = plan.otherwise;
    if (otherwise == dtype::unspecified) otherwise = dtype::float32;
    stored_weights out;
    detail::weights_listener ear{plan, m.dims.vocab_size};
    const workload any = least_workload(m);
    trace t{resolved(any, types_of(m, any)), &ear};
    m.describe(t);
    detail::weights_writer{m, plan, otherwise, ear, out}.write();
    out.unmatched = ear.unmet();
    return out;
}

}  // namespace llmcost
