// Goal: text of others steers no terminal, runs in no shell and breaks no XML.
// Method: each kind of byte that could; a real shell reads the quoted words back.
#include "perf/text/visible_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace schedq {
namespace {

TEST(VisibleText, KeepsWhatCanBeSeen) {
  EXPECT_EQ(VisibleText("Basic/10 Nodes \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "Basic/10 Nodes \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(VisibleText, ShowsControlCharactersAndStrayBytes) {
  EXPECT_EQ(VisibleText("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(VisibleText("a\rb\nc\td\x7f"), "a\\x0db\\x0ac\\x09d\\x7f");
  EXPECT_EQ(VisibleText(std::string_view("\0", 1)), "\\x00");
  // C1: 0x9b alone introduces a sequence on some terminals.
  EXPECT_EQ(VisibleText("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(VisibleText("\x9b\xff\xc3"), "\\x9b\\xff\\xc3");
  EXPECT_EQ(VisibleLines("a\n\tb\x1b"), "a\n\tb\\x1b");
}

TEST(VisibleText, KnowsUtf8) {
  for (const char* good :
       {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(FindWhatIsNotUtf8(good), std::string_view::npos) << good;
  }
  // Stray, overlong, surrogate, too large, cut.
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_NE(FindWhatIsNotUtf8(bad), std::string_view::npos) << bad;
  }
}

TEST(ShellWord, IsReadBackByAShell) {
  EXPECT_EQ(ShellWord("Basic/10Nodes"), "Basic/10Nodes");
  for (const std::string word : {"", "a b", "$(touch x)", "it's", "a;b", "`x`", "\\", "*",
                                 "'\"'\n&", "^a$", "-x y", "~", "#"}) {
    const std::string command = "printf %s " + ShellWord(word);
    const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(command.c_str(), "r"), pclose);
    std::array<char, 100> said = {};
    const size_t count = fread(said.data(), 1, said.size(), shell.get());
    EXPECT_EQ(std::string(said.data(), count), word) << command;
  }
}

TEST(XmlText, HasOnlyWhatXmlAllows) {
  EXPECT_EQ(XmlText("<a b=\"c\">&</a>"), "&lt;a b=&quot;c&quot;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(XmlText("a\x1b[0m\x01\n\tb"), "a\\x1b[0m\\x01\n\tb");
  EXPECT_EQ(XmlText("\xff"), "\\xff");
  EXPECT_EQ(XmlText("\xef\xbf\xbe"), "\\xef\\xbf\\xbe");
}

}  // namespace
}  // namespace schedq
