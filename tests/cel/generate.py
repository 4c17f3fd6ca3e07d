"""Generates CEL expressions by seed: well typed ones, whose values and errors are worth comparing.

Operands come from the borders of their types, so that overflow, division by zero, missing keys,
NaN and positions out of range are common. Some operands are wrapped in dyn(), so that operators see
types that do not fit at the time of evaluation.
"""
import random

INTS = ["0", "1", "-1", "2", "3", "7", "10", "-5", "63", "9223372036854775807",
        "-9223372036854775808", "4611686018427387904", "0x1F"]
UINTS = ["0u", "1u", "2u", "5u", "0xFFu", "9223372036854775808u", "18446744073709551615u"]
DOUBLES = ["0.0", "-0.0", "1.0", "-1.5", "0.5", "2.25", "1e3", "1e-3", "1e308", "123456789.125",
           "9223372036854775808.0", "18446744073709551616.0"]
STRINGS = ["''", "'a'", "'b'", "'abc'", "'hello world'", "'A-b_C'", r"'\u00e9t\u00e9'",
           "\"it's\"", r"r'\d+'", "'1'", "'-12'", "'1.5'", "'true'", "'aXbXc'", "' pad '",
           r"'\U0001F600x'", "'''tri'ple'''", "'abcabc'"]
BYTES = ["b''", "b'a'", "b'abc'", r"b'\xff\x00'", "b'zz'"]
BOOLS = ["true", "false"]
PATTERNS = ["'a'", "'^a'", "'[a-c]+$'", r"r'\d+'", "'^$'", "'b|X'", "'(ab)+c?'", "'.'", r"'\\s'"]
KEYS = ["'a'", "'b'", "'c'", "'x'"]
TYPES = ["int", "uint", "double", "string", "bytes", "bool", "list_int", "list_string", "map"]
SCALARS = TYPES[:6]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.variables = []  # Name and type of the variables in scope.

    def line(self):
        self.variables = []
        return self.make(self.random.choice(TYPES + ["bool"] * 4), self.random.randint(1, 4))

    def pick(self, *choices):
        return self.random.choice(choices)

    def make(self, kind, depth):
        """An expression of a type."""
        known = [name for name, of in self.variables if of == kind]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        if depth <= 0:
            return self.literal(kind)
        if self.random.random() < 0.06:
            condition = self.make("bool", depth - 1)
            return f"({condition} ? {self.make(kind, depth - 1)} : {self.make(kind, depth - 1)})"
        return getattr(self, kind)(depth - 1)

    def literal(self, kind):
        if kind == "list_int":
            return "[" + ", ".join(self.random.choice(INTS) for _ in range(self.few())) + "]"
        if kind == "list_string":
            return "[" + ", ".join(self.random.choice(STRINGS) for _ in range(self.few())) + "]"
        if kind == "map":
            keys = self.random.sample(KEYS, self.few(len(KEYS)))
            return "{" + ", ".join(f"{key}: {self.random.choice(INTS)}" for key in keys) + "}"
        return self.random.choice({"int": INTS, "uint": UINTS, "double": DOUBLES,
                                   "string": STRINGS, "bytes": BYTES, "bool": BOOLS}[kind])

    def few(self, most=3):
        return self.random.randint(0, most)

    def small(self):
        return str(self.random.randint(-1, 6))

    def dyn(self, depth):
        return f"dyn({self.make(self.random.choice(TYPES), depth)})"

    def maybe_dyn(self, kind, depth):
        return self.dyn(depth) if self.random.random() < 0.06 else self.make(kind, depth)

    def within(self, name, kind, body, depth):
        """An expression that may use a variable."""
        self.variables.append((name, kind))
        text = self.make(body, depth)
        self.variables.pop()
        return text

    def arithmetic(self, kind, operators, depth):
        left, right = self.make(kind, depth), self.maybe_dyn(kind, depth)
        return f"({left} {self.random.choice(operators)} {right})"

    def int(self, depth):
        make = self.make
        return self.pick(
            lambda: self.arithmetic("int", "+-*/%", depth),
            lambda: self.arithmetic("int", "+-*/%", depth),
            lambda: f"-({make('int', depth)})",
            lambda: f"int({make(self.pick('uint', 'double', 'string', 'int'), depth)})",
            lambda: f"size({make(self.pick('string', 'bytes', 'list_int', 'map'), depth)})",
            lambda: f"{make('list_string', depth)}.size()",
            lambda: f"{make('list_int', depth)}[{self.small()}]",
            lambda: f"{make('map', depth)}[{self.random.choice(KEYS)}]",
            lambda: f"{make('map', depth)}.{self.pick('a', 'b', 'x')}",
            lambda: f"{make('string', depth)}.indexOf({make('string', depth)})",
            lambda: f"{make('string', depth)}.indexOf({make('string', depth)}, {self.small()})",
            lambda: f"{make('string', depth)}.lastIndexOf({make('string', depth)})",
            lambda: f"{make('string', depth)}.lastIndexOf({make('string', depth)}, {self.small()})",
        )()

    def uint(self, depth):
        return self.pick(
            lambda: self.arithmetic("uint", "+-*/%", depth),
            lambda: f"uint({self.make(self.pick('int', 'double', 'string', 'uint'), depth)})",
        )()

    def double(self, depth):
        return self.pick(
            lambda: self.arithmetic("double", "+-*/", depth),
            lambda: f"-({self.make('double', depth)})",
            lambda: f"double({self.make(self.pick('int', 'uint', 'string', 'double'), depth)})",
        )()

    def string(self, depth):
        make = self.make
        return self.pick(
            lambda: self.arithmetic("string", "+", depth),
            lambda: f"string({make(self.pick('int', 'uint', 'bool', 'string', 'bytes'), depth)})",
            lambda: f"{make('string', depth)}.lowerAscii()",
            lambda: f"{make('string', depth)}.upperAscii()",
            lambda: f"{make('string', depth)}.trim()",
            lambda: f"{make('string', depth)}.charAt({self.small()})",
            lambda: f"{make('string', depth)}.substring({self.small()})",
            lambda: f"{make('string', depth)}.substring({self.small()}, {self.small()})",
            lambda: f"{make('string', depth)}.replace({make('string', 0)}, {make('string', 0)})",
            lambda: (f"{make('string', depth)}.replace({make('string', 0)}, {make('string', 0)}, "
                     f"{self.small()})"),
            lambda: f"{make('list_string', depth)}.join()",
            lambda: f"{make('list_string', depth)}.join({make('string', 0)})",
            lambda: f"{make('list_string', depth)}[{self.small()}]",
        )()

    def bytes(self, depth):
        return self.pick(
            lambda: self.arithmetic("bytes", "+", depth),
            lambda: f"bytes({self.make('string', depth)})",
        )()

    def list_int(self, depth):
        make, name = self.make, f"v{len(self.variables)}"
        return self.pick(
            lambda: f"({make('list_int', depth)} + {make('list_int', depth)})",
            lambda: f"[{make('int', depth)}, {make('int', depth)}]",
            lambda: (f"{make('list_int', depth)}.map({name}, "
                     f"{self.within(name, 'int', 'int', depth)})"),
            lambda: (f"{make('list_int', depth)}.map({name}, "
                     f"{self.within(name, 'int', 'bool', depth)}, "
                     f"{self.within(name, 'int', 'int', depth)})"),
            lambda: (f"{make('list_int', depth)}.filter({name}, "
                     f"{self.within(name, 'int', 'bool', depth)})"),
            lambda: (f"{make('list_string', depth)}.map({name}, "
                     f"{self.within(name, 'string', 'int', depth)})"),
        )()

    def list_string(self, depth):
        make, name = self.make, f"v{len(self.variables)}"
        return self.pick(
            lambda: f"({make('list_string', depth)} + {make('list_string', depth)})",
            lambda: f"[{make('string', depth)}, {make('string', depth)}]",
            lambda: f"{make('string', depth)}.split({make('string', 0)})",
            lambda: f"{make('string', depth)}.split({make('string', 0)}, {self.small()})",
            lambda: (f"{make('list_string', depth)}.filter({name}, "
                     f"{self.within(name, 'string', 'bool', depth)})"),
            lambda: (f"{make('list_int', depth)}.map({name}, "
                     f"{self.within(name, 'int', 'string', depth)})"),
        )()

    def map(self, depth):
        keys = self.random.sample(KEYS, self.few(len(KEYS)))
        return "{" + ", ".join(f"{key}: {self.make('int', depth)}" for key in keys) + "}"

    def comparison(self, depth):
        if self.random.random() < 0.3:  # Numbers across their types.
            left, right = (self.pick("int", "uint", "double") for _ in range(2))
            operator = self.pick("<", "<=", ">", ">=")
            return f"({self.make(left, depth)} {operator} {self.make(right, depth)})"
        kind = self.pick(*SCALARS)
        operator = self.pick("<", "<=", ">", ">=", "==", "!=")
        return f"({self.make(kind, depth)} {operator} {self.maybe_dyn(kind, depth)})"

    def macro(self, depth):
        name = f"v{len(self.variables)}"
        kind = self.pick("int", "string")
        macro = self.pick("all", "exists", "exists_one")
        source = self.make(f"list_{kind}", depth)
        if kind == "string" and self.random.random() < 0.3:
            source = self.make("map", depth)
        return f"{source}.{macro}({name}, {self.within(name, kind, 'bool', depth)})"

    def bool(self, depth):
        make = self.make
        return self.pick(
            lambda: self.comparison(depth),
            lambda: self.comparison(depth),
            lambda: f"({make('bool', depth)} && {self.maybe_dyn('bool', depth)})",
            lambda: f"({make('bool', depth)} || {self.maybe_dyn('bool', depth)})",
            lambda: f"({make('bool', depth)} && {make('bool', depth)} && {make('bool', depth)})",
            lambda: f"!({make('bool', depth)})",
            lambda: f"({self.dyn(depth)} == {self.dyn(depth)})",
            lambda: f"({self.dyn(depth)} < {self.dyn(depth)})",
            lambda: f"({make('int', depth)} in {make('list_int', depth)})",
            lambda: f"({make('string', depth)} in {make('map', depth)})",
            lambda: f"({make('list_int', depth)} == {make('list_int', depth)})",
            lambda: f"({make('map', depth)} == {make('map', depth)})",
            lambda: f"has({make('map', depth)}.{self.pick('a', 'b', 'x')})",
            lambda: f"bool({make('string', depth)})",
            lambda: f"{make('string', depth)}.contains({make('string', depth)})",
            lambda: f"{make('string', depth)}.startsWith({make('string', depth)})",
            lambda: f"{make('string', depth)}.endsWith({make('string', depth)})",
            lambda: f"{make('string', depth)}.matches({self.random.choice(PATTERNS)})",
            lambda: f"(type({self.dyn(depth)}) == {self.pick('int', 'string', 'list', 'bool')})",
            lambda: self.macro(depth),
            lambda: self.macro(depth),
        )()


def expressions(seed, count, bytes_max=2000):
    """As many different expressions as asked for, none longer than a bound."""
    generator = Generator(seed)
    seen = set()
    while len(seen) < count:
        line = generator.line()
        if len(line.encode()) <= bytes_max and line not in seen:
            seen.add(line)
            yield line
