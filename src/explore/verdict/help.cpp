// Implements help.h. The kernels of a library are not the user's to change, so for them the help is
// what its caller can do.
#include "explore/verdict/help.h"

#include <string_view>

namespace heddle::explore {
namespace {

bool belongs_to_library(std::string_view kernel) {
  return kernel.find("cub::") != std::string_view::npos ||
         kernel.find("thrust::") != std::string_view::npos;
}

} // namespace

std::string help_for(const HangInShort& hang) {
  if (hang.finding == report::Finding::NoProgressLoop) {
    return "let the loop read an atomic or volatile object that is not a local variable";
  }
  if (hang.rule == "SIMT-LIVENESS") {
    return "do not let a thread wait for another one of its warp, or release inside the waiting "
           "loop what it waits for";
  }
  if (hang.finding != report::Finding::Starvation) {
    return {};
  }
  if (hang.rule == "HOST-CALL") {
    return "order the two host functions by a stream, an event or an edge of a graph, or let "
           "neither wait for the other";
  }
  if (hang.host_alone) {
    return "call a query function such as cudaStreamQuery inside the loop, or synchronise "
           "instead";
  }
  if (hang.rule == "CLUSTER" && belongs_to_library(hang.kernel)) {
    return "the library's kernel relies on blocks that start in order; CUDA does not promise that, "
           "and today's GPUs do it: check with --progress=lobe";
  }
  if (hang.rule == "CLUSTER") {
    return "launch with cudaLaunchCooperativeKernel, or let each block wait only for blocks that "
           "took a ticket before it";
  }
  if (hang.waits_for_host) {
    return "let the host do what the kernel waits for before it calls the API again";
  }
  return "order the two kernels: launch them in one stream, or use cudaStreamWaitEvent";
}

} // namespace heddle::explore
