// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/config/reader.hpp>
#include <llmcost/custom/program_executor.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

namespace custom {

/// A model spec whose forward pass is a program.
struct custom_model_spec : model_spec {
    program definition;
    mutable name_storage made_names;  ///< module names created by traces, for listeners that read them later
};

inline tensor forward_program(const layer_context& ctx, trace& t) {
    const auto& row = static_cast<const custom_model_spec&>(ctx.spec);
    return program_executor{row.definition, row.made_names, t}.run();
}

/// Parses a description of a custom model.
class custom_model_parser {
public:
    custom_model_parser(custom_model_spec& spec, const model_registry* known) : p_(spec.definition), known_(known) {}

    void read(config_view root) {
        check_keys(root, {"name", "class", "sizes", "variants", "inputs", "blocks", "layers", "output", "image_size",
                          "configuration", "dtype", "torch_dtype"});
        p_.type = p_.keep(root.find("class") ? as_view(root.string("class")) : std::string_view{"Model"});
        read_sizes(root);
        check_variants(root);
        read_image(root);
        p_.blocks.emplace_back();
        if (const auto all = root.optional_object("blocks"))
            for (const config_view entry : *all) read_block(entry);
        read_root_block(root);
    }
    [[nodiscard]] const global_names& names() const noexcept { return names_; }

private:
    void read_sizes(config_view root) {
        const auto all = root.optional_object("sizes");
        if (!all) return;
        for (const config_view entry : *all) {
            const std::string name(as_view(entry.key()));
            check_name(entry, name);
            if (!entry.is_array()) {
                names_.insert(name, meaning{meaning::symbol_kind::number, read_constant(entry)});
                continue;
            }
            std::vector<std::int64_t> list;
            for (const config_view n : entry) list.push_back(read_constant(n));
            p_.numbers.lists.push_back(std::move(list));
            names_.insert(name,
                          meaning{meaning::symbol_kind::list, static_cast<std::int64_t>(p_.numbers.lists.size() - 1)});
        }
    }
    /// Checks the variants: alternative values of sizes. The sizes already have the values of the selected variant.
    void check_variants(config_view root) const {
        const auto all = root.optional_object("variants");
        if (!all) return;
        for (const config_view variant : *all)
            for (const config_view entry : variant.as_object()) {
                const std::string_view name = as_view(entry.key());
                const meaning* const found = names_.size(name);
                if (found == nullptr) {
                    name_suggestions near(name);
                    for (const auto& [known, symbol] : names_.sizes) near.add_candidate(known);
                    refuse_at(entry, "unknown size" + near.suggestion_or_list());
                }
                if (entry.is_array() != (found->kind == meaning::symbol_kind::list))
                    refuse_at(entry, entry.is_array() ? "expected a number, because the size is a number"
                                                      : "expected a list, because the size is a list");
            }
    }
    static void check_name(config_view at, std::string_view name) {
        const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
        bool good = !name.empty() && name.size() <= 64 && letter(name.front());
        for (const char c : name) good = good && (letter(c) || (c >= '0' && c <= '9'));
        for (const std::string_view text : {"if", "else", "and", "or", "not", "in", "len", "min", "max", "ceil_div"})
            good = good && name != text;
        for (const workload_name& w : workload_names) good = good && name != w.name;
        if (!good) refuse_at(at, "expected a name of letters, digits and _ that is not reserved in expressions");
    }
    void read_image(config_view root) {
        const auto size = root.find("image_size");
        if (!size) return;
        p_.image_height = read_side(size->is_array() ? (*size)[0] : *size);
        p_.image_width = size->is_array() ? read_side((*size)[1]) : p_.image_height;
    }
    [[nodiscard]] std::int64_t read_side(config_view at) {
        const std::int64_t side = read_constant(at);
        if (side < 1 || side > max_input) throw_invalid_value(at, "a positive integer");
        return side;
    }
    /// A number that depends on sizes, but not on the workload.
    [[nodiscard]] std::int64_t read_constant(config_view at) {
        const expression e = expression_reader{p_.numbers, names_}.read(at);
        if (!e.constant()) refuse_at(at, "sizes cannot depend on the workload, only inputs and layers can");
        return e.number;
    }
    void read_block(config_view at) {
        check_keys(at, {"arguments", "input", "output", "layers"});
        block b;
        b.name = std::string(as_view(at.key()));
        if (p_.blocks.size() > 1000) refuse_at(at, "expected at most 1000 blocks");
        if (find_row(layer_table, b.name) != nullptr) refuse_at(at, "the name is that of a built-in layer");
        std::vector<config_view> defaults;
        if (const auto all = at.optional_object("arguments"))
            for (const config_view entry : *all) {
                check_name(entry, as_view(entry.key()));
                b.arguments.emplace_back(as_view(entry.key()));
                defaults.push_back(entry);
            }
        if (b.arguments.size() > 64) refuse_at(at, "expected at most 64 arguments");
        step_reader reader{p_, names_, b, known_};
        for (const config_view entry : defaults)
            b.otherwise.push_back(entry.is_null() ? std::vector<expression>{}
                                                  : std::vector<expression>{reader.number(entry)});
        if (const auto in = at.find("input"))
            b.inputs = reader.read_outputs(*in);
        else
            b.inputs = {tensor_reference{b.slots++, false}};
        b.body = reader.read_steps(at.array("layers"));
        for (const std::vector<expression>& e : b.otherwise)
            p_.bends = p_.bends || (b.bends && !e.empty() && e.front().uses_workload);
        b.contents = reader.contents_of(b.body);
        if (const auto out = at.find("output")) b.outputs = reader.read_inputs(*out);
        p_.blocks.push_back(std::move(b));
    }
    void read_root_block(config_view root) {
        block root_block;
        step_reader reader{p_, names_, root_block, known_};
        for (const config_view entry : root.object("inputs")) {
            check_keys(entry, {"shape", "dtype"});
            input in{std::string(as_view(entry.key())), reader.number_list(entry.array("shape")), false,
                     pointer_of(entry)};
            if (in.shape.size() > max_rank) refuse_at(entry, "expected at most six sizes");
            in.integers = parse_integers(entry);
            p_.inputs.push_back(std::move(in));
            root_block.inputs.push_back(reader.define_input(entry.key()));
        }
        root_block.body = reader.read_steps(root.array("layers"));
        if (const auto out = root.find("output")) root_block.outputs = reader.read_inputs(*out);
        p_.blocks.front() = std::move(root_block);
    }

    program& p_;
    const model_registry* known_;
    global_names names_{};
};

}  // namespace custom

/// A custom model that a file describes: layers and their connections. It owns everything that its `model` refers to.
class custom_model {
public:
    /// Parses a description.
    ///
    /// `known`: models whose modules it can use (`all_models` of registry.hpp); null: layers of PyTorch only.
    /// Throws: `config_error` if the description is invalid, `error` if tensor shapes do not match.
    explicit custom_model(config_view root, std::string file = {}, const model_registry* known = nullptr)
        : row_(std::make_shared<custom::custom_model_spec>()) {
        row_->model_type = "described";
        row_->forward = custom::forward_program;
        row_->accepts_any_image_size = row_->is_fixed_trace = true;
        row_->definition.file = std::move(file);
        custom::custom_model_parser reader{*row_, known};
        reader.read(root);
        row_->class_prefix = row_->definition.type;
        model_.spec = row_.get();
        model_.config = make_model_config(reader.names());
        model_.config.dtype_of_weights = detail::parse_dtype(root);
        model_.config.vision.image_height = row_->definition.image_height;
        model_.config.vision.image_width = row_->definition.image_width;
        // Shapes that do not match at one length can match at others.
        if (row_->definition.bends) return;
        workload first;
        first.sequence = 8;
        trace t{first};
        model_.trace_with_loss(t);
    }

    /// The model. It refers to this object.
    [[nodiscard]] const model& as_model() const noexcept { return model_; }
    /// Names and shapes of the inputs for a workload, in the order of the file.
    ///
    /// Throws: `error` if a size is invalid.
    [[nodiscard]] std::vector<std::pair<std::string_view, shape>> inputs(const workload& load) const {
        trace t{load};
        custom::program_executor w(row_->definition, row_->made_names, t);
        std::vector<std::pair<std::string_view, shape>> out;
        for (const custom::input& in : row_->definition.inputs) out.emplace_back(in.name, w.input_sizes(in));
        return out;
    }
    /// True if a configuration is a description of a custom model: it has layers and inputs.
    [[nodiscard]] static bool is_custom_model(config_view root) {
        if (!root.is_object()) return false;
        const auto layers = root.find("layers");
        return layers && layers->is_array() && !root.find("model_type");
    }

private:
    /// A configuration with the sizes that have standard names.
    static model_config make_model_config(const custom::global_names& names) {
        model_config config;
        const auto set = [&](std::string_view name, std::int64_t& size) {
            const custom::meaning* const found = names.size(name);
            if (found != nullptr && found->kind == custom::meaning::symbol_kind::number) size = found->operand;
        };
        set("hidden_size", config.hidden_size);
        set("num_hidden_layers", config.num_hidden_layers);
        set("vocab_size", config.vocab_size);
        set("num_attention_heads", config.num_attention_heads);
        config.num_key_value_heads = config.num_attention_heads;
        set("num_key_value_heads", config.num_key_value_heads);
        set("head_dim", config.head_dim);
        set("intermediate_size", config.intermediate_size);
        return config;
    }

    std::shared_ptr<custom::custom_model_spec> row_;
    model model_{};
};

}  // namespace llmcost
