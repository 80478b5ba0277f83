// Memory that the program has not freed when it ends (--leaks) [MEM-LEAK]: an error for each place
// that has allocated some. Streams, events, graphs, textures and surfaces that it has not destroyed
// are counted, and a warning.
#pragma once

namespace heddle::runtime {

class Runtime;

/// Announces it after the program's own exit handlers and static destructors; before the program
/// has made a call. `runtime` lives until then.
void announce_leaks_at_exit(Runtime& runtime);

} // namespace heddle::runtime
