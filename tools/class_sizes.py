"""How large classes and functions of formatted C++ are: lines, members, functions. A reader of braces and semicolons, not a parser: it
takes half a minute less than Clang would for all of src, and needs no build. May be wrong: what macros define is not seen, and a class
template's members that are written outside of it count by its last name.

A class's members are those of itself and of the structs that are defined in it. Its functions are those that it declares. Its
lines are those of its definition and of its functions wherever they are defined.
"""
import dataclasses
import re

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)  # no 1'000
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
CLASS = re.compile(r"(?<!\benum )\b(class|struct|union)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)(?:<[^;{]*>)?\s*(?:final\s*)?(?::[^:][^;{]*)?$")
NAMESPACE = re.compile(r"\b(?:namespace\b[^;(]*|extern\s*)$")
NO_MEMBER = re.compile(r"^\s*(?:using|friend|typedef|static_assert|enum|template\s*<[^;]*>\s*(?:class|struct)|class|struct|union|public|private|protected)\b")
DEFINED = re.compile(r"((?:\w+(?:<[^<>]*>)?::)+)(?:~?\w+|operator\s*\S{1,3})\s*\($")


@dataclasses.dataclass
class Size:
    where: str = ""
    lines: int = 0
    members: int = 0
    functions: int = 0


@dataclasses.dataclass
class Scope:
    kind: str   # namespace, class, function, other
    name: str
    begin: int  # of the statement that opens it


def blank(match):
    """As many lines, nothing else."""
    text = match[0]
    return ('""' if text[0] in "\"R'" else "") + "\n" * text.count("\n")


def head_of(text):
    """A declaration up to its parameters' parenthesis, without templates, attributes and initialisers; "": it has none."""
    text = re.sub(r"\b(?:template|requires|alignas|decltype|noexcept)\s*(<(?:[^<>]|<[^<>]*>)*>|\((?:[^()]|\([^()]*\))*\))", " ", text)
    text = re.sub(r"\[\[[^\]]*\]\]", " ", text)
    before = None
    while before != text:
        before, text = text, re.sub(r"(?<=\w)\s*<[^<>;{}]*>", "", text)
    position = text.find("(")
    initialiser = re.search(r"(?<![=!<>])=(?!=)", text)
    if position < 0 or (initialiser and initialiser.start() < position and "operator" not in text):
        return ""
    return text[:position + 1]


class Reader:
    """What one file has: classes by name, functions with their lines."""

    def __init__(self, name, text):
        self.name = name
        self.text = DIRECTIVE.sub(lambda m: "\n" * m[0].count("\n"), NOISE.sub(blank, text))
        self.classes, self.functions, self.outside = {}, [], []  # outside: (class, lines)
        self.scopes, self.statement = [], 0
        self.read()

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def first(self, begin):
        while begin < len(self.text) and self.text[begin].isspace():
            begin += 1
        return begin

    def owner(self):
        """The outermost class that is being read."""
        return next((scope for scope in self.scopes if scope.kind == "class"), None)

    def inside(self, *kinds):
        return any(scope.kind in kinds for scope in self.scopes)

    def read(self):
        round_ = 0
        for match in re.finditer(r"[{}();]|\b(?:public|private|protected):", self.text):
            token, at = match[0], match.start()
            if token in "()":
                round_ += 1 if token == "(" else -1
            elif round_ > 0:
                continue  # lambdas among arguments
            elif token == "{":
                self.open(self.text[self.statement:at], at)
            elif token == "}":
                self.close(at)
            else:
                if token == ";":
                    self.end(self.text[self.statement:at])
                self.statement = match.end()

    def open(self, before, at):
        begin = self.first(self.statement)
        found = CLASS.search(before.strip())
        head = head_of(before)
        if self.inside("function", "other"):
            kind, name = "other", ""
        elif found and not head:
            kind, name = "class", found[2].split("::")[-1]
        elif NAMESPACE.search(before.strip()):
            kind, name = "namespace", ""
        elif head:
            kind, name = "function", head
        else:
            kind, name = "other", ""  # an enumeration, or a value in braces
        if kind == "class" and self.owner() is None:
            self.classes.setdefault(name, Size(f"{self.name}:{self.line(begin)}"))
        self.scopes.append(Scope(kind, name, begin))
        if kind in ("class", "namespace") or (kind == "function"):
            self.statement = at + 1

    def close(self, at):
        if not self.scopes:
            return
        scope = self.scopes.pop()
        lines = self.line(at) - self.line(scope.begin) + 1
        if scope.kind == "class" and self.owner() is None:
            self.classes[scope.name].lines += lines
        elif scope.kind == "function":
            self.functions.append((scope.name.strip(), self.line(scope.begin), lines))
            if self.owner():
                self.classes[self.owner().name].functions += self.scopes[-1].kind == "class" and self.scopes[-1] is self.owner()
            else:
                defined = DEFINED.search(scope.name)
                if defined:
                    self.outside.append((re.sub(r"<.*?>", "", defined[1]).rstrip(":").split("::")[0], lines))
        if scope.kind in ("function", "namespace", "class"):
            self.statement = at + 1  # "} name;" of an unnamed struct ends as a member

    def end(self, text):
        if not self.scopes or self.scopes[-1].kind != "class" or not text.strip() or NO_MEMBER.match(text):
            return
        size = self.classes[self.owner().name]
        if head_of(text):
            size.functions += self.scopes[-1] is self.owner()
        elif not re.match(r"^\s*(?:inline\s+)?(?:static\s+)?constexpr\b|^\s*static\b", text):
            flat = re.sub(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|\{.*\}|=.*", "", text, flags=re.S)
            size.members += flat.count(",") + 1


def sizes(files):
    """{(layer, class): Size}, [(file, line, function, lines)] of (name, text)."""
    classes, functions, outside = {}, [], []
    for name, text in files:
        layer = "/".join(name.split("/")[:2])
        reader = Reader(name, text)
        for found, size in reader.classes.items():
            known = classes.setdefault((layer, found), Size(size.where))
            known.lines += size.lines
            known.members = max(known.members, size.members)
            known.functions = max(known.functions, size.functions)
        functions += [(name, line, head, lines) for head, line, lines in reader.functions]
        outside += [(layer, owner, lines) for owner, lines in reader.outside]
    for layer, owner, lines in outside:
        if (layer, owner) in classes:
            classes[layer, owner].lines += lines
    return classes, functions
