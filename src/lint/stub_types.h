// stub_types.h: texts of headers for stub_headers.cpp, which says where each of them stands.
#pragma once

namespace heddle::lint {

extern const char* const stub_half;
extern const char* const stub_brain;
extern const char* const stub_pipeline;
extern const char* const stub_copies;
extern const char* const stub_random;
extern const char* const stub_fragments;
extern const char* const stub_constants;

} // namespace heddle::lint
