// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

// Functions of the operating system: POSIX, and their equivalents on Windows. Errors are in `errno`.
namespace llmcost::detail::sys {

#ifdef _WIN32
inline constexpr const char* path_separators = "/\\";
inline constexpr const char* home_variable = "USERPROFILE";
inline constexpr const char* data_variable = "LOCALAPPDATA";
#else
inline constexpr const char* path_separators = "/";
inline constexpr const char* home_variable = "HOME";
inline constexpr const char* data_variable = "XDG_DATA_HOME";
#endif

enum class file_kind : std::uint8_t { missing, regular, folder, pipe, device };

/// The properties of a file.
struct file_facts {
    file_kind kind = file_kind::missing;
    std::uint64_t size = 0;   ///< bytes
    std::uint64_t links = 0;  ///< names of the file
    unsigned mode = 0;        ///< permissions
};

/// The properties of an open file, and of the target of a path.
[[nodiscard]] file_facts facts_of(int descriptor) noexcept;
[[nodiscard]] file_facts facts_of(const std::string& path) noexcept;

enum class open_mode : std::uint8_t {
    read,       ///< never waits for the writer of a pipe
    update,     ///< write; creates a missing file and keeps the content of another one
    overwrite,  ///< write; removes the former content
    create      ///< write; the file must not exist
};

/// Opens a file in binary mode; returns its descriptor, or -1. Child processes do not inherit it.
[[nodiscard]] int open(const std::string& path, open_mode mode) noexcept;
int close(int descriptor) noexcept;

/// Reads or writes at most `size` bytes; returns their number, or -1.
[[nodiscard]] std::int64_t read(int descriptor, char* to, std::size_t size) noexcept;
[[nodiscard]] std::int64_t read_at(int descriptor, char* to, std::size_t size, std::uint64_t offset) noexcept;
[[nodiscard]] std::int64_t write(int descriptor, const char* from, std::size_t size) noexcept;

// These return 0, or -1.
[[nodiscard]] int rewind(int descriptor) noexcept;
[[nodiscard]] int truncate(int descriptor, std::uint64_t size) noexcept;
[[nodiscard]] int flush_to_disk(int descriptor) noexcept;
int set_permissions(int descriptor, unsigned mode) noexcept;
/// Renames a file. An existing file of the new name is replaced.
[[nodiscard]] int rename(const std::string& source, const std::string& target) noexcept;
int remove(const std::string& path) noexcept;

[[nodiscard]] bool is_writable(const std::string& path) noexcept;

/// An open folder. On POSIX, its functions start from the folder itself: a parent folder that is renamed or replaced by
/// a link cannot redirect them.
class directory {
public:
    directory() = default;
    /// Opens a folder, which may be a link.
    explicit directory(const std::filesystem::path& path) noexcept;
    directory(directory&& source) noexcept;
    directory& operator=(directory&& source) noexcept;
    ~directory();

    explicit operator bool() const noexcept;
    /// A folder below this one, which is no link.
    [[nodiscard]] directory open_folder(const std::filesystem::path& name) const noexcept;
    /// Creates a folder; true if it exists already.
    [[nodiscard]] bool create_folder(const std::filesystem::path& name) const noexcept;
    /// Creates a file, which must not exist; returns its descriptor, or -1.
    [[nodiscard]] int create_file(const std::string& name) const noexcept;
    /// Creates a symbolic link.
    [[nodiscard]] bool create_link(const std::filesystem::path& target, const std::string& name) const noexcept;
    [[nodiscard]] bool rename(const std::string& source, const std::string& target) const noexcept;
    void remove(const std::string& name) const noexcept;

private:
#ifdef _WIN32
    std::filesystem::path path_;
#else
    explicit directory(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_ = -1;
#endif
};

[[nodiscard]] int process_id() noexcept;
/// The file of this program, with `/` between its parts; empty if it is unknown.
[[nodiscard]] std::string program_path();
/// The home folder of the user, from the user database; empty if it is unknown.
[[nodiscard]] std::string home_folder();

#ifdef LLMCOST_STATIC
inline constexpr bool can_load_libraries = false;  ///< a static glibc loads only libraries of its own version
#else
inline constexpr bool can_load_libraries = true;
#endif
/// Loads a shared library; null if it cannot be loaded.
[[nodiscard]] void* load_library(const char* name) noexcept;
/// The address of a function in a loaded library; null if the library has none of this name.
[[nodiscard]] void* find_symbol(void* library, const char* name) noexcept;

/// Sets standard input and output to bytes without conversion, and a console to UTF-8.
void prepare_standard_streams() noexcept;
[[nodiscard]] bool is_input_terminal() noexcept;
[[nodiscard]] bool is_output_terminal() noexcept;
/// The width of the terminal of standard output; 0 if it is unknown.
[[nodiscard]] std::size_t terminal_columns() noexcept;

}  // namespace llmcost::detail::sys

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/system.ipp>  // IWYU pragma: export
#endif
