// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_text.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>

namespace llmcost {

/// One value of a configuration. A configuration is an array of nodes; each container precedes its children.
struct config_node {
    enum class kind : std::uint8_t { null, boolean, integer, real, string, array, object };
    kind type = kind::null;
    string_ref key{};          ///< name in the parent object; empty in an array
    std::int64_t integer = 0;  ///< value of an integer or a boolean
    double real = 0;           ///< value of a real; may be infinite or NaN
    string_ref string{};       ///< value of a string; of a real: its spelling in the file, if available
    std::uint32_t parent = 0;  ///< index of the parent container; 0 for the root
    std::uint32_t end = 0;     ///< one past the last descendant; the next index for a value without children
    std::uint32_t size = 0;    ///< number of children
};

class config_view;

/// Observes which keys of which objects are read, whether they exist or not.
class config_observer {
public:
    virtual void on_key_read(const config_view& object, string_ref key) = 0;

protected:
    ~config_observer() = default;
};

/// Throws `bad_value` with the message `expected <expected>, found <value>` for a value or for a key of an object.
///
/// Throws `missing_key` if the object has no such key. The `throw_` functions are not constexpr, so that an invalid
/// configuration in a constant expression does not compile.
[[noreturn]] inline void throw_invalid_value(config_view node, literal expected);
[[noreturn]] inline void throw_invalid_value(config_view object, literal key, literal expected);
/// Throws `missing_key`: `missing; expected <expected>`.
[[noreturn]] inline void throw_missing_key(config_view object, literal key, literal expected);
/// Throws `unsupported` with a message and the value, e.g. `unsupported kind: "x"`, for a value or for a key.
[[noreturn]] inline void throw_unsupported(config_view node, literal message);
[[noreturn]] inline void throw_unsupported(config_view object, literal key, literal message);
/// Throws `unknown_model_type` with the value and a message, which may suggest similar types: `"lama" is unknown`.
[[noreturn]] inline void fail_unknown_model_type(config_view object, literal key, literal message);

namespace detail {

/// Throws `bad_value` for an integer that is too large.
[[noreturn]] inline void fail_range(config_view node, literal expected, std::int64_t maximum);

/// The largest real below which every integer is exact: 2^53.
inline constexpr double largest_exact_real = 9007199254740992.0;

/// The integer that a value represents: 32.0 is 32. Returns nothing for 1e30 and true.
constexpr maybe<std::int64_t> integer_value(const config_node& n) noexcept {
    if (n.type == config_node::kind::integer) return n.integer;
    if (n.type != config_node::kind::real) return {};
    if (!(n.real >= -largest_exact_real && n.real <= largest_exact_real)) return {};
    const auto number = static_cast<std::int64_t>(n.real);
    if (static_cast<double>(number) != n.real) return {};
    return number;
}

}  // namespace detail

/// Iterates over the children of an array or object.
class config_iterator {
public:
    using value_type = config_view;
    using difference_type = std::ptrdiff_t;

    constexpr config_iterator() noexcept = default;
    constexpr config_iterator(const config_node* nodes, std::uint32_t index) noexcept : nodes_(nodes), index_(index) {}

    [[nodiscard]] constexpr config_view operator*() const noexcept;
    constexpr config_iterator& operator++() noexcept {
        index_ = nodes_[index_].end;
        return *this;
    }
    constexpr config_iterator operator++(int) noexcept {
        const config_iterator previous = *this;
        ++*this;
        return previous;
    }
    friend constexpr bool operator==(const config_iterator& a, const config_iterator& b) noexcept {
        return a.index_ == b.index_;
    }

private:
    const config_node* nodes_ = nullptr;
    std::uint32_t index_ = 0;
};

/// A view of one configuration value. The nodes belong to the caller.
///
/// Functions that take a key require an object or null:
/// - `x(key)` throws if the key is missing or null
/// - `x(key, default_value)` returns `default_value` in this case
/// - `optional_x(key)` returns nothing in this case
///
/// Throws: `config_error` if the value has another type.
class config_view {
public:
    using kind = config_node::kind;

    constexpr config_view() noexcept = default;  // no node: the state inside an empty `maybe`
    constexpr config_view(const config_node* nodes, std::uint32_t index, config_observer* listener = nullptr) noexcept
        : nodes_(nodes), index_(index), listener_(listener) {}
    template <class Nodes>
    constexpr config_view(const Nodes& nodes, std::uint32_t index) noexcept : config_view(nodes.data(), index) {}

    /// Returns this view with an observer, which is notified of each key read from it or from its descendants.
    [[nodiscard]] constexpr config_view with_observer(config_observer& listener) const noexcept {
        return {nodes_, index_, &listener};
    }

    [[nodiscard]] constexpr const config_node& node() const noexcept { return nodes_[index_]; }
    [[nodiscard]] constexpr const config_node* nodes() const noexcept { return nodes_; }
    [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }

    [[nodiscard]] constexpr kind type() const noexcept { return node().type; }
    [[nodiscard]] constexpr bool is_null() const noexcept { return type() == kind::null; }
    [[nodiscard]] constexpr bool is_boolean() const noexcept { return type() == kind::boolean; }
    [[nodiscard]] constexpr bool is_integer() const noexcept { return detail::integer_value(node()).has_value(); }
    [[nodiscard]] constexpr bool is_number() const noexcept { return type() == kind::integer || type() == kind::real; }
    [[nodiscard]] constexpr bool is_string() const noexcept { return type() == kind::string; }
    [[nodiscard]] constexpr bool is_array() const noexcept { return type() == kind::array; }
    [[nodiscard]] constexpr bool is_object() const noexcept { return type() == kind::object; }

    /// Name of the value in its parent object.
    [[nodiscard]] constexpr string_ref key() const noexcept { return node().key; }
    /// Number of children; 0 for a scalar.
    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return node().size; }
    [[nodiscard]] constexpr config_iterator begin() const noexcept;
    [[nodiscard]] constexpr config_iterator end() const noexcept;
    /// The child with index i of an array or object.
    [[nodiscard]] constexpr config_view operator[](std::size_t i) const {
        if (i >= size()) throw_invalid_value(*this, "an array with more elements");
        std::uint32_t child = index_ + 1;
        if (node().end - child == size()) return config_view{nodes_, child + static_cast<std::uint32_t>(i)};
        for (; i > 0; --i) child = nodes_[child].end;
        return config_view{nodes_, child};
    }

    /// The value of a key, which may be null. Returns nothing if the object has no such key.
    [[nodiscard]] constexpr maybe<config_view> find(string_ref key) const {
        if (!is_object() && !is_null()) throw_invalid_value(*this, "an object");
        if (listener_ != nullptr) listener_->on_key_read(*this, key);
        for (std::uint32_t child = index_ + 1, left = size(); left > 0; --left, child = nodes_[child].end)
            if (nodes_[child].key == key) return config_view{nodes_, child, listener_};
        return {};
    }
    [[nodiscard]] constexpr bool contains(string_ref key) const { return find(key).has_value(); }

    /// The boolean value.
    [[nodiscard]] constexpr bool as_boolean() const {
        if (!is_boolean()) throw_invalid_value(*this, "true or false");
        return node().integer != 0;
    }
    /// The integer value, written as 32 or 32.0.
    [[nodiscard]] constexpr std::int64_t as_integer() const {
        return as_bounded_integer("an integer", INT64_MIN, INT64_MAX);
    }
    /// The integer value, from 1 to 2^31 - 1.
    [[nodiscard]] constexpr std::int64_t as_positive() const {
        return as_bounded_integer("a positive integer", 1, max_input);
    }
    /// The integer value, from 0 to 2^31 - 1.
    [[nodiscard]] constexpr std::int64_t as_non_negative() const {
        return as_bounded_integer("a non-negative integer", 0, max_input);
    }
    /// The value as a finite number.
    [[nodiscard]] constexpr double as_real() const {
        if (type() == kind::integer) return static_cast<double>(node().integer);
        if (type() != kind::real || !(node().real - node().real == 0)) throw_invalid_value(*this, "a finite number");
        return node().real;
    }
    /// The value as a number that may be infinite or NaN (`time_step_limit`).
    [[nodiscard]] constexpr double as_extended_real() const {
        if (!is_number()) throw_invalid_value(*this, "a number");
        return type() == kind::real ? node().real : static_cast<double>(node().integer);
    }
    [[nodiscard]] constexpr string_ref as_string() const {
        if (!is_string()) throw_invalid_value(*this, "a string");
        return node().string;
    }
    [[nodiscard]] constexpr config_view as_array() const {
        if (!is_array()) throw_invalid_value(*this, "an array");
        return *this;
    }
    [[nodiscard]] constexpr config_view as_object() const {
        if (!is_object()) throw_invalid_value(*this, "an object");
        return *this;
    }

    [[nodiscard]] constexpr bool boolean(literal key) const { return required(key, "true or false").as_boolean(); }
    [[nodiscard]] constexpr bool boolean(literal key, bool default_value) const {
        return optional_boolean(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<bool> optional_boolean(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_boolean();
        return {};
    }

    [[nodiscard]] constexpr std::int64_t integer(literal key) const { return required(key, "an integer").as_integer(); }
    [[nodiscard]] constexpr std::int64_t integer(literal key, std::int64_t default_value) const {
        return optional_integer(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<std::int64_t> optional_integer(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_integer();
        return {};
    }
    /// An integer of either sign whose magnitude is at most 2^31 - 1, so that sums cannot overflow.
    [[nodiscard]] constexpr std::int64_t signed_integer(literal key, std::int64_t default_value) const {
        if (const auto found = find_non_null(key))
            return found->as_bounded_integer("an integer of 32 bits", -max_input, max_input);
        return default_value;
    }
    [[nodiscard]] constexpr std::int64_t positive(literal key) const {
        return required(key, "a positive integer").as_positive();
    }
    [[nodiscard]] constexpr std::int64_t positive(literal key, std::int64_t default_value) const {
        return optional_positive(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<std::int64_t> optional_positive(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_positive();
        return {};
    }

    [[nodiscard]] constexpr std::int64_t non_negative(literal key) const {
        return required(key, "a non-negative integer").as_non_negative();
    }
    [[nodiscard]] constexpr std::int64_t non_negative(literal key, std::int64_t default_value) const {
        return optional_non_negative(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<std::int64_t> optional_non_negative(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_non_negative();
        return {};
    }

    [[nodiscard]] constexpr double real(literal key) const { return required(key, "a finite number").as_real(); }
    [[nodiscard]] constexpr double real(literal key, double default_value) const {
        return optional_real(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<double> optional_real(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_real();
        return {};
    }

    [[nodiscard]] constexpr string_ref string(literal key) const { return required(key, "a string").as_string(); }
    [[nodiscard]] constexpr string_ref string(literal key, string_ref default_value) const {
        return optional_string(key).value_or(default_value);
    }
    [[nodiscard]] constexpr maybe<string_ref> optional_string(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_string();
        return {};
    }

    [[nodiscard]] constexpr config_view array(literal key) const { return required(key, "an array").as_array(); }
    [[nodiscard]] constexpr maybe<config_view> optional_array(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_array();
        return {};
    }
    [[nodiscard]] constexpr config_view object(literal key) const { return required(key, "an object").as_object(); }
    [[nodiscard]] constexpr maybe<config_view> optional_object(literal key) const {
        if (const auto found = find_non_null(key)) return found->as_object();
        return {};
    }

private:
    [[nodiscard]] constexpr config_view required(literal key, literal expected) const {
        const auto found = find(key);
        if (!found) throw_missing_key(*this, key, expected);
        return *found;
    }
    [[nodiscard]] constexpr maybe<config_view> find_non_null(literal key) const {
        const auto found = find(key);
        return found && !found->is_null() ? found : maybe<config_view>{};
    }
    [[nodiscard]] constexpr std::int64_t as_bounded_integer(literal expected, std::int64_t minimum,
                                                            std::int64_t maximum) const {
        const auto number = detail::integer_value(node());
        const double r = node().real;
        constexpr double exact = detail::largest_exact_real;
        const bool exceeds_exact_range =
            type() == kind::real && r - r == 0 && (r > exact || (r < -exact && minimum < 0));
        if (number ? *number > maximum : exceeds_exact_range) detail::fail_range(*this, expected, maximum);
        if (!number || *number < minimum) throw_invalid_value(*this, expected);
        return *number;
    }

    const config_node* nodes_ = nullptr;
    std::uint32_t index_ = 0;
    config_observer* listener_ = nullptr;
};

constexpr config_view config_iterator::operator*() const noexcept { return config_view{nodes_, index_}; }
constexpr config_iterator config_view::begin() const noexcept {
    return {nodes_, size() == 0 ? node().end : index_ + 1};
}
constexpr config_iterator config_view::end() const noexcept { return {nodes_, node().end}; }

namespace detail {

/// Maximum number of bytes of a key or a value that a message repeats.
inline constexpr std::size_t longest_echo = 48;

/// Appends the JSON pointer of a value: one `/name` or `/index` per enclosing container.
inline void append_pointer(bounded_text& out, config_view node) noexcept {
    constexpr std::size_t deepest = 64;
    std::uint32_t path[deepest]{};
    std::size_t depth = 0;
    std::uint32_t i = node.index();
    for (; i != 0 && depth < deepest; i = node.nodes()[i].parent) path[depth++] = i;
    if (i != 0) out.write("...");
    while (depth > 0) {
        const config_node& n = node.nodes()[path[--depth]];
        out.write("/");
        if (node.nodes()[n.parent].type == config_node::kind::object) {
            out.write(n.key, escaping::pointer, longest_echo);
            continue;
        }
        long long position = 0;
        for (std::uint32_t sibling = n.parent + 1; sibling != path[depth]; sibling = node.nodes()[sibling].end)
            ++position;
        out.write(position);
    }
}

/// Appends a shortened description of a value: `"32"`, `-1`, `null`, `an array of 3`.
inline void append_value(bounded_text& out, config_view node) noexcept {
    const config_node& n = node.node();
    if (node.is_null()) out.write("null");
    if (node.is_boolean()) out.write(n.integer != 0 ? "true" : "false");
    if (n.type == config_node::kind::integer) out.write(static_cast<long long>(n.integer));
    if (n.type == config_node::kind::real && n.string.empty()) out.write(n.real);
    if (n.type == config_node::kind::real) out.write(n.string, escaping::plain, longest_echo);
    if (node.is_string()) out.write("\"").write(n.string, escaping::quoted, longest_echo).write("\"");
    if (node.is_array() && n.size != 0) out.write("an array of ").write(static_cast<long long>(n.size));
    if (node.is_array() && n.size == 0) out.write("an empty array");
    if (node.is_object()) out.write(n.size == 0 ? "an empty object" : "an object");
}

/// Throws an error that points to a value, or to one of its keys whether it exists or not.
[[noreturn]] inline void fail_at(config_problem problem, config_view node, maybe<string_ref> key, string_ref message) {
    char buffer[512];
    bounded_text pointer(buffer);
    append_pointer(pointer, node);
    if (key) pointer.write("/").write(*key, escaping::pointer, longest_echo);
    throw config_error(problem, pointer.view(), message);
}

[[noreturn]] inline void fail_range(config_view node, literal expected, std::int64_t maximum) {
    char buffer[512];
    bounded_text message(buffer);
    message.write("expected ").write(expected).write(", found ");
    append_value(message, node);
    message.write(" (out of range");
    if (maximum != INT64_MAX) message.write(": at most ").write(static_cast<long long>(maximum));
    fail_at(config_problem::bad_value, node, {}, message.write(")").view());
}

}  // namespace detail

[[noreturn]] inline void throw_invalid_value(config_view node, literal expected) {
    char buffer[512];
    detail::bounded_text message(buffer);
    message.write("expected ").write(expected).write(", found ");
    detail::append_value(message, node);
    detail::fail_at(config_problem::bad_value, node, {}, message.view());
}

[[noreturn]] inline void throw_invalid_value(config_view object, literal key, literal expected) {
    const auto found = object.find(key);
    if (!found) throw_missing_key(object, key, expected);
    throw_invalid_value(*found, expected);
}

[[noreturn]] inline void throw_missing_key(config_view object, literal key, literal expected) {
    char buffer[512];
    detail::bounded_text message(buffer);
    detail::fail_at(config_problem::missing_key, object, string_ref(key),
                    message.write("missing; expected ").write(expected).view());
}

[[noreturn]] inline void throw_unsupported(config_view node, literal text) {
    char buffer[512];
    detail::bounded_text message(buffer);
    message.write(text);
    if (!node.is_array() && !node.is_object()) {
        message.write(": ");
        detail::append_value(message, node);
    }
    detail::fail_at(config_problem::unsupported, node, {}, message.view());
}

[[noreturn]] inline void throw_unsupported(config_view object, literal key, literal text) {
    if (const auto found = object.find(key)) throw_unsupported(*found, text);
    detail::fail_at(config_problem::unsupported, object, string_ref(key), text);
}

[[noreturn]] inline void fail_unknown_model_type(config_view object, literal key, literal text) {
    char buffer[512];
    detail::bounded_text message(buffer);
    if (const auto found = object.find(key)) {
        detail::append_value(message, *found);
        message.write(" ");
    }
    detail::fail_at(config_problem::unknown_model_type, object, string_ref(key), message.write(text).view());
}

}  // namespace llmcost
