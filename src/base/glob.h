// Shell patterns for paths and names.
//
//   matches("src/*.cu", "/home/me/project/src/scan.cu")   // true: the end of the path
//   matches("count*", "count_all")                        // true
#pragma once

#include <string>

namespace heddle {

/// `*` stands for any characters but a slash, `**` for any, `?` for one. The pattern matches a
/// whole part of the path, or several: "src" matches "a/src/b.cu". In a pattern without a slash `*`
/// stands for any characters.
bool matches(const std::string& pattern, const std::string& path);

} // namespace heddle
