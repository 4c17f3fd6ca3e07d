#!/usr/bin/env python3
"""Checks that each file includes what it uses, and includes no header of ours in vain.

usage: check_includes.py ROOT [FILE...]

The check knows names and nothing of what they mean, so it leaves out what it cannot be sure of: a
name that two headers declare, and a function, constant or macro whose name a class has as a member.
  - A name of the standard library needs its header (STANDARD below).
  - A type, function, constant or macro that one header of ours declares needs that header.
  - A header of ours of which no name occurs in the file is included in vain. The mark
    `// IWYU pragma: keep` after the include says that it is needed all the same.
A file may rely on the includes of its own header: that of its name, or, for a file that defines
members of another header's class, that header.

Without FILE the check judges every .h and .cc file that git knows or would add below ROOT. Exit 0:
good, 1: problems, one line each, 2: wrong usage.
"""

import re
import sys
from pathlib import Path

from check_sources import CODE, Report, allowed, blank_out, files_of, longest_folder

# The names of std that each header declares. A name that is not listed is not judged.
STANDARD_BY_HEADER = {
    "algorithm": """all_of any_of none_of for_each find find_if find_if_not count count_if equal
        copy copy_if copy_n fill fill_n generate transform remove remove_if replace reverse rotate
        unique sort stable_sort partial_sort nth_element is_sorted lower_bound upper_bound
        equal_range binary_search merge includes set_difference set_intersection set_union
        push_heap pop_heap make_heap min max minmax min_element max_element minmax_element clamp
        lexicographical_compare next_permutation shuffle adjacent_find search partition
        stable_partition mismatch""",
    "array": "array to_array",
    "atomic": """atomic atomic_ref atomic_flag memory_order memory_order_relaxed
        memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst
        atomic_thread_fence atomic_signal_fence""",
    "bit": """bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero countl_one countr_one
        popcount has_single_bit rotl rotr endian""",
    "charconv": "from_chars to_chars chars_format from_chars_result to_chars_result",
    "chrono": "chrono",
    "cmath": """sqrt pow exp log log2 log10 log1p expm1 floor ceil round lround llround trunc
        isnan isinf isfinite fabs nextafter frexp ldexp erf erfc lgamma hypot cbrt""",
    "compare": "strong_ordering weak_ordering partial_ordering",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "cstdio": "fopen fclose fprintf fputs fputc fwrite fread fgets fflush snprintf perror",
    "cstdlib": """abort exit atexit getenv strtol strtoul strtoll strtoull strtod malloc calloc
        realloc free system""",
    "cstring": "memcpy memcmp memset memmove strlen strcmp strncmp strerror strchr strstr",
    "deque": "deque",
    "exception": "exception exception_ptr current_exception rethrow_exception terminate",
    "filesystem": "filesystem",
    "forward_list": "forward_list",
    "fstream": "ifstream ofstream fstream",
    "functional": """function less greater equal_to not_fn plus minus multiplies reference_wrapper
        ref cref bind_front invoke""",
    "future": "future promise async packaged_task",
    "initializer_list": "initializer_list",
    "iomanip": "setw setprecision setfill quoted",
    "iostream": "cout cerr cin clog",
    "iterator": """back_inserter inserter istreambuf_iterator ostream_iterator make_move_iterator
        next prev advance distance iterator_traits forward_iterator_tag
        random_access_iterator_tag input_iterator_tag bidirectional_iterator_tag""",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": """unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this
        addressof construct_at destroy_at align static_pointer_cast dynamic_pointer_cast
        const_pointer_cast pointer_traits allocator assume_aligned""",
    "mutex": """mutex recursive_mutex timed_mutex lock_guard unique_lock scoped_lock once_flag
        call_once adopt_lock defer_lock""",
    "new": "launder bad_alloc nothrow align_val_t",
    "numbers": "numbers",
    "numeric": """accumulate iota partial_sum inner_product reduce transform_reduce gcd lcm
        midpoint adjacent_difference""",
    "optional": "optional nullopt make_optional nullopt_t",
    "ostream": "endl",
    "queue": "queue priority_queue",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "ranges": "ranges views",
    "regex": "regex smatch regex_match regex_search regex_replace",
    "set": "set multiset",
    "shared_mutex": "shared_mutex shared_lock",
    "source_location": "source_location",
    "span": "span as_bytes dynamic_extent",
    "sstream": "stringstream ostringstream istringstream",
    "stack": "stack",
    "stdexcept": """runtime_error logic_error invalid_argument out_of_range length_error
        domain_error""",
    "stop_token": "stop_token stop_source",
    "string": """string to_string getline stoi stol stoul stoull stoll stod char_traits u8string
        basic_string""",
    "string_view": "string_view basic_string_view",
    "system_error": "error_code errc system_error make_error_code system_category generic_category",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple forward_as_tuple apply tuple_cat ignore",
    "type_traits": """is_same_v is_same enable_if_t conditional_t decay_t remove_cvref_t
        remove_reference_t is_trivially_copyable_v is_trivially_destructible_v is_integral_v
        is_floating_point_v is_arithmetic_v is_enum_v is_void_v is_unsigned_v is_signed_v
        is_const_v is_base_of_v is_constructible_v is_convertible_v is_empty_v is_invocable_v
        is_invocable_r_v invoke_result_t underlying_type_t true_type false_type void_t
        common_type_t make_unsigned_t make_signed_t is_nothrow_move_constructible_v is_pointer_v
        integral_constant bool_constant remove_const_t remove_pointer_t add_const_t is_class_v
        is_standard_layout_v is_trivially_default_constructible_v type_identity_t
        is_copy_constructible_v is_move_constructible_v is_default_constructible_v
        is_constant_evaluated has_unique_object_representations_v""",
    "typeinfo": "type_info",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set unordered_multiset",
    "utility": """move forward exchange pair make_pair index_sequence make_index_sequence
        index_sequence_for in_place in_place_t in_place_index in_place_type as_const declval
        integer_sequence piecewise_construct cmp_less""",
    "variant": "variant visit monostate holds_alternative get_if",
    "vector": "vector",
}
STANDARD = {name: [header] for header, names in STANDARD_BY_HEADER.items()
            for name in names.split()}
# Names that are used without std::.
PLAIN = {name: ["cstdint", "stdint.h"] for name in
         """int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t
         INT64_MIN INT64_MAX UINT64_MAX INT32_MAX INT32_MIN UINT32_MAX UINT16_MAX UINT8_MAX
         """.split()}
PLAIN |= {"size_t": ["cstddef", "cstdlib", "cstdio", "cstring", "stddef.h"],
          "ptrdiff_t": ["cstddef", "stddef.h"]}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]([^\n]*)', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
TEMPLATE = re.compile(r"^\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
TYPE = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:\[\[[^\]]*\]\]\s*|alignas\s*\((?:[^()]|\([^()]*\))*\)\s*)*(\w+)(?!\w)(\s*<)?")
OWN_NAMESPACES = {"schedq", "internal", "model"}


class Names:
    """What a file declares."""

    def __init__(self):
        self.types, self.functions, self.constants, self.macros = set(), set(), set(), set()
        self.forward = set()
        self.member_types, self.member_functions = set(), set()  # Of classes.

    def at_namespace(self):
        return self.types | self.functions | self.constants | self.macros

    def of_classes(self):
        return self.member_types | self.member_functions


def strip_template(head):
    while TEMPLATE.match(head):
        head = TEMPLATE.sub("", head, count=1)
    return head.strip()


def function_name(head):
    """The function that a declaration declares, or None."""
    head = re.sub(r"\[\[[^\]]*\]\]", " ", head)
    found = re.match(r"([^()=]*[\s*&])(\w+)\s*\(", head)
    if found is None or "operator" in found.group(1):
        return None
    before, name = found.group(1).strip(), found.group(2)
    is_declaration = before not in {"", "return", "else", "new", "static_assert"}
    return name if is_declaration and name[0].isupper() else None


def note_declaration(head, end, scope, names):
    """Notes what `head`, which ended with `end`, declares in a namespace or a class."""
    head = re.sub(r"\b(public|private|protected)\s*:(?!:)", " ", head)
    body = strip_template(head)
    if not body or body.startswith(("static_assert", "friend", "namespace", "extern template")):
        return
    in_class = scope == "type"
    using = re.match(r"using\s+(\w+)\s*(\[\[[^\]]*\]\]\s*)?=", body)
    kind = re.match(r"(?:inline\s+|static\s+|extern\s+|typedef\s+)*" + TYPE.pattern, body)
    function = None if using else function_name(body)
    if using:
        (names.member_types if in_class else names.types).add(using.group(1))
    elif kind and not re.search(r"\w\s+[*&]*\w+\s*\(", body[kind.end():]) and not kind.group(2):
        if end == ";":
            names.forward.add(kind.group(1))
        else:
            (names.member_types if in_class else names.types).add(kind.group(1))
    elif function:
        (names.member_functions if in_class else names.functions).add(function)
    elif not in_class:
        constant = re.search(r"\b(?:const|constexpr|constinit)\b.*?\b(k[A-Z]\w*)\s*(\[[^\]]*\]\s*)?"
                             r"(=|$|\{)", body, re.DOTALL)
        if constant:
            names.constants.add(constant.group(1))


def scope_of(head):
    """Whether the brace after `head` opens a namespace, a type or something else."""
    body = strip_template(re.sub(r"\b(public|private|protected)\s*:(?!:)", " ", head))
    if re.match(r"(inline\s+)?namespace\b|extern\s*$", body):
        return "namespace"
    kind = re.match(TYPE.pattern, re.sub(r"^(inline|static|typedef)\s+", "", body))
    if kind and not re.search(r"[)=]\s*$", body):
        return "type"
    return "other"


def declared(text):
    """The names that a file declares, from its text."""
    names = Names()
    names.macros = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE))
    code = DIRECTIVE.sub("", blank_out(text))
    stack = []
    start = 0
    for found in re.finditer(r"[{};]", code):
        head = code[start:found.start()]
        scope = stack[-1] if stack else "namespace"
        if found.group() == "{":
            opened = scope_of(head) if scope != "other" else "other"
            if scope != "other" and opened != "namespace":
                note_declaration(head, "{", scope, names)
            stack.append(opened)
        elif found.group() == "}":
            if stack:
                stack.pop()
        elif scope != "other":
            note_declaration(head, ";", scope, names)
        start = found.end()
    return names


class File:
    """A source file: its includes, what it declares and which names it uses."""

    def __init__(self, path, text):
        self.path = path.as_posix()
        # Target, the rest of the line, the line's number.
        self.includes = [(found.group(2), found.group(3), text.count("\n", 0, found.start()) + 1)
                         for found in INCLUDE.finditer(text)]
        self.names = declared(text)
        self.code = DIRECTIVE.sub(lambda found: re.sub(
            r"#[ \t]*include[^\n]*", "", found.group()), blank_out(text))
        self.code = re.sub(r"\b(TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\s*\(\s*\w+",
                           " ", self.code)
        self.local = self.names.of_classes() | self.names.at_namespace() | set(
            re.findall(r"\b(?:typename|class|struct|enum|union|using)\s+(\w+)", self.code))

    def targets(self):
        return {target for target, _, _ in self.includes}


def main_header(path):
    """The header that an -inl.h or _forward.h file is part of; else the path itself."""
    return re.sub(r"(-inl|_forward)\.h$", ".h", path)


def may_include(path, header):
    """Whether the direction table of check_sources lets a file include a header."""
    row = longest_folder(Path(path).parent.as_posix())
    return row is not None and allowed(Path(header).parent.as_posix(), row)


class Tree:
    def __init__(self, root, paths):
        self.files = {}
        for path in paths:
            if path.suffix in CODE:
                self.files[path.as_posix()] = File(path, (root / path).read_text())
        # Each name's headers. A type is judged if it has one; another name also needs that no class
        # has a member of that name. Members of a file's own classes are left out in that file.
        self.homes = {}
        types, members = set(), set()
        for file in self.files.values():
            types |= file.names.types
            members |= file.names.of_classes()
            if file.path.endswith(".h"):
                for name in file.names.at_namespace():
                    self.homes.setdefault(name, set()).add(main_header(file.path))
        self.judged = {name: next(iter(homes)) for name, homes in self.homes.items()
                       if len(homes) == 1 and len(name) > 1 and
                       (name in types or name not in members)}

    def own_headers(self, file):
        """The headers whose includes the file may rely on."""
        own = set()
        stem = re.sub(r"(-inl)?\.(h|cc)$", ".h", file.path)
        if stem != file.path and stem in self.files:
            own.add(stem)
        if not file.path.endswith("_test.cc"):
            for name in re.findall(r"\b(\w+)(?:<[^<>;(]*>)?::~?\w+\s*\(", file.code):
                home = self.homes.get(name, set())
                own |= {header for header in home if header in file.targets() and
                        Path(header).parent == Path(file.path).parent and
                        self.defines_member(file, name)}
        return own

    @staticmethod
    def defines_member(file, name):
        return re.search(rf"^(?:[\w:<>,&*\[\] ]+[\s&*])?{name}(?:<[^<>;(]*>)?::~?\w+\s*\(",
                         file.code, re.MULTILINE) is not None

    def problems(self, file):
        """Yields (line, message, header to add or None, header to remove or None)."""
        own = self.own_headers(file)
        seen = file.targets()
        for header in own:
            seen |= self.files[header].targets()
        seen |= {main_header(target) for target in seen} | own | {main_header(file.path)}
        yield from self.missing_standard(file, seen)
        local = file.local.union(*(self.files[header].local for header in own))
        yield from self.missing_ours(file, seen, local)
        yield from self.in_vain(file, own)

    @staticmethod
    def line_of(file, position):
        return file.code.count("\n", 0, position) + 1

    def missing_standard(self, file, seen):
        reported = set()
        uses = [(found, STANDARD.get(found.group(1)))
                for found in re.finditer(r"\bstd::(\w+)", file.code)]
        uses += [(found, PLAIN.get(found.group(1)))
                 for found in re.finditer(r"\b([a-z]\w*_t|U?INT\d+_M(?:AX|IN))\b", file.code)]
        for found, headers in sorted(uses, key=lambda use: use[0].start()):
            if headers is None or seen & set(headers):
                continue
            header = headers[0]  # Where there are several, the one to add comes first.
            if header not in reported:
                reported.add(header)
                yield (self.line_of(file, found.start()),
                       f"uses {found.group()} without <{header}>", f"<{header}>", None)

    def missing_ours(self, file, seen, local):
        reported = set()
        for found in re.finditer(r"(?:(\w+)\s*::\s*|(\.|->)\s*)?\b([A-Za-z_]\w*)", file.code):
            qualifier, member, name = found.groups()
            home = self.judged.get(name)
            if home is None or home in seen or member or name in local:
                continue
            if name in file.names.forward or (qualifier and qualifier not in OWN_NAMESPACES):
                continue
            if home not in reported and may_include(file.path, home):
                reported.add(home)
                yield (self.line_of(file, found.start(3)),
                       f"uses {name} without \"{home}\"", f'"{home}"', None)

    def in_vain(self, file, own):
        words = set(re.findall(r"\w+", file.code))
        for target, rest, line in file.includes:
            header = self.files.get(target)
            if header is None or main_header(target) in own or "IWYU pragma: keep" in rest:
                continue
            # What an -inl.h file defines is used without a name: it is instantiated.
            if target.endswith("-inl.h") or main_header(file.path) == target:
                continue
            declared_names = set()
            for suffix in (".h", "-inl.h", "_forward.h"):
                part = main_header(target).removesuffix(".h") + suffix
                if part in self.files:
                    names = self.files[part].names
                    declared_names |= names.at_namespace() | names.forward
            if declared_names and not declared_names & words:
                yield (line, f"includes \"{target}\" and uses nothing of it", None, target)


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0])
    tree = Tree(root, files_of(root))
    report = Report()
    for path in arguments[1:] or sorted(tree.files):
        if path not in tree.files:
            continue
        for line, message, _, _ in tree.problems(tree.files[path]):
            report.problem(f"{path}:{line}", message)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
