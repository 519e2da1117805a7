// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>  // std::exception

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// The kind of problem in a configuration. `errc` has one code for each.
enum class config_problem : std::uint8_t { missing_key, bad_value, unsupported, unknown_model_type };

/// A configuration that cannot be used: the kind of problem, its JSON pointer (RFC 6901) and a message.
///
/// Allocates no memory.
class config_error : public std::exception {
public:
    /// Truncates texts that are too long.
    config_error(config_problem problem, string_ref pointer, string_ref message) noexcept : problem_(problem) {
        constexpr std::size_t longest_pointer = 256;
        detail::bounded_text place(text_, longest_pointer);
        pointer_size_ = place.write(pointer).size();
        message_offset_ = pointer_size_ == 0 ? 0 : pointer_size_ + 2;
        if (pointer_size_ != 0) detail::bounded_text(text_ + pointer_size_, 8).write(": ");
        message_size_ =
            detail::bounded_text(text_ + message_offset_, sizeof text_ - message_offset_).write(message).size();
    }

    [[nodiscard]] config_problem problem() const noexcept { return problem_; }
    /// JSON pointer of the value; empty for the root of the configuration.
    [[nodiscard]] string_ref pointer() const noexcept { return {text_, pointer_size_}; }
    [[nodiscard]] string_ref message() const noexcept { return {text_ + message_offset_, message_size_}; }
    /// `pointer: message`.
    [[nodiscard]] const char* what() const noexcept override { return text_; }

private:
    config_problem problem_;
    std::size_t pointer_size_ = 0;
    std::size_t message_offset_ = 0;
    std::size_t message_size_ = 0;
    char text_[768]{};
};

}  // namespace llmcost
