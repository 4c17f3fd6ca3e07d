// Goal: expressions have the values and the errors that CEL gives them, and wrong ones are refused
// where they are wrong.
// Method: tables of expressions with their values as text, one table a rule.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/cel/device_selector.h"
#include "tests/support/cel_text.h"

namespace schedq {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

void ExpectValues(const Rows& rows) {
  for (const auto& [expression, value] : rows) {
    EXPECT_EQ(CelTextOf(expression), value) << expression;
  }
}

// The beginning of the message is enough.
void ExpectRefused(const Rows& rows) {
  for (const auto& [expression, message] : rows) {
    const std::string text = CelTextOf(expression);
    EXPECT_EQ(text.substr(0, 9 + message.size()), "refused: " + message) << expression;
  }
}

TEST(CelExpression, ReadsLiterals) {
  ExpectValues({
      {"12", "12"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"0x1F", "31"},
      {"-0x10", "-16"},
      {"18446744073709551615u", "18446744073709551615u"},
      {"0xfU", "15u"},
      {"1.5e2", "1.5e+02"},
      {".5", "5e-01"},
      {"1e-400", "0e+00"},
      {"true", "true"},
      {"null", "null"},
      {"[1, 2,]", "[1, 2]"},
      {"{'b': 1, 'a': 2,}", "{\"a\": 2, \"b\": 1}"},
      {"{'a': 1, 'a': 2}", "{\"a\": 2}"},
      {"1 // a comment\n + 1", "2"},
      {"int", "int"},
  });
}

TEST(CelExpression, ReadsStrings) {
  ExpectValues({
      {R"("it's")", R"("it's")"},
      {R"('say "x"')", R"("say \x22x\x22")"},
      {R"("\a\b\f\n\r\t\v\\\?\'\"\`")", R"("\x07\x08\x0c\x0a\x0d\x09\x0b\x5c?'\x22`")"},
      {R"("\x41\101\u0042\U00000043")", R"("AABC")"},
      {R"("\u00e9")", R"("\xc3\xa9")"},
      {R"(b"\xff\377\x00")", R"(b"\xff\xff\x00")"},
      {R"(r"\n")", R"("\x5cn")"},
      {R"(br'\d')", R"(b"\x5cd")"},
      {"'''a\n'b''c'''", R"("a\x0a'b''c")"},
      {"\"\"\"a\r\nb\"\"\"", R"("a\x0ab")"},
      {R"(size("\U0001F600é"))", "2"},
  });
  ExpectRefused({
      {R"("\q")", "1:1: the string has an escape that is none"},
      {R"("\ud800")", "1:1: the string has an escape that is none"},
      {R"(b"\u0041")", "1:1: the string has an escape that is none"},
      {"1 +\n  'abc", "2:3: the string has no end, expected '"},
      {"'a\nb'", "1:1: the string has no end"},
      {"\"\xff\"", "1:2: the expression is not UTF-8"},
  });
}

TEST(CelExpression, Calculates) {
  ExpectValues({
      {"2 + 3 * 4 - 6 / 2", "11"},
      {"-7 / 2", "-3"},
      {"-7 % 2", "-1"},
      {"7u % 4u", "3u"},
      {"1.0 / 0.0", "inf"},
      {"--3", "3"},
      {"-(3)", "-3"},
      {"'a' + 'b'", "\"ab\""},
      {"b'a' + b'b'", "b\"ab\""},
      {"[1] + [2, 3]", "[1, 2, 3]"},
      {"9223372036854775807 + 1", "error: integer overflow"},
      {"-9223372036854775808 - 1", "error: integer overflow"},
      {"-9223372036854775808 / -1", "error: integer overflow"},
      {"-9223372036854775808 % -1", "error: integer overflow"},
      {"-(-9223372036854775808)", "error: integer overflow"},
      {"4611686018427387904 * 2", "error: integer overflow"},
      {"18446744073709551615u + 1u", "error: unsigned integer overflow"},
      {"1u - 2u", "error: unsigned integer overflow"},
      {"1 / 0", "error: division by zero"},
      {"1 % 0", "error: modulus by zero"},
      {"dyn(1) + 1.0", "error: no such overload: _+_(int, double)"},
  });
}

TEST(CelExpression, Compares) {
  ExpectValues({
      {"1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"},
      {"1 < 1.5 && 2u > 1 && 1.0 <= 1u", "true"},
      {"9223372036854775807 < 9223372036854775808u", "true"},
      {"-1 < 0u", "true"},
      {"dyn(1) == 1.0 && dyn(1u) == 1", "true"},
      {"dyn(1) == 1.5", "false"},
      {"dyn(1) == 'a'", "false"},
      {"dyn(null) == 1", "false"},
      {"double('NaN') == double('NaN')", "false"},
      {"double('NaN') < 1.0", "error: NaN values cannot be ordered"},
      {"'a' < 'b' && b'a' < b'b' && false < true", "true"},
      {"[1, 2] == [1, 2] && {'a': [1]} == {'a': [1]}", "true"},
      {"{1: 'a'} == {2: 'a'}", "false"},
      {"type(1) == int && type(type(1)) == type", "true"},
      {"dyn([1]) < dyn([2])", "error: no such overload: _<_(list, list)"},
  });
}

TEST(CelExpression, AbsorbsErrorsInLogic) {
  ExpectValues({
      {"false && 1 / 0 > 0", "false"},
      {"1 / 0 > 0 && false", "false"},
      {"true || 1 / 0 > 0", "true"},
      {"1 / 0 > 0 || true", "true"},
      {"1 / 0 > 0 || 1 % 0 > 0", "error: division by zero"},
      {"1 / 0 > 0 && true && 1 % 0 > 0", "error: division by zero"},
      {"dyn(1) && false", "false"},
      {"dyn(1) && true", "error: no such overload"},
      {"!(1 / 0 > 0)", "error: division by zero"},
      {"true ? 1 : 1 / 0", "1"},
      {"1 / 0 > 0 ? 1 : 2", "error: division by zero"},
      {"false ? 1 : true ? 2 : 3", "2"},
  });
}

TEST(CelExpression, LooksIntoListsAndMaps) {
  ExpectValues({
      {"[1, 2, 3][1]", "2"},
      {"[1][dyn(0.0)]", "1"},
      {"[1][1]", "error: index out of bounds: 1"},
      {"[1][-1]", "error: index out of bounds: -1"},
      {"{'a': 1}.a + {'a': 1}['a']", "2"},
      {"{'a': 1}.b", "error: no such key: b"},
      {"{1: 'x'}[dyn(1.0)] + {1u: 'y'}[dyn(1)]", "\"xy\""},
      {"2 in [1, 2] && !(3 in [1, 2])", "true"},
      {"'a' in {'a': 1} && !('b' in {'a': 1})", "true"},
      {"dyn(1.0) in {1: 2}", "true"},
      {"has({'a': 1}.a) && !has({'a': 1}.b)", "true"},
      {"has({'a': {'b': 1}}.c.d)", "error: no such key: c"},
      {"{'x-y': 1}.`x-y`", "1"},
      {"size([1, 2]) + [1].size() + size({'a': 1}) + size(b'abc')", "7"},
      {"dyn(1).a", "error: no such key: a"},
  });
}

TEST(CelExpression, IteratesByMacros) {
  ExpectValues({
      {"[1, 2, 3].all(x, x > 0)", "true"},
      {"[].all(x, x > 0)", "true"},
      {"[1, 2, 3].exists(x, x == 2)", "true"},
      {"[1, 0].exists(x, 1 / x == 1)", "true"},
      {"[0, 1].exists(x, 1 / x == 1)", "true"},
      {"[0, 2].exists(x, 1 / x == 1)", "error: division by zero"},
      {"[0, 2].all(x, 1 / x == 1)", "false"},
      {"[1, 2, 2].exists_one(x, x == 1) && ![1, 2, 2].existsOne(x, x == 2)", "true"},
      {"[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero"},
      {"[1, 2, 3].map(x, x * x)", "[1, 4, 9]"},
      {"[1, 2, 3].map(x, x > 1, x * x)", "[4, 9]"},
      {"[1, 2, 3].filter(x, x % 2 == 1)", "[1, 3]"},
      {"{'b': 1, 'a': 2}.map(k, k)", "[\"a\", \"b\"]"},
      {"[[1], [2, 3]].map(x, x.map(y, y + size(x)))", "[[2], [4, 5]]"},
      {"[1].map(x, [2].map(x, x))", "[[2]]"},
      {"cel.bind(x, 3, x * x)", "9"},
      {"cel.bind(x, 1 / 0, true)", "true"},
      {"cel.bind(x, 1 / 0, x == 1)", "error: division by zero"},
      {"dyn(1).exists(x, true)", "error: expected a list or a map to iterate over, got int"},
  });
}

TEST(CelExpression, ConvertsTypes) {
  ExpectValues({
      {"int(3.9) + int('-4') + int(5u)", "4"},
      {"int(9223372036854775808.0)", "error: integer overflow"},
      {"int(18446744073709551615u)", "error: integer overflow"},
      {"int('1.5')", "error: type conversion error from 'string' to 'int'"},
      {"uint(-1)", "error: unsigned integer overflow"},
      {"uint('7') + uint(7.9)", "14u"},
      {"double('1e3') + double(1) + double(2u)", "1.003e+03"},
      {"double('-inf')", "-inf"},
      {"double('0x10')", "error: type conversion error from 'string' to 'double'"},
      {"string(1) + string(2u) + string(true) + string(1.5) + string(1e6)", "\"12true1.51e+06\""},
      {"string(b'\\xff')", "error: invalid UTF-8 in bytes, cannot convert to string"},
      {"bytes('é')", "b\"\\xc3\\xa9\""},
      {"bool('t') && !bool('False')", "true"},
      {"bool('yes')", "error: type conversion error from 'string' to 'bool'"},
      {"dyn(1) == 1", "true"},
  });
}

TEST(CelExpression, WorksOnStrings) {
  ExpectValues({
      {"'tacocat'.contains('coc') && 'tacocat'.startsWith('ta') && 'a'.endsWith('a')", "true"},
      {"'nvidia-a100'.matches('a[0-9]+$') && !matches('xa', '^a')", "true"},
      {"'a1b22'.find('[0-9]+') + 'x'.find('y')", "\"1\""},
      {"'héllo'.charAt(1) + 'a'.charAt(1)", "\"\\xc3\\xa9\""},
      {"'a'.charAt(2)", "error: index out of range: 2"},
      {"'héllo'.indexOf('l')", "2"},
      {"'hello'.indexOf('l', 3)", "3"},
      {"'hello'.indexOf('', 9)", "5"},
      {"'hello'.indexOf('x')", "-1"},
      {"'hello'.indexOf('h', -1)", "error: index out of range: -1"},
      {"'hello'.lastIndexOf('l')", "3"},
      {"'hello'.lastIndexOf('l', 2)", "2"},
      {"'hello'.lastIndexOf('')", "5"},
      {"'AbÇ'.lowerAscii()", "\"ab\\xc3\\x87\""},
      {"'abc'.upperAscii()", "\"ABC\""},
      {"'banana'.replace('an', 'x')", "\"bxxa\""},
      {"'banana'.replace('an', 'x', 1)", "\"bxana\""},
      {"'ab'.replace('', '-')", "\"-a-b-\""},
      {"'a,b,c'.split(',')", "[\"a\", \"b\", \"c\"]"},
      {"'a,b,c'.split(',', 2)", "[\"a\", \"b,c\"]"},
      {"'héy'.split('')", "[\"h\", \"\\xc3\\xa9\", \"y\"]"},
      {"''.split(',')", "[\"\"]"},
      {"'a'.split(',', 0)", "[]"},
      {"'tacocat'.substring(4) + 'tacocat'.substring(0, 4)", "\"cattaco\""},
      {"'abc'.substring(2, 1)", "error: invalid substring range. start: 2, end: 1"},
      {"'abc'.substring(4)", "error: index out of range: 4"},
      {"'\\u00a0 a b\\t\\u2003'.trim()", "\"a b\""},
      {"['a', 'b'].join('-') + ['c'].join()", "\"a-bc\""},
  });
}

TEST(CelExpression, WorksOnListsOfKubernetes) {
  ExpectValues({
      {"[1, 2].includes(2) && 'a'.includes('a') && ![1].includes('a')", "true"},
      {"[1, 2, 2].isSorted() && ![2, 1].isSorted()", "true"},
      {"[1, 2].sum() + [3, 1, 2].min() + [3, 1].max()", "7"},
      {"[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2"},
      {"dyn([]).max()", "error: max called on empty list"},
  });
}

TEST(CelExpression, RefusesWrongSyntaxWithItsPlace) {
  ExpectRefused({
      {"", "1:1: the expression ends, expected a value"},
      {"1 +", "1:4: the expression ends, expected a value"},
      {"1 2", "1:3: found '2', expected an operator"},
      {"(1", "1:3: the expression ends, expected ')'"},
      {"[1", "1:3: the expression ends, expected ']'"},
      {"{1}", "1:3: found '}', expected ':'"},
      {"a.1", "1:2: found '.1', expected an operator"},
      {"1 = 1", "1:3: unexpected '='"},
      {"-!true", "1:2: found '!', expected a value"},
      {"for", "1:1: reserved identifier: for"},
      {"9223372036854775808", "1:1: invalid int literal"},
      {"1e999", "1:1: invalid double literal"},
      {"'é' + #", "1:7: unexpected '#'"},
      {"has(1)", "1:1: invalid argument to has() macro"},
      {"[1].all(1, true)", "1:9: argument must be a simple name"},
      {"{}.?a", "1:4: optional values are not modelled"},
  });
}

TEST(CelExpression, RefusesWrongTypesWithTheirPlace) {
  ExpectRefused({
      {"1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'"},
      {"1 == 'a'", "1:3: found no matching overload for '_==_' applied to '(int, string)'"},
      {"[1, 'a']", "1:5: expected type 'int' but found 'string'"},
      {"{'a': 1, 'b': 'c'}", "1:15: expected type 'int' but found 'string'"},
      {"1 && true", "1:1: expected type 'bool' but found 'int'"},
      {"true ? 1 : 'a'",
       "1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
      {"x", "1:1: undeclared reference to 'x'"},
      {"f(1)", "1:2: undeclared reference to 'f'"},
      {"1.size()", "1:7: found no matching overload for 'size' applied to 'int.()'"},
      {"'a'.contains(1)",
       "1:13: found no matching overload for 'contains' applied to 'string.(int)'"},
      {"1.a", "1:2: type 'int' does not support field selection"},
      {"(1).a", "1:4: type 'int' does not support field selection"},
      {"1.exists(x, true)", "1:1: expression of type 'int' cannot be range of a comprehension"},
      {"[1].filter(x, x)", "1:15: expected type 'bool' but found 'int'"},
      {"'a'.matches('(')", "1:13: invalid matches argument: "},
      {"duration('1s')", "1:9: 'duration' is not modelled"},
      {"[1].all(i, v, v > i)", "1:5: 'all' with two variables is not modelled"},
      {"sets.contains([1], [1])", "1:1: 'sets.contains' is not modelled"},
      {"[] + [1] + ['a']", "1:10: found no matching overload for '_+_' applied to"},
  });
}

TEST(CelExpression, BoundsNesting) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(CelTextOf(nested(249)), "1");
  EXPECT_NE(CelTextOf(nested(250)).find("nested deeper than 250"), std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += " + 1";
  EXPECT_NE(CelTextOf(sum).find("nested deeper than 250"), std::string::npos);
  std::string chain = "true";
  for (int i = 0; i < 1000; ++i) chain += " && true";
  EXPECT_EQ(CelTextOf(chain), "true") << "a chain of && is one node";
  EXPECT_NE(CelTextOf(std::string(kSelectorBytesMax + 1, ' ')).find("expected at most 10240"),
            std::string::npos);
}

TEST(CelExpression, BoundsWorkAndMemory) {
  // Each list holds the one before it twice: comparing two of them would take 2^60 steps.
  std::string doubled = "[1]";
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "v" + std::to_string(i);
    text += "cel.bind(" + name + ", " + doubled + ", ";
    doubled = "[" + name + ", " + name + "]";
  }
  text += "dyn(v59) == dyn(v59)" + std::string(60, ')');
  EXPECT_EQ(CelTextOf(text),
            "error: operation cancelled: too many steps within comparisons and copies");
  std::string grown;
  for (int i = 0; i < 40; ++i) grown += "cel.bind(s, s + s, ";
  EXPECT_EQ(CelTextOf("cel.bind(s, 'abcdefgh', " + grown + "size(s)" + std::string(41, ')')),
            "error: operation cancelled: no memory is left");
  const std::string list = "[0,1,2,3,4,5,6,7,8,9]";
  std::string loops = "true";
  for (int i = 0; i < 7; ++i) loops = list + ".all(x, " + loops + ")";
  EXPECT_EQ(CelTextOf(loops), "error: operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(CelTextOf("false && " + loops), "false") << "what is not evaluated costs nothing";
  EXPECT_EQ(CelTextOf(loops + " && false"),
            "error: operation cancelled: actual cost limit exceeded")
      << "nothing absorbs the end of an evaluation";
}

}  // namespace
}  // namespace schedq
