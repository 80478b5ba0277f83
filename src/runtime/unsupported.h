// One function for every entry point that is not implemented; free of NVIDIA's declarations.
#pragma once

namespace heddle::runtime {

/// Says once that `name` is missing, records cudaErrorNotSupported as the thread's last error and
/// returns its number.
int unsupported_call(const char* name);
/// The same for the driver API, which has no last error.
int unsupported_driver_call(const char* name);

} // namespace heddle::runtime
