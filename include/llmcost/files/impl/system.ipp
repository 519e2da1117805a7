// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/system.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#include <process.h>

#include <llmcost/files/windows_api.hpp>
#else
#include <dlfcn.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include <llmcost/base/inline.hpp>

namespace llmcost::detail::sys {

/// The properties of a file from `stat` or its variant for 64 bits.
template <class Stat>
file_facts facts_from(const Stat& found) noexcept {
    file_facts out{file_kind::device, 0, static_cast<std::uint64_t>(found.st_nlink),
                   static_cast<unsigned>(found.st_mode) & 07777U};
    if (found.st_size > 0) out.size = static_cast<std::uint64_t>(found.st_size);
    if (S_ISREG(found.st_mode)) out.kind = file_kind::regular;
    if (S_ISDIR(found.st_mode)) out.kind = file_kind::folder;
    if (S_ISFIFO(found.st_mode)) out.kind = file_kind::pipe;
    return out;
}

#ifdef _WIN32

/// A path for functions with wide characters. Bytes that are not UTF-8 are replaced.
LLMCOST_INLINE std::wstring wide(const std::string& path) {
    const int size = static_cast<int>(std::min<std::size_t>(path.size(), 32'767));  // limit of Windows
    std::wstring out(static_cast<std::size_t>(size), L'\0');
    const int length = ::MultiByteToWideChar(CP_UTF8, 0, path.data(), size, out.data(), size);
    out.resize(static_cast<std::size_t>(std::max(length, 0)));
    return out;
}

LLMCOST_INLINE file_facts facts_of(int descriptor) noexcept {
    struct _stat64 found {};
    return ::_fstat64(descriptor, &found) == 0 ? facts_from(found) : file_facts{};
}

LLMCOST_INLINE file_facts facts_of(const std::string& path) noexcept {
    struct _stat64 found {};
    return ::_wstat64(wide(path).c_str(), &found) == 0 ? facts_from(found) : file_facts{};
}

LLMCOST_INLINE int open(const std::string& path, open_mode mode) noexcept {
    constexpr int common = _O_BINARY | _O_NOINHERIT;
    const int flags = mode == open_mode::read        ? _O_RDONLY
                      : mode == open_mode::update    ? _O_WRONLY | _O_CREAT
                      : mode == open_mode::overwrite ? _O_WRONLY | _O_CREAT | _O_TRUNC
                                                     : _O_WRONLY | _O_CREAT | _O_EXCL;
    return ::_wopen(wide(path).c_str(), flags | common, _S_IREAD | _S_IWRITE);
}

LLMCOST_INLINE int close(int descriptor) noexcept { return ::_close(descriptor); }

/// Sizes of one call are `unsigned`, and its result is an `int`.
LLMCOST_INLINE unsigned size_of_call(std::size_t size) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

LLMCOST_INLINE std::int64_t read(int descriptor, char* to, std::size_t size) noexcept {
    return ::_read(descriptor, to, size_of_call(size));
}

LLMCOST_INLINE std::int64_t read_at(int descriptor, char* to, std::size_t size, std::uint64_t offset) noexcept {
    if (::_lseeki64(descriptor, static_cast<std::int64_t>(offset), SEEK_SET) < 0) return -1;
    return read(descriptor, to, size);
}

LLMCOST_INLINE std::int64_t write(int descriptor, const char* from, std::size_t size) noexcept {
    return ::_write(descriptor, from, size_of_call(size));
}

LLMCOST_INLINE int rewind(int descriptor) noexcept { return ::_lseeki64(descriptor, 0, SEEK_SET) == 0 ? 0 : -1; }

LLMCOST_INLINE int truncate(int descriptor, std::uint64_t size) noexcept {
    return ::_chsize_s(descriptor, static_cast<std::int64_t>(size)) == 0 ? 0 : -1;
}

LLMCOST_INLINE int flush_to_disk(int descriptor) noexcept { return ::_commit(descriptor); }

LLMCOST_INLINE int set_permissions(int, unsigned) noexcept { return 0; }

LLMCOST_INLINE int rename(const std::string& source, const std::string& target) noexcept {
    if (::MoveFileExW(wide(source).c_str(), wide(target).c_str(), MOVEFILE_REPLACE_EXISTING) != 0) return 0;
    errno = EACCES;
    return -1;
}

LLMCOST_INLINE int remove(const std::string& path) noexcept { return ::_wunlink(wide(path).c_str()); }

LLMCOST_INLINE bool is_writable(const std::string& path) noexcept {
    constexpr int may_write = 2;
    return ::_waccess(wide(path).c_str(), may_write) == 0;
}

LLMCOST_INLINE directory::directory(const std::filesystem::path& path) noexcept {
    std::error_code failure;
    if (std::filesystem::is_directory(path, failure))
        path_ = path;
    else
        errno = std::filesystem::exists(path, failure) ? ENOTDIR : ENOENT;
}

LLMCOST_INLINE directory::directory(directory&& source) noexcept = default;
LLMCOST_INLINE directory& directory::operator=(directory&& source) noexcept = default;
LLMCOST_INLINE directory::~directory() = default;
LLMCOST_INLINE directory::operator bool() const noexcept { return !path_.empty(); }

LLMCOST_INLINE directory directory::open_folder(const std::filesystem::path& name) const noexcept {
    std::error_code failure;
    if (std::filesystem::is_symlink(path_ / name, failure)) {
        errno = ENOTDIR;
        return {};
    }
    return directory(path_ / name);
}

LLMCOST_INLINE bool directory::create_folder(const std::filesystem::path& name) const noexcept {
    std::error_code failure;
    std::filesystem::create_directory(path_ / name, failure);
    if (failure) errno = failure.default_error_condition().value();
    return !failure;
}

LLMCOST_INLINE int directory::create_file(const std::string& name) const noexcept {
    return sys::open((path_ / name).string(), open_mode::create);
}

LLMCOST_INLINE bool directory::create_link(const std::filesystem::path& target,
                                           const std::string& name) const noexcept {
    std::error_code failure;
    std::filesystem::create_symlink(target, path_ / name, failure);
    return !failure;
}

LLMCOST_INLINE bool directory::rename(const std::string& source, const std::string& target) const noexcept {
    return sys::rename((path_ / source).string(), (path_ / target).string()) == 0;
}

LLMCOST_INLINE void directory::remove(const std::string& name) const noexcept { sys::remove((path_ / name).string()); }

LLMCOST_INLINE int process_id() noexcept { return ::_getpid(); }

LLMCOST_INLINE std::string program_path() {
    std::array<wchar_t, 4096> path{};
    const DWORD length = ::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    return length > 0 && length < path.size() ? std::filesystem::path(path.data()).generic_string() : std::string();
}

LLMCOST_INLINE std::string home_folder() { return {}; }

LLMCOST_INLINE void* load_library(const char* name) noexcept { return ::LoadLibraryA(name); }

LLMCOST_INLINE void* find_symbol(void* library, const char* name) noexcept {
    return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}

LLMCOST_INLINE void prepare_standard_streams() noexcept {
    ::_setmode(::_fileno(stdin), _O_BINARY);
    ::_setmode(::_fileno(stdout), _O_BINARY);
    ::SetConsoleOutputCP(CP_UTF8);
}

LLMCOST_INLINE bool is_input_terminal() noexcept { return ::_isatty(::_fileno(stdin)) != 0; }
LLMCOST_INLINE bool is_output_terminal() noexcept { return ::_isatty(::_fileno(stdout)) != 0; }

LLMCOST_INLINE std::size_t terminal_columns() noexcept {
    CONSOLE_SCREEN_BUFFER_INFO screen{};
    if (::GetConsoleScreenBufferInfo(::GetStdHandle(STD_OUTPUT_HANDLE), &screen) == 0) return 0;
    return static_cast<std::size_t>(std::max(screen.srWindow.Right - screen.srWindow.Left + 1, 0));
}

#else

LLMCOST_INLINE file_facts facts_of(int descriptor) noexcept {
    struct stat found {};
    return ::fstat(descriptor, &found) == 0 ? facts_from(found) : file_facts{};
}

LLMCOST_INLINE file_facts facts_of(const std::string& path) noexcept {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? facts_from(found) : file_facts{};
}

LLMCOST_INLINE int open(const std::string& path, open_mode mode) noexcept {
    // without O_NONBLOCK, opening a pipe would wait for its writer
    const int flags = mode == open_mode::read        ? O_RDONLY | O_NONBLOCK | O_NOCTTY
                      : mode == open_mode::update    ? O_WRONLY | O_CREAT | O_NOCTTY
                      : mode == open_mode::overwrite ? O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY
                                                     : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    return ::open(path.c_str(), flags | O_CLOEXEC, 0666);
}

LLMCOST_INLINE int close(int descriptor) noexcept { return ::close(descriptor); }

LLMCOST_INLINE std::int64_t read(int descriptor, char* to, std::size_t size) noexcept {
    return ::read(descriptor, to, size);
}

LLMCOST_INLINE std::int64_t read_at(int descriptor, char* to, std::size_t size, std::uint64_t offset) noexcept {
    return ::pread(descriptor, to, size, static_cast< ::off_t>(offset));
}

LLMCOST_INLINE std::int64_t write(int descriptor, const char* from, std::size_t size) noexcept {
    return ::write(descriptor, from, size);
}

LLMCOST_INLINE int rewind(int descriptor) noexcept { return ::lseek(descriptor, 0, SEEK_SET) == 0 ? 0 : -1; }

LLMCOST_INLINE int truncate(int descriptor, std::uint64_t size) noexcept {
    return ::ftruncate(descriptor, static_cast< ::off_t>(size));
}

LLMCOST_INLINE int flush_to_disk(int descriptor) noexcept { return ::fsync(descriptor); }

LLMCOST_INLINE int set_permissions(int descriptor, unsigned mode) noexcept {
    return ::fchmod(descriptor, static_cast< ::mode_t>(mode));
}

LLMCOST_INLINE int rename(const std::string& source, const std::string& target) noexcept {
    return std::rename(source.c_str(), target.c_str());
}

LLMCOST_INLINE int remove(const std::string& path) noexcept { return ::unlink(path.c_str()); }

LLMCOST_INLINE bool is_writable(const std::string& path) noexcept { return ::access(path.c_str(), W_OK) == 0; }

LLMCOST_INLINE directory::directory(const std::filesystem::path& path) noexcept
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

LLMCOST_INLINE directory::directory(directory&& source) noexcept : descriptor_(std::exchange(source.descriptor_, -1)) {}

LLMCOST_INLINE directory& directory::operator=(directory&& source) noexcept {
    std::swap(descriptor_, source.descriptor_);
    return *this;
}

LLMCOST_INLINE directory::~directory() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

LLMCOST_INLINE directory::operator bool() const noexcept { return descriptor_ >= 0; }

LLMCOST_INLINE directory directory::open_folder(const std::filesystem::path& name) const noexcept {
    return directory(::openat(descriptor_, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

LLMCOST_INLINE bool directory::create_folder(const std::filesystem::path& name) const noexcept {
    return ::mkdirat(descriptor_, name.c_str(), 0777) == 0 || errno == EEXIST;
}

LLMCOST_INLINE int directory::create_file(const std::string& name) const noexcept {
    return ::openat(descriptor_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

LLMCOST_INLINE bool directory::create_link(const std::filesystem::path& target,
                                           const std::string& name) const noexcept {
    return ::symlinkat(target.c_str(), descriptor_, name.c_str()) == 0;
}

LLMCOST_INLINE bool directory::rename(const std::string& source, const std::string& target) const noexcept {
    return ::renameat(descriptor_, source.c_str(), descriptor_, target.c_str()) == 0;
}

LLMCOST_INLINE void directory::remove(const std::string& name) const noexcept {
    ::unlinkat(descriptor_, name.c_str(), 0);
}

LLMCOST_INLINE int process_id() noexcept { return ::getpid(); }

LLMCOST_INLINE std::string program_path() {
#ifdef __linux__
    std::array<char, 4096> target{};
    const ssize_t length = ::readlink("/proc/self/exe", target.data(), target.size());
    if (length > 0 && length < static_cast<ssize_t>(target.size()))
        return {target.data(), static_cast<std::size_t>(length)};
#endif
    return {};
}

#ifdef LLMCOST_STATIC  // a static glibc has no user database and no libraries

LLMCOST_INLINE std::string home_folder() { return {}; }
LLMCOST_INLINE void* load_library(const char*) noexcept { return nullptr; }
LLMCOST_INLINE void* find_symbol(void*, const char*) noexcept { return nullptr; }

#else

LLMCOST_INLINE std::string home_folder() {
    std::string buffer(16'384, '\0');
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
    return found->pw_dir;
}

LLMCOST_INLINE void* load_library(const char* name) noexcept { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }
LLMCOST_INLINE void* find_symbol(void* library, const char* name) noexcept { return ::dlsym(library, name); }

#endif

LLMCOST_INLINE void prepare_standard_streams() noexcept {}
LLMCOST_INLINE bool is_input_terminal() noexcept { return ::isatty(STDIN_FILENO) == 1; }
LLMCOST_INLINE bool is_output_terminal() noexcept { return ::isatty(STDOUT_FILENO) == 1; }

LLMCOST_INLINE std::size_t terminal_columns() noexcept {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

#endif

}  // namespace llmcost::detail::sys
