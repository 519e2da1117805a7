#include <llmcost/llmcost.hpp>
