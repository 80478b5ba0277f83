// ParentWatch: ends this process soon after its parent, and lets it say first what it has found.
//
//   const ParentWatch watch;          // in a rank (its parent is the launcher), or below it
//
// A launcher that is killed by SIGKILL tells its ranks nothing, and MPI may be over by then. So a
// thread looks who the parent is. When that has changed, this process gets SIGTERM, as from a
// launcher that ends its job, and is ended if it still runs some time later. (PR_SET_PDEATHSIG
// would not do: it also comes when the parent's *thread* ends that has started this process.)
#pragma once

#include <stop_token>
#include <thread>

namespace heddle::cli {

class ParentWatch {
public:
  ParentWatch();
  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

private:
  std::jthread thread_;
};

} // namespace heddle::cli
