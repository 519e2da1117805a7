// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/text.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/// What a client asked of a `loopback_server`.
struct server_request {
    std::string method;
    std::string target;
    std::map<std::string, std::string> fields;  ///< names in lower case

    std::string field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string() : found->second;
    }
};

/// What a `loopback_server` sends back, byte for byte; then it closes the connection.
struct server_reply {
    std::string bytes;
    bool silent = false;  ///< keep the connection open and send nothing more
    bool reset = false;   ///< end the connection with a TCP reset
    bool drips = false;   ///< send one more byte every 20 ms for as long as the client listens

    using field_list = std::vector<std::pair<std::string, std::string>>;

    /// A correct response. A HEAD request gets the headers of the body without the body.
    static server_reply make(const server_request& to, int status, const field_list& fields,
                             const std::string& body = {}) {
        std::string text = "HTTP/1.1 " + std::to_string(status) + " Some Reason\r\nConnection: close\r\n";
        for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        return {to.method == "HEAD" ? text : text + body};
    }
};

/// A real HTTP/1.1 server on a free port of 127.0.0.1: one thread a connection, one request a connection.
class loopback_server {
public:
    using handler = std::function<server_reply(const server_request&)>;

    explicit loopback_server(handler handle)
        : handle_(std::move(handle)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, generic, &size) != 0) {
            throw std::runtime_error("no loopback server");
        }
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    loopback_server(const loopback_server&) = delete;
    loopback_server& operator=(const loopback_server&) = delete;
    ~loopback_server() {
        stop_ = true;
        acceptor_.join();
        for (std::thread& worker : workers_) worker.join();
        ::close(listener_);
    }

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

    /// All requests so far, in the order in which they were read.
    std::vector<server_request> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

    /// How many requests of this method there were so far.
    std::size_t count(std::string_view method) const {
        std::size_t n = 0;
        for (const server_request& request : requests()) n += request.method == method ? 1U : 0U;
        return n;
    }

private:
    /// Waits for something to read; false once the server is to stop.
    bool readable(int socket) const {
        while (!stop_) {
            pollfd entry{socket, POLLIN, 0};
            if (::poll(&entry, 1, 10) > 0) return true;
        }
        return false;
    }

    void accept_all() {
        while (readable(listener_)) {
            const int socket = ::accept(listener_, nullptr, nullptr);
            if (socket >= 0) workers_.emplace_back([this, socket] { serve(socket); });
        }
    }

    void serve(int socket) {
        std::string text;
        char buffer[4096];
        while (text.find("\r\n\r\n") == std::string::npos && readable(socket)) {
            const ssize_t size = ::recv(socket, buffer, sizeof buffer, 0);
            if (size <= 0) break;
            text.append(buffer, static_cast<std::size_t>(size));
        }
        if (text.find("\r\n\r\n") != std::string::npos) answer(socket, parse(text));
        ::close(socket);
    }

    void answer(int socket, const server_request& request) {
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
        }
        const server_reply reply = handle_(request);
        std::string_view rest = reply.bytes;
        while (!rest.empty()) {
            const ssize_t size = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
            if (size <= 0) return;
            rest.remove_prefix(static_cast<std::size_t>(size));
        }
        while (reply.drips && !stop_ && ::send(socket, "x", 1, MSG_NOSIGNAL) == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        if (reply.silent) readable_until_closed(socket);
        if (reply.reset) {
            const linger now{1, 0};
            ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
    }

    void readable_until_closed(int socket) const {
        char byte = 0;
        while (readable(socket) && ::recv(socket, &byte, 1, 0) > 0) continue;
    }

    static server_request parse(std::string_view text) {
        server_request request;
        const auto take = [&text](std::string_view end) {
            const std::size_t position = text.find(end);
            const std::string_view part = text.substr(0, position);
            text.remove_prefix(position + end.size());
            return std::string(part);
        };
        request.method = take(" ");
        request.target = take(" ");
        take("\r\n");
        while (!text.starts_with("\r\n")) {
            const std::string name = llmcost::detail::hub::lower_case(take(":"));
            request.fields[name] = llmcost::detail::hub::trim(take("\r\n"));
        }
        return request;
    }

    handler handle_;
    int listener_;
    int port_ = 0;
    std::atomic<bool> stop_{false};
    mutable std::mutex mutex_;
    std::vector<server_request> requests_;
    std::list<std::thread> workers_;
    std::thread acceptor_;
};
