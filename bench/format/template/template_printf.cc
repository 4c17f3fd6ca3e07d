#include "bench/format/template/template_printf.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "perf/text/number_text.h"
#include "perf/text/utf8.h"

namespace schedq {
namespace {

struct Directive {
  bool plus = false;
  bool minus = false;
  bool sharp = false;
  bool space = false;
  bool zero = false;
  int width = -1;
  int precision = -1;
  char verb = 0;
};

std::string Pad(const Directive& directive, std::string text, bool zeros) {
  const int missing = directive.width - static_cast<int>(text.size());
  if (missing <= 0) return text;
  const auto count = static_cast<size_t>(missing);
  if (directive.minus) return text + std::string(count, ' ');
  if (!zeros) return std::string(count, ' ') + text;
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
  return text.insert(sign, count, '0');
}

std::string InBase(uint64_t magnitude, int base, bool upper) {
  char buffer[72];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base);
  (void)error;
  std::string text(buffer, end);
  if (upper) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c; });
  }
  return text;
}

std::string FormatInteger(const Directive& directive, int64_t value, int base) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits = InBase(magnitude, base, directive.verb == 'X');
  if (directive.precision > static_cast<int>(digits.size())) {
    digits.insert(0, static_cast<size_t>(directive.precision) - digits.size(), '0');
  }
  if (directive.precision == 0 && value == 0) digits.clear();
  std::string prefix = negative ? "-" : directive.plus ? "+" : directive.space ? " " : "";
  if (directive.sharp && base == 16) prefix += directive.verb == 'X' ? "0X" : "0x";
  if (directive.sharp && base == 8) prefix += "0";
  if (directive.sharp && base == 2) prefix += "0b";
  return Pad(directive, prefix + digits, directive.zero && directive.precision < 0);
}

std::string FormatFloatVerb(const Directive& directive, double value) {
  std::string text;
  const char verb = directive.verb == 'v' ? 'g' : directive.verb == 'F' ? 'f' : directive.verb;
  if ((verb == 'g' || verb == 'G') && directive.precision < 0) {
    text = GoFloatText(value);
    if (verb == 'G') std::replace(text.begin(), text.end(), 'e', 'E');
  } else if (!std::isfinite(value)) {
    text = GoFloatText(value);
  } else {
    char format[] = {'%', '.', '*', verb, '\0'};
    const int precision = directive.precision < 0 ? 6 : directive.precision;
    const int size = std::snprintf(nullptr, 0, format, precision, value);
    std::string buffer(static_cast<size_t>(size) + 1, '\0');
    std::snprintf(buffer.data(), buffer.size(), format, precision, value);
    buffer.pop_back();
    text = buffer;
  }
  const bool signed_already = text[0] == '-' || text[0] == '+';
  if (directive.plus && !signed_already) text.insert(0, "+");
  if (directive.space && !signed_already) text.insert(0, " ");
  return Pad(directive, text, directive.zero);
}

std::string FormatText(const Directive& directive, std::string text) {
  if (directive.verb == 'x' || directive.verb == 'X') {
    std::string out;
    for (char c : text) {
      char buffer[4];
      std::snprintf(buffer, sizeof(buffer), directive.verb == 'x' ? "%02x" : "%02X",
                    static_cast<unsigned char>(c));
      out += buffer;
    }
    return Pad(directive, out, directive.zero);
  }
  if (directive.precision >= 0 && directive.precision < static_cast<int>(text.size())) {
    text.resize(static_cast<size_t>(directive.precision));
  }
  if (directive.verb == 'q') text = QuoteString(text);
  return Pad(directive, text, directive.zero);
}

std::string BadVerb(const Directive& directive, const Value& value) {
  std::string out = std::string("%!") + directive.verb + "(";
  if (value.IsNil()) return out + "<nil>)";
  return out + std::string(value.TypeName()) + "=" + FormatValue(value) + ")";
}

std::string Rune(int64_t code) {
  std::string out;
  AppendUtf8(code < 0 || code > 0x10ffff ? 0xfffd : static_cast<uint32_t>(code), &out);
  return out;
}

std::string FormatIntegerVerb(const Directive& directive, int64_t value) {
  switch (directive.verb) {
    case 'v':
    case 'd':
      return FormatInteger(directive, value, 10);
    case 'x':
    case 'X':
      return FormatInteger(directive, value, 16);
    case 'o':
      return FormatInteger(directive, value, 8);
    case 'b':
      return FormatInteger(directive, value, 2);
    case 'c':
      return Pad(directive, Rune(value), directive.zero);
    case 'U': {
      std::string digits = InBase(static_cast<uint64_t>(value), 16, true);
      if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
      return Pad(directive, "U+" + digits, false);
    }
    default:
      return BadVerb(directive, Value(value));
  }
}

std::string FormatOne(const Directive& directive, const Value& value) {
  const auto is = [&directive](std::string_view verbs) {
    return verbs.find(directive.verb) != std::string_view::npos;
  };
  if (directive.verb == 'T') return FormatText(directive, std::string(value.TypeName()));
  if (value.IsNil()) return is("v") ? Pad(directive, "<nil>", false) : BadVerb(directive, value);
  if (const bool* boolean = value.AsBool()) {
    return is("vt") ? Pad(directive, *boolean ? "true" : "false", false)
                    : BadVerb(directive, value);
  }
  if (const int64_t* integer = value.AsInt()) return FormatIntegerVerb(directive, *integer);
  if (const double* number = value.AsFloat()) {
    return is("veEfFgG") ? FormatFloatVerb(directive, *number) : BadVerb(directive, value);
  }
  if (const std::string* text = value.AsString()) {
    return is("vsqxX") ? FormatText(directive, *text) : BadVerb(directive, value);
  }
  // Prints each element of a list or map by the same directive.
  std::string out = value.AsList() != nullptr ? "[" : "map[";
  const size_t empty = out.size();
  const auto add = [&](const std::string& item) {
    if (out.size() > empty) out += ' ';
    out += item;
  };
  if (const ValueList* list = value.AsList()) {
    for (const Value& item : *list) add(FormatOne(directive, item));
  } else {
    for (const auto& [key, item] : *value.AsMap()) {
      add(FormatOne(directive, Value(key)) + ":" + FormatOne(directive, item));
    }
  }
  return out + "]";
}

class Formatter {
 public:
  Formatter(std::string_view format, const std::vector<Value>& arguments)
      : format_(format), arguments_(arguments) {}

  Result<Value> Run() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%') {
        out_ += format_[at_++];
        continue;
      }
      ++at_;
      Directive directive;
      if (!Parse(&directive)) {
        return Error("unsupported printf directive, expected widths up to " +
                     std::to_string(kPrintfWidthMax) + " and no * or [n]");
      }
      Apply(directive);
    }
    if (next_ < arguments_.size()) AppendExtra();
    return Value(std::move(out_));
  }

 private:
  bool Parse(Directive* directive) {
    for (; at_ < format_.size(); ++at_) {
      const char c = format_[at_];
      if (c == '+') {
        directive->plus = true;
      } else if (c == '-') {
        directive->minus = true;
      } else if (c == '#') {
        directive->sharp = true;
      } else if (c == ' ') {
        directive->space = true;
      } else if (c == '0') {
        directive->zero = true;
      } else {
        break;
      }
    }
    if (directive->minus) directive->zero = false;
    if (!ParseNumber(&directive->width)) return false;
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      directive->precision = 0;
      if (!ParseNumber(&directive->precision)) return false;
    }
    if (at_ < format_.size()) {
      directive->verb = format_[at_++];
      if (directive->verb == '*' || directive->verb == '[') return false;
    }
    return true;
  }

  bool ParseNumber(int* number) {
    int value = 0;
    bool any = false;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_) {
      value = value * 10 + (format_[at_] - '0');
      any = true;
      if (value > kPrintfWidthMax) return false;
    }
    if (any) *number = value;
    return true;
  }

  void Apply(const Directive& directive) {
    if (directive.verb == 0) {
      out_ += "%!(NOVERB)";
    } else if (directive.verb == '%') {
      out_ += '%';
    } else if (next_ >= arguments_.size()) {
      out_ += std::string("%!") + directive.verb + "(MISSING)";
    } else {
      out_ += FormatOne(directive, arguments_[next_++]);
    }
  }

  void AppendExtra() {
    out_ += "%!(EXTRA ";
    for (size_t i = next_; i < arguments_.size(); ++i) {
      if (i > next_) out_ += ", ";
      const Value& value = arguments_[i];
      out_ += value.IsNil() ? "<nil>" : std::string(value.TypeName()) + "=" + FormatValue(value);
    }
    out_ += ")";
  }

  std::string_view format_;
  const std::vector<Value>& arguments_;
  size_t at_ = 0;
  size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string GoSprint(const std::vector<Value>& arguments) {
  std::string out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool between_strings =
        i > 0 && arguments[i].AsString() == nullptr && arguments[i - 1].AsString() == nullptr;
    if (between_strings) out += ' ';
    out += FormatValue(arguments[i]);
  }
  return out;
}

std::string GoSprintln(const std::vector<Value>& arguments) {
  std::string out;
  for (const Value& argument : arguments) {
    if (!out.empty()) out += ' ';
    out += FormatValue(argument);
  }
  return out + "\n";
}

Result<Value> GoSprintf(std::string_view format, const std::vector<Value>& arguments) {
  return Formatter(format, arguments).Run();
}

}  // namespace schedq
