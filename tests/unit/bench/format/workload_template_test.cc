// Goal: templates print what Go's text/template prints, and fail where it fails, with the place.
// Method: a table of templates, data and outputs; two tables of templates that do not compile and
// that do not run; and endless templates. Data is YAML, decoded as scheduler_perf decodes it
// (numbers are floats). The expected outputs follow the rules of text/template and fmt, so that the
// test needs no Go.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/template/go_template.h"
#include "bench/format/template/value.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"

namespace schedq {
namespace {

Value Data(const std::string& yaml) {
  const auto parsed = ParseYaml(yaml);
  const Value params = ValueFromYaml(std::get<YamlNode>(parsed));
  ValueMap data;
  if (const auto* map = params.AsMap()) data = *map;
  data["Index"] = Value(int64_t{7});
  data["Count"] = Value(int64_t{10});
  return Value(std::move(data));
}

// Returns the output, or "error <message>".
std::string RenderText(const std::string& source, const std::string& yaml) {
  const auto compiled = GoTemplate::Compile("t", source);
  if (!compiled) return "error " + compiled.error().message();
  const auto output = compiled->Render(Data(yaml));
  return output ? *output : "error " + output.error().message();
}

struct Row {
  const char* source;
  const char* data;
  const char* output;
};

class Outputs : public testing::TestWithParam<Row> {};

TEST_P(Outputs, AreGos) {
  const Row& row = GetParam();
  EXPECT_EQ(RenderText(row.source, row.data), row.output) << row.source << " with " << row.data;
}

constexpr Row kPrinting[] = {
    {"plain", "", "plain"},
    {"", "", ""},
    {"{{.Index}} of {{.Count}}", "", "7 of 10"},
    {"{{.x}}", "x: 3", "3"},
    {"{{.x}}", "x: 3.5", "3.5"},
    {"{{.x}}", "x: 100000", "100000"},
    {"{{.x}}", "x: 1000000", "1e+06"},
    {"{{.x}}", "x: 1234567", "1.234567e+06"},
    {"{{.x}}", "x: 0.0001", "0.0001"},
    {"{{.x}}", "x: 0.00001", "1e-05"},
    {"{{.x}}", "x: -0.5", "-0.5"},
    {"{{.x}}", "x: 1e30", "1e+30"},
    {"{{.x}}", "x: true", "true"},
    {"{{.x}}", "x: yes", "true"},
    {"{{.x}}", "x: 'yes'", "yes"},
    {"{{.x}}", "x: 0x10", "16"},
    {"{{.x}}", "x: ''", ""},
    {"{{.missing}}", "", "<no value>"},
    {"{{.x}}", "x: null", "<no value>"},
    {"{{.x}}", "x: [1, a, null, [b]]", "[1 a <nil> [b]]"},
    {"{{.x}}", "x: {b: 1, a: two}", "map[a:two b:1]"},
    {"{{.x.y.z}}", "x: {y: {z: deep}}", "deep"},
    {"{{1}} {{-2}} {{1.5}} {{1e3}} {{0x1F}} {{017}} {{1_000}} {{'a'}}", "",
     "1 -2 1.5 1000 31 15 1000 97"},
    {"{{\"a\\tb\\\"\\x41\\u00e9\"}}{{`raw\\n`}}", "", "a\tb\"A\xc3\xa9raw\\n"},
    {"{{true}} {{false}}", "", "true false"},
};
INSTANTIATE_TEST_SUITE_P(Printing, Outputs, testing::ValuesIn(kPrinting));

constexpr Row kControl[] = {
    {"{{if .x}}yes{{end}}", "x: 1", "yes"},
    {"{{if .x}}yes{{else}}no{{end}}", "x: 0", "no"},
    {"{{if .x}}yes{{else}}no{{end}}", "x: ''", "no"},
    {"{{if .x}}yes{{else}}no{{end}}", "x: []", "no"},
    {"{{if .x}}yes{{else}}no{{end}}", "x: {a: 1}", "yes"},
    {"{{if .missing}}yes{{else}}no{{end}}", "", "no"},
    {"{{if eq .x \"a\"}}A{{else if eq .x \"b\"}}B{{else}}C{{end}}", "x: b", "B"},
    {"{{if eq .x \"a\"}}A{{else if eq .x \"b\"}}B{{else}}C{{end}}", "x: z", "C"},
    {"{{if $y := .x}}{{$y}}{{else}}none{{$y}}{{end}}", "x: 0", "none0"},
    {"{{with .x}}{{.}}{{end}}", "x: in", "in"},
    {"{{with .x}}{{.}}{{else}}out{{end}}", "", "out"},
    {"{{with .x}}{{.}}{{else with .y}}{{.}}2{{end}}", "y: b", "b2"},
    {"{{with .x}}{{$.Index}}{{end}}", "x: 1", "7"},
    {"{{range .x}}<{{.}}>{{end}}", "x: [a, b]", "<a><b>"},
    {"{{range $i, $e := .x}}{{$i}}={{$e}};{{end}}", "x: [a, b]", "0=a;1=b;"},
    {"{{range $e := .x}}{{$e}};{{end}}", "x: [a, b]", "a;b;"},
    {"{{range $k, $v := .x}}{{$k}}={{$v}};{{end}}", "x: {b: 2, a: 1}", "a=1;b=2;"},
    {"{{range .x}}{{.}}{{else}}empty{{end}}", "x: []", "empty"},
    {"{{range .missing}}{{.}}{{else}}empty{{end}}", "", "empty"},
    {"{{range 3}}{{.}},{{end}}", "", "0,1,2,"},
    {"{{range $i := Int .x}}{{$i}},{{end}}", "x: 2", "0,1,"},
    {"{{range 0}}{{.}}{{else}}none{{end}}", "", "none"},
    {"{{range -1}}{{.}}{{else}}none{{end}}", "", "none"},
    {"{{range 5}}{{if eq . 3}}{{break}}{{end}}{{.}}{{end}}", "", "012"},
    {"{{range 4}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}}", "", "023"},
    {"{{range 2}}{{range 2}}{{break}}{{end}}{{.}}{{end}}", "", "01"},
    {"{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "", "2"},
    {"{{$x := 1}}{{if true}}{{$x := 2}}{{end}}{{$x}}", "", "1"},
    {"{{$s := 0}}{{range 4}}{{$s = AddInt $s .}}{{end}}{{$s}}", "", "6"},
    {"{{$x := .a}}{{$x.b}}", "a: {b: c}", "c"},
    {"{{$.Index}}{{$}}", "", "7map[Count:10 Index:7]"},
    {"{{(index .x 1).b}}", "x: [0, {b: c}]", "c"},
};
INSTANTIATE_TEST_SUITE_P(Control, Outputs, testing::ValuesIn(kControl));

constexpr Row kTrimming[] = {
    {"a {{- 1}} b", "", "a1 b"},
    {"a {{1 -}} b", "", "a 1b"},
    {"a\n\t {{- 1 -}} \r\n b", "", "a1b"},
    {"a {{-1}} b", "", "a -1 b"},
    {"a{{/* comment */}}b", "", "ab"},
    {"a {{- /* comment */ -}} b", "", "ab"},
    {"a {{/* }} */ -}} b", "", "a b"},
    {"{{if\n .Index\n}}x{{end}}", "", "x"},
    {"{{\n1\n}}", "", "1"},
    {"a{ {b}} {c}", "", "a{ {b}} {c}"},
};
INSTANTIATE_TEST_SUITE_P(Trimming, Outputs, testing::ValuesIn(kTrimming));

constexpr Row kFunctions[] = {
    {"{{AddInt 1 2 3}} {{AddFloat 1 0.5}} {{AddInt}}", "", "6 1.5 0"},
    {"{{SubtractInt 1 3}} {{SubtractFloat 1 .5}}", "", "-2 0.5"},
    {"{{MultiplyInt 2 3.6}} {{MultiplyFloat 2 1.5 2}}", "", "7 6"},
    {"{{DivideInt 7 2}} {{DivideInt -7 2}} {{DivideFloat 7 2}}", "", "3 -3 3.5"},
    {"{{Mod 7 3}} {{Mod -7 3}} {{Mod 7.9 3.9}}", "", "1 -1 1"},
    {"{{DivideInt .x \"4\"}}", "x: '10'", "2"},
    {"{{Int 2.9}} {{Int \"-12\"}} {{Int .x}}", "x: 5", "2 -12 5"},
    {"{{AddInt 1000000 0}} {{AddFloat 1000000 0}}", "", "1000000 1e+06"},
    {"{{JSON .x}}", "x: {b: [1, 2.5, null, true], a: '<q\"&>'}",
     "{\"a\":\"<q\\\"&>\",\"b\":[1,2.5,null,true]}"},
    {"{{JSON 1000000}} {{JSON .x}} {{JSON .y}}", "{x: 1e20, y: 1e21}",
     "1000000 100000000000000000000 1e+21"},
    {"{{(or .missing nil) | JSON}}", "", "null"},
    {"{{or .missing 10}} {{or .x 10}} {{or 0 \"\"}}", "x: 3", "10 3 "},
    {"{{and 1 0 2}} {{and 1 2}} {{and .missing 1}}", "", "0 2 <no value>"},
    {"{{or 1 (DivideInt 1 0)}}{{and 0 (DivideInt 1 0)}}", "", "10"},
    {"{{not 1}} {{not .missing}} {{not \"\"}}", "", "false true true"},
    {"{{eq 1 1}} {{eq 1 2 3 1}} {{eq \"a\" \"b\"}} {{eq true true}}", "", "true true false true"},
    {"{{eq .missing \"a\"}} {{eq .missing .other}}", "", "false true"},
    {"{{ne 1 2}} {{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 2 2}}", "", "true true true false true"},
    {"{{lt \"a\" \"b\"}} {{lt 1.5 .x}}", "x: 2", "true true"},
    {"{{len \"abc\"}} {{len .x}} {{len .y}}", "{x: [1, 2], y: {a: 1}}", "3 2 1"},
    {"{{index .x 1}} {{index .y \"a\"}} {{index .y \"z\"}} {{index .z 1 0}}",
     "{x: [a, b], y: {a: 1}, z: [[1], [2]]}", "b 1 <no value> 2"},
    {"{{index \"abc\" 1}}", "", "98"},
    {"{{print 1 2 \"a\" \"b\" 3 4}}", "", "1 2ab3 4"},
    {"{{print nil}}|{{println 1 \"a\"}}|", "", "<nil>|1 a\n|"},
    {"{{1 | AddInt 2 | printf \"%d-%d\" 5}}", "", "5-3"},
    {"{{\"a\" | printf \"%s%s\" \"b\" | len}}", "", "2"},
    {"{{printf \"%d %5d|%-5d|%05d|%+d\" 1 2 3 4 5}}", "", "1     2|3    |00004|+5"},
    {"{{printf \"%x %X %o %b %c %U %#x\" 255 255 8 5 97 97 255}}", "",
     "ff FF 10 101 a U+0061 0xff"},
    {"{{printf \"%04x\" -1}}", "", "-001"},
    {"{{printf \"%f %.2f %8.3f|%e %g %v\" 1.5 1.005 3.14159 1500.0 1e6 0.1}}", "",
     "1.500000 1.00    3.142|1.500000e+03 1e+06 0.1"},
    {"{{printf \"%s|%5s|%-5s|%.2s|%q|%x\" \"a\" \"b\" \"c\" \"defg\" \"h\\\"\" \"i\"}}", "",
     "a|    b|c    |de|\"h\\\"\"|69"},
    {"{{printf \"%t %v %T %T %%\" true nil 1 1.5}}", "", "true <nil> int float64 %"},
    {"{{printf \"%d\" \"x\"}} {{printf \"%s\" 3}} {{printf \"%d\" 1.5}}", "",
     "%!d(string=x) %!s(int=3) %!d(float64=1.5)"},
    {"{{printf \"%d\"}} {{printf \"a\" 1 \"b\"}} {{printf \"%\"}} {{printf \"%s\" nil}}", "",
     "%!d(MISSING) a%!(EXTRA int=1, string=b) %!(NOVERB) %!s(<nil>)"},
    {"{{printf \"%v %d\" .x .x}}", "x: [1]", "[1] [%!d(float64=1)]"},
};
INSTANTIATE_TEST_SUITE_P(Functions, Outputs, testing::ValuesIn(kFunctions));

class Refusals : public testing::TestWithParam<Row> {};

// `output` is "<line>:<column>: <a part of the message>".
TEST_P(Refusals, NameThePlace) {
  const Row& row = GetParam();
  const std::string wanted = row.output;
  const size_t message = wanted.find(' ') + 1;
  const std::string result = RenderText(row.source, row.data);
  EXPECT_EQ(result.rfind("error t:" + wanted.substr(0, message), 0), 0u)
      << row.source << ": " << result;
  EXPECT_NE(result.find(wanted.substr(message)), std::string::npos) << row.source << ": " << result;
}

constexpr Row kNotCompiling[] = {
    {"a\n {{.x", "", "2:2: unclosed action"},
    {"{{.x\n\n", "", "1:1: unclosed action"},
    {"{{\"abc}}", "", "1:3: unterminated quoted string"},
    {"{{`abc}}", "", "1:3: unterminated raw string"},
    {"{{\"\\z\"}}", "", "1:4: unknown escape"},
    {"{{/* abc }}", "", "1:1: unclosed comment"},
    {"{{/* abc */ x}}", "", "1:1: comment ends before"},
    {"{{(1}}", "", "1:5: unclosed left parenthesis"},
    {"{{1)}}", "", "1:4: unexpected )"},
    {"{{1 ! 2}}", "", "1:5: unexpected character"},
    {"{{}}", "", "1:3: missing value"},
    {"{{if}}x{{end}}", "", "1:5: missing value"},
    {"{{if 1}}x", "", "1:1: {{if}} has no {{end}}"},
    {"x\n{{range 1}}{{if 2}}{{end}}", "", "2:1: {{range}} has no {{end}}"},
    {"{{if 1}}{{else}}{{else}}{{end}}", "", "1:17: a second {{else}}"},
    {"{{if 1}}{{else with 2}}{{end}}", "", "1:16: unexpected"},
    {"{{end}}", "", "1:1: unexpected {{end}}"},
    {"{{else}}", "", "1:1: unexpected {{else}}"},
    {"{{break}}", "", "1:1: {{break}} outside"},
    {"{{$x}}", "", "1:5: undefined variable $x"},
    {"{{if 1}}{{$x := 1}}{{end}}{{$x}}", "", "1:31: undefined variable $x"},
    {"{{$x = 1}}", "", "1:6: undefined variable $x"},
    {"{{Add 1 2}}", "", "1:3: function \"Add\" not defined"},
    {"{{html 1}}", "", "1:3: function \"html\" is not supported"},
    {"{{define \"x\"}}{{end}}", "", "1:1: {{define}} is not supported"},
    {"{{template \"x\"}}", "", "1:1: {{template}} is not supported"},
    {"{{Mod 1}}", "", "1:3: wrong number of arguments for Mod: 1, expected 2"},
    {"{{1 | Mod 1 2}}", "", "1:7: wrong number of arguments for Mod: 3"},
    {"{{1 2}}", "", "1:3: can't give arguments"},
    {"{{.x 2}}", "", "1:3: can't give arguments"},
    {"{{1 | 2}}", "", "1:7: a value in a later stage"},
    {"{{nil}}", "", "1:3: nil is not a command"},
    {"{{1 |}}", "", "1:6: empty command"},
    {"{{1x}}", "", "1:3: bad number syntax"},
    {"{{'ab'}}", "", "1:3: malformed character"},
    {"{{.x:y}}", "", "1:5: unexpected character"},
};
INSTANTIATE_TEST_SUITE_P(NotCompiling, Refusals, testing::ValuesIn(kNotCompiling));

constexpr Row kNotRunning[] = {
    {"a\n{{ .x.y }}", "x: text", "2:4: can't evaluate field y in type string"},
    {"{{.x.y}}", "", "1:3: nil pointer evaluating interface {}.y"},
    {"{{eq 1 .x}}", "x: 1", "1:3: error calling eq: incompatible types"},
    {"{{eq .x .x}}", "x: []", "1:3: error calling eq: non-comparable"},
    {"{{eq 1}}", "", "1:3: error calling eq: missing argument"},
    {"{{lt 1 .missing}}", "", "1:3: error calling lt: invalid type"},
    {"{{lt true false}}", "", "1:3: error calling lt: invalid type"},
    {"{{len 3}}", "", "1:3: error calling len: len of type int"},
    {"{{len .missing}}", "", "1:3: error calling len: len of nil"},
    {"{{index .x 2}}", "x: [1]", "1:3: error calling index: index out of range: 2"},
    {"{{index .x -1}}", "x: [1]", "1:3: error calling index: index out of range"},
    {"{{index .x \"a\"}}", "x: [1]", "1:3: error calling index: cannot index"},
    {"{{index 3 1}}", "", "1:3: error calling index: can't index item of type int"},
    {"{{range .x}}{{end}}", "x: 3", "1:1: range can't iterate over 3 (float64)"},
    {"{{range $i, $e := 3}}{{end}}", "", "1:1: can't use 3 to iterate over more than one"},
    {"{{range \"abc\"}}{{end}}", "", "1:1: range can't iterate over abc"},
    {"{{AddInt 1 .missing}}", "", "1:3: error calling AddInt: cannot cast <nil> to float64"},
    {"{{Int \"1.5\"}}", "", "1:3: error calling Int: cannot cast 1.5 to int"},
    {"{{DivideInt 1 0}}", "", "1:3: error calling DivideInt: division by zero"},
    {"{{Mod 1 0}}", "", "1:3: error calling Mod: integer divide by zero"},
    {"{{Mod 1 0.5}}", "", "1:3: error calling Mod: integer divide by zero"},
    {"{{printf 1}}", "", "1:3: error calling printf: wrong type"},
    {"{{AddInt Mod 2}}", "", "1:10: wrong number of arguments for Mod: 0"},
};
INSTANTIATE_TEST_SUITE_P(NotRunning, Refusals, testing::ValuesIn(kNotRunning));

constexpr Row kEndless[] = {
    {"{{range 1000000000}}x{{end}}", "", "1:1: range over 1000000000 elements"},
    {"{{range 10000}}{{range 10000}}{{end}}{{end}}", "", "1:16: endless template"},
    {"{{range 1000}}{{$x := printf \"%10000d\" .}}{{$x}}{{end}}", "", "1:43: too much output"},
    {"{{$x := \"ab\"}}{{range 100}}{{$x = print $x $x}}{{end}}", "", "1:35: too long a string"},
    {"{{printf \"%99999999d\" 1}}", "", "1:3: error calling printf: unsupported"},
};
INSTANTIATE_TEST_SUITE_P(Endless, Refusals, testing::ValuesIn(kEndless));

TEST(GoTemplate, RefusesDeepNestsAndKeepsLongChains) {
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "{{if 1}}";
  EXPECT_NE(RenderText(deep, "").find("nested too deep"), std::string::npos);
  EXPECT_NE(RenderText("{{" + std::string(5000, '(') + "1" + std::string(5000, ')') + "}}", "")
                .find("nested too deep"),
            std::string::npos);
  std::string chain = "{{if eq .Index 0}}0";
  for (int i = 1; i < 100; ++i)
    chain += "{{else if eq .Index " + std::to_string(i) + "}}" + std::to_string(i);
  EXPECT_EQ(RenderText(chain + "{{end}}", ""), "7");
}

TEST(GoTemplate, RendersManyTimesFromOneCompilation) {
  const auto compiled =
      GoTemplate::Compile("t", "{{$n := 0}}{{range 3}}{{$n = AddInt $n 1}}{{end}}{{$n}}");
  ASSERT_TRUE(compiled);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*compiled->Render(Data("")), "3");
}

TEST(GoTemplate, LocatesOutputInTheSource) {
  const auto compiled = GoTemplate::Compile("t", "a\n{{range 2}}b\n{{end}}c\n{{.Index}} d\n");
  ASSERT_TRUE(compiled);
  const Value data = Data("");
  ASSERT_EQ(*compiled->Render(data), "a\nb\nb\nc\n7 d\n");
  EXPECT_EQ(compiled->Locate(data, {1, 1}).line, 1);
  EXPECT_EQ(compiled->Locate(data, {3, 1}).line, 2);  // The second b.
  EXPECT_EQ(compiled->Locate(data, {4, 1}).line, 3);
  EXPECT_EQ(compiled->Locate(data, {5, 1}).line, 4);
  EXPECT_EQ(compiled->Locate(data, {5, 3}).line, 4);
}

TEST(GoTemplate, LiteralKeepsBraces) {
  EXPECT_EQ(*GoTemplate::Literal("t", "{{x}}").Render(Data("")), "{{x}}");
  EXPECT_TRUE(GoTemplate::Literal("t", "{{x}}").IsConstant());
}

}  // namespace
}  // namespace schedq
