// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/described/walker.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/reader.hpp>

namespace llmcost {

namespace described {

/// A row whose walk is a program.
struct described_row : architecture {
    program what;
    mutable kept_names made_names;  ///< by walks, for whoever listens to them
};

inline value describe_program(const site& here, trace& t) {
    const auto& row = static_cast<const described_row&>(here.row);
    return walker{row.what, row.made_names, t}.run();
}

/// Reads a whole description.
class description_reader {
public:
    description_reader(described_row& into, const known_models* known) : p_(into.what), known_(known) {}

    void read(config_view root) {
        check_keys(root, {"name", "class", "sizes", "variants", "inputs", "blocks", "layers", "output", "image_size",
                          "configuration", "dtype", "torch_dtype"});
        p_.type = p_.keep(root.find("class") ? as_view(root.string("class")) : std::string_view{"Model"});
        read_sizes(root);
        check_variants(root);
        read_image(root);
        p_.blocks.emplace_back();
        if (const auto all = root.optional_object("blocks"))
            for (const config_view each : *all) read_block(each);
        read_whole(root);
    }
    [[nodiscard]] const global_names& names() const noexcept { return names_; }

private:
    void read_sizes(config_view root) {
        const auto all = root.optional_object("sizes");
        if (!all) return;
        for (const config_view each : *all) {
            const std::string name(as_view(each.key()));
            check_name(each, name);
            if (!each.is_array()) {
                names_.put(name, meaning{meaning::of::number, read_constant(each)});
                continue;
            }
            std::vector<std::int64_t> list;
            for (const config_view n : each) list.push_back(read_constant(n));
            p_.numbers.lists.push_back(std::move(list));
            names_.put(name, meaning{meaning::of::list, static_cast<std::int64_t>(p_.numbers.lists.size() - 1)});
        }
    }
    /// Variants are other values of sizes; which one holds is in the sizes already.
    void check_variants(config_view root) const {
        const auto all = root.optional_object("variants");
        if (!all) return;
        for (const config_view variant : *all)
            for (const config_view each : variant.as_object()) {
                const std::string_view name = as_view(each.key());
                const meaning* const found = names_.size(name);
                if (found == nullptr) {
                    nearest_names near(name);
                    for (const auto& [known, what] : names_.sizes) near.offer(known);
                    refuse_at(each, "no size is called so" + near.hint_or_all());
                }
                if (each.is_array() != (found->what == meaning::of::list))
                    refuse_at(each,
                              each.is_array() ? "expected a number, as the size is" : "expected a list, as the size is");
            }
    }
    static void check_name(config_view at, std::string_view name) {
        const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
        bool good = !name.empty() && name.size() <= 64 && letter(name.front());
        for (const char c : name) good = good && (letter(c) || (c >= '0' && c <= '9'));
        for (const std::string_view word : {"if", "else", "and", "or", "not", "in", "len", "min", "max", "ceil_div"})
            good = good && name != word;
        for (const workload_name& w : workload_names) good = good && name != w.name;
        if (!good) refuse_at(at, "expected a name of letters, digits and _ that expressions do not use for something else");
    }
    void read_image(config_view root) {
        const auto size = root.find("image_size");
        if (!size) return;
        p_.image_height = read_side(size->is_array() ? (*size)[0] : *size);
        p_.image_width = size->is_array() ? read_side((*size)[1]) : p_.image_height;
    }
    [[nodiscard]] std::int64_t read_side(config_view at) {
        const std::int64_t side = read_constant(at);
        if (side < 1 || side > largest_input) fail_value(at, "a positive integer");
        return side;
    }
    /// A number that sizes tell, and no workload.
    [[nodiscard]] std::int64_t read_constant(config_view at) {
        const expression e = expression_reader{p_.numbers, names_}.read(at);
        if (!e.constant()) refuse_at(at, "a size does not depend on the workload; inputs and layers may");
        return e.number;
    }
    void read_block(config_view at) {
        check_keys(at, {"arguments", "input", "output", "layers"});
        block b;
        b.name = std::string(as_view(at.key()));
        if (p_.blocks.size() > 1000) refuse_at(at, "expected at most 1000 blocks");
        if (find_row(layer_table, b.name) != nullptr) refuse_at(at, "a layer of the library is called so");
        std::vector<config_view> given;
        if (const auto all = at.optional_object("arguments"))
            for (const config_view each : *all) {
                check_name(each, as_view(each.key()));
                b.arguments.emplace_back(as_view(each.key()));
                given.push_back(each);
            }
        if (b.arguments.size() > 64) refuse_at(at, "expected at most 64 arguments");
        step_reader reader{p_, names_, b, known_};
        for (const config_view each : given)
            b.otherwise.push_back(each.is_null() ? std::vector<expression>{} : std::vector<expression>{reader.number(each)});
        if (const auto in = at.find("input"))
            b.inputs = reader.read_outputs(*in);
        else
            b.inputs = {place{b.slots++, false}};
        b.body = reader.read_steps(at.array("layers"));
        for (const std::vector<expression>& e : b.otherwise)
            p_.bends = p_.bends || (b.bends && !e.empty() && e.front().asks);
        b.inside = reader.contents_of(b.body);
        if (const auto out = at.find("output")) b.outputs = reader.read_inputs(*out);
        p_.blocks.push_back(std::move(b));
    }
    void read_whole(config_view root) {
        block whole;
        step_reader reader{p_, names_, whole, known_};
        for (const config_view each : root.object("inputs")) {
            check_keys(each, {"shape", "dtype"});
            input in{std::string(as_view(each.key())), reader.number_list(each.array("shape")), false, pointer_of(each)};
            if (in.shape.size() > max_rank) refuse_at(each, "expected at most six sizes");
            in.integers = read_integers(each);
            p_.inputs.push_back(std::move(in));
            whole.inputs.push_back(reader.define_input(each.key()));
        }
        whole.body = reader.read_steps(root.array("layers"));
        if (const auto out = root.find("output")) whole.outputs = reader.read_inputs(*out);
        p_.blocks.front() = std::move(whole);
    }

    program& p_;
    const known_models* known_;
    global_names names_{};
};

}  // namespace described

/// A model that a file describes: layers, and how they connect. It owns what its `model` looks at.
class described_model {
public:
    /// Reads a description; throws `config_error` where it is none, `error` where its tensors do not meet.
    ///
    /// `known` are models whose parts it may call (`every_model` of registry.hpp); none: layers of PyTorch alone.
    explicit described_model(config_view root, std::string file = {}, const known_models* known = nullptr)
        : row_(std::make_shared<described::described_row>()) {
        row_->model_type = "described";
        row_->describe = described::describe_program;
        row_->any_image = row_->as_written = true;
        row_->what.file = std::move(file);
        described::description_reader reader{*row_, known};
        reader.read(root);
        row_->prefix = row_->what.type;
        model_.kind = row_.get();
        model_.dims = read_dims(reader.names());
        model_.dims.type = detail::read_dtype(root);
        model_.dims.vision.image_height = row_->what.image_height, model_.dims.vision.image_width = row_->what.image_width;
        if (row_->what.bends) return;  // what is wrong at one length may be right at others
        workload first;
        first.sequence = 8;
        trace t{first};
        model_.describe(t);
    }

    /// The model; it looks at this object.
    [[nodiscard]] const model& subject() const noexcept { return model_; }
    /// What it reads of a workload: names and sizes, in the order of the file; throws `error` where a size is none.
    [[nodiscard]] std::vector<std::pair<std::string_view, extents>> inputs(const workload& load) const {
        trace t{load};
        described::walker w(row_->what, row_->made_names, t);
        std::vector<std::pair<std::string_view, extents>> out;
        for (const described::input& in : row_->what.inputs) out.emplace_back(in.name, w.input_sizes(in));
        return out;
    }
    /// Whether a configuration is a description: it has layers and what they read.
    [[nodiscard]] static bool is_described(config_view root) {
        if (!root.is_object()) return false;
        const auto layers = root.find("layers");
        return layers && layers->is_array() && !root.find("model_type");
    }

private:
    /// Sizes by the names that configurations have for them.
    static sizes read_dims(const described::global_names& names) {
        sizes s;
        const auto set = [&](std::string_view name, std::int64_t& size) {
            const described::meaning* const found = names.size(name);
            if (found != nullptr && found->what == described::meaning::of::number) size = found->operand;
        };
        set("hidden_size", s.hidden_size);
        set("num_hidden_layers", s.num_hidden_layers);
        set("vocab_size", s.vocab_size);
        set("num_attention_heads", s.num_attention_heads);
        s.num_key_value_heads = s.num_attention_heads;
        set("num_key_value_heads", s.num_key_value_heads);
        set("head_dim", s.head_dim);
        set("intermediate_size", s.intermediate_size);
        return s;
    }

    std::shared_ptr<described::described_row> row_;
    model model_{};
};

}  // namespace llmcost
