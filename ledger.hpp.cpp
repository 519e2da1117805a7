#include <llmcost/ledger.hpp>
