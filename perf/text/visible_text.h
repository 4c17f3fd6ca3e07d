// Text of others on its way to a terminal, a shell or an XML file.
//
// Purpose: names come from files that anybody may have written. What they hold must neither steer
// the terminal, nor run in the shell into which a user copies it, nor break a report.
// Threads: any; pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace schedq {

// The text with each control character (C0, DEL, C1) and each byte that is not UTF-8 as \xNN.
// Spaces stay; tabs and line breaks do not.
std::string VisibleText(std::string_view text);
// Keeps line breaks and tabs too, for text of several lines.
std::string VisibleLines(std::string_view text);

// One word of a POSIX shell that stands for this text: as it is, or in single quotes.
std::string ShellWord(std::string_view text);

// Text or an attribute's value of XML 1.0, which has no way to write most control characters.
std::string XmlText(std::string_view text);

// The length of the code point that `text` begins with, 1 to 4; 0 where it begins with a byte that
// is not UTF-8. Overlong forms, surrogates and numbers above U+10FFFF are not UTF-8.
size_t Utf8Length(std::string_view text);
// The offset of the first byte that is not UTF-8, or npos.
size_t FindWhatIsNotUtf8(std::string_view text);

}  // namespace schedq
