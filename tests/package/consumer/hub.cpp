// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A look into a cache that is not there; nothing is asked of the network.
#include <llmcost/hub.hpp>

int main() {
    llmcost::hub_options options;
    options.cache_dir = "no-such-folder";
    return llmcost::find_in_cache(llmcost::parse_repo_id("org/name@v1"), "config.json", options) ? 1 : 0;
}
