// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace llmcost {

/// Stable error codes; scripts and the command line's exit codes rest on them.
enum class errc {
    usage,               ///< a flag, metric or scope that does not exist
    unknown_model_type,  ///< no model spec has this `model_type`
    missing_key,         ///< a key that has no default
    bad_value,           ///< wrong type, sign, range or syntax
    unsupported,         ///< the configuration requires a feature that no model spec supports
    input,               ///< the standard input ends with an error
    io,                  ///< a file that cannot be read, or a cache that cannot be written
    output,              ///< an output file that cannot be written
    not_found,           ///< a name that is in no file, cache, bundle or hub
    no_access,           ///< a repository that is private or gated, or whose name the hub does not confirm
    network,             ///< the hub did not answer as agreed
    overflow,            ///< a count beyond 128 bits or a tensor beyond 2^63 elements
    does_not_fit         ///< more than a device holds, and nothing else can be answered
};

/// The one exception of the boundaries (JSON, hub, command line): a code, a place and a message.
///
/// `module_role()` is `where: message`, or the message alone where there is no place.
class error : public std::exception {
public:
    error(errc code, std::string location, std::string message)
        : code_(code),
          location_(std::move(location)),
          full_message_(location_.empty() ? message : location_ + ": " + message) {}

    /// What kind of failure this is.
    [[nodiscard]] errc code() const noexcept { return code_; }
    /// The file and JSON pointer, URL or argument that it happened at; may be empty.
    [[nodiscard]] std::string_view location() const noexcept { return location_; }
    [[nodiscard]] const char* what() const noexcept override { return full_message_.c_str(); }

private:
    errc code_;
    std::string location_;
    std::string full_message_;
};

}  // namespace llmcost
