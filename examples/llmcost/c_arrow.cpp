// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "c_arrow.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace arrow {

namespace {

/// What an exported array points to. Its children and its dictionary are released with it.
struct array_memory {
    std::vector<std::vector<std::byte>> buffers;
    std::vector<const void*> addresses;
    std::vector<std::unique_ptr<ArrowArray>> children;
    std::vector<ArrowArray*> child_addresses;
    std::unique_ptr<ArrowArray> dictionary;
};

struct schema_memory {
    std::string format;
    std::string name;
    std::vector<std::unique_ptr<ArrowSchema>> children;
    std::vector<ArrowSchema*> child_addresses;
    std::unique_ptr<ArrowSchema> dictionary;
};

/// Releases what a consumer has not moved away, then the memory of the structure itself.
template <class Memory, class Structure>
void release(Structure* exported) {
    auto* const memory = static_cast<Memory*>(exported->private_data);
    for (const auto& child : memory->children)
        if (child->release != nullptr) child->release(child.get());
    if (memory->dictionary != nullptr && memory->dictionary->release != nullptr)
        memory->dictionary->release(memory->dictionary.get());
    delete memory;
    exported->release = nullptr;
}

}  // namespace

void export_array(column values, ArrowArray* out) {
    auto memory = std::make_unique<array_memory>();
    memory->buffers = std::move(values.buffers);
    for (std::size_t i = 0; i < memory->buffers.size(); ++i)
        memory->addresses.push_back(i == 0 && memory->buffers[i].empty() ? nullptr : memory->buffers[i].data());
    for (column& child : values.children) {
        memory->children.push_back(std::make_unique<ArrowArray>());
        export_array(std::move(child), memory->children.back().get());
        memory->child_addresses.push_back(memory->children.back().get());
    }
    if (values.dictionary != nullptr) {
        memory->dictionary = std::make_unique<ArrowArray>();
        export_array(std::move(*values.dictionary), memory->dictionary.get());
    }
    *out = ArrowArray{.length = values.length,
                      .null_count = values.null_count,
                      .offset = 0,
                      .n_buffers = static_cast<std::int64_t>(memory->addresses.size()),
                      .n_children = static_cast<std::int64_t>(memory->child_addresses.size()),
                      .buffers = memory->addresses.data(),
                      .children = memory->child_addresses.data(),
                      .dictionary = memory->dictionary.get(),
                      .release = release<array_memory, ArrowArray>,
                      .private_data = memory.get()};
    (void)memory.release();
}

void export_schema(const column& values, ArrowSchema* out) {
    auto memory = std::make_unique<schema_memory>();
    memory->format = values.format;
    memory->name = values.name;
    for (const column& child : values.children) {
        memory->children.push_back(std::make_unique<ArrowSchema>());
        export_schema(child, memory->children.back().get());
        memory->child_addresses.push_back(memory->children.back().get());
    }
    if (values.dictionary != nullptr) {
        memory->dictionary = std::make_unique<ArrowSchema>();
        export_schema(*values.dictionary, memory->dictionary.get());
    }
    *out = ArrowSchema{.format = memory->format.c_str(),
                       .name = memory->name.c_str(),
                       .metadata = nullptr,
                       .flags = ARROW_FLAG_NULLABLE,
                       .n_children = static_cast<std::int64_t>(memory->child_addresses.size()),
                       .children = memory->child_addresses.data(),
                       .dictionary = memory->dictionary.get(),
                       .release = release<schema_memory, ArrowSchema>,
                       .private_data = memory.get()};
    (void)memory.release();
}

}  // namespace arrow
