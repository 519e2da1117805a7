#include <llmcost/ops.hpp>
