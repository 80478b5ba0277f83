// Files as the command line needs them: whole contents, search in PATH, words of a flag string.
#pragma once

#include "base/hash.h"
#include "base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The whole file. Input error: "cannot read 'x': <reason>".
Result<std::string> read_file(const std::filesystem::path& path);
/// The same of a file that the user has not named himself: a setting names it, or it was found.
/// What is no regular file is refused: a pipe would never end.
Result<std::string> read_named_file(const std::filesystem::path& path);
/// Through a temporary file and a rename, so that a reader sees all of it or nothing. Only this
/// user can read it.
Result<void> write_file(const std::filesystem::path& path, std::string_view contents);

/// 32 hexadecimal digits.
std::string hex(const Hash128& hash);
/// Hash of the file's contents; nothing if it cannot be read, or is no regular file.
std::optional<std::string> hash_file(const std::filesystem::path& path);

/// The program `name` as a shell finds it: with a slash as it is, else through PATH.
std::optional<std::filesystem::path> find_in_path(const std::string& name);

/// The running program's own file.
std::filesystem::path own_path();

/// Splits like a shell does: blanks separate, '…', "…" and \ quote. Input error: a quote is left
/// open.
Result<std::vector<std::string>> split_words(std::string_view text);
/// The other way round: split_words gives exactly this word.
std::string as_word(std::string_view text);
/// As one word of a shell, to be typed: as it is, or in single quotes.
std::string as_shell_word(std::string_view text);
/// What somebody else has written, for a message: no character that a terminal would obey.
std::string printable(std::string_view text);

/// getenv, empty if unset.
std::string environment(const char* name);

} // namespace heddle::cli
