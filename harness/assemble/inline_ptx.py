"""What inline assembly may say: whole statements on registers that it was given or has declared itself.

The text is hostile, and nothing of it is believed. It is read as those that come after read it: LLVM, which replaces
what a dollar begins, Triton, which cuts words about debugging out of the result, and NVIDIA's assembler, whose tokens
and statements these are. What cannot be read is refused, and so is what would be read otherwise once something in it is
replaced. Behind this wall there is another: machine code with assembly of its author's is refused where it has
variables or shared memory of its own (`artifact.own_memory`).

- It declares registers and nothing else. Variables in `.global` and `.const` are a module's own, wherever they are
  declared, and outlive calls. Nothing clears `.shared`, `.local` and `.param` between calls: what is declared there is
  found as the last call left it.
- It names nothing that it has not declared in a block around: no table of a library that the module has, and no
  register of the code around, which may hold the address of one. Labels are only jumped to.
- It opens and closes its own blocks, and ends with a statement, a comment included: the text after it is another's.

Whether instructions exist, and fit their operands, is the assembler's to say. What a message quotes is the author's own
text, not what became of it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ESCAPE = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<operand>\d+|\{\d+(?::(?P<modifier>[a-zA-Z]))?\})|(?P<unique>\{:uid\})|)", re.ASCII
)
_OPERAND, _UNIQUE = (
    "_operand_",
    "_uid_",
)  # stand for a register or a number, and for digits: no text may say them itself
_CUT_OUT = re.compile(r",\s*debug|debug,")  # by Triton, comments or not
_TOKEN = re.compile(
    r"""(?P<blank> [ \t\r\n\f]+ | //[^\n]* | /\*[\s\S]*?\*/ )
    | (?P<word> [A-Za-z][\w$]* | [_$%][\w$]* )
    | (?P<number> \d\w* )
    | (?P<dotted> \.\w+(?:::\w+)* )
    | (?P<string> "[\w ,=]*" )
    | (?P<mark> [;:{}()\[\],<>@!?|+\-*%&^~=] | /(?![/*]) )""",
    re.ASCII | re.VERBOSE,
)
_SELECTOR = re.compile(r"\.(?:[xyzwrgba]|[bh]\d{1,4})", re.ASCII)
_FRACTION = re.compile(r"\.\d\w*", re.ASCII)
_GLUED = re.compile(rf"[\w$%]{_OPERAND}|{_OPERAND}[\w$%]")
_COUNT = re.compile(r"[1-9]\d{0,3}", re.ASCII)  # a zero before it would make it octal
_JUMPS = frozenset({"bra", "brx"})
_MOST_REGISTERS = 4096  # of one name with a number behind it
_KNOWN = re.compile(
    r"""_ | WARP_SZ | _operand_
    | %(?:tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|smid|nsmid|gridid|lanemask_(?:eq|le|lt|ge|gt)|clock(?:_hi|64)?)
    | %(?:globaltimer(?:_lo|_hi)?|is_explicit_cluster|n?clusterid|cluster_n?cta(?:id|rank))
    | %(?:total|aggr|dynamic)_smem_size""",
    re.ASCII | re.VERBOSE,
)
_OUTLIVES = frozenset({".global", ".const", ".shared", ".local", ".param"})
_MOST_QUOTED = 60  # characters of a word
_OF_REGISTERS, _OF_NUMBERS = "r", "acnrs"
"""Modifiers that LLVM's NVPTX backend takes, of any operand and of one that may be a number: tried, one by one."""

_MOST_DIGITS = 9  # of an operand's number; more than there are operands, and few enough to be read


@dataclass(frozen=True)
class _Expanded:
    """What LLVM makes of a text.

    Attributes:
        text: what those after it read.
        written: what the author wrote.
        places: where in that each character of `text` comes from, and its end.
    """

    text: str
    written: str
    places: array[int]

    def quote(self, start: int, end: int) -> str:
        """Return the author's words for a part of the text, cut to what a message may quote."""
        return self.written[self.places[start] : self.places[end]][:_MOST_QUOTED]


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    written: str


class _RefusedError(Exception):
    """The message says what is wrong, after "inline assembly"."""


def find_fault(text: str, operands: Sequence[str] | None = None) -> str:
    """Return what is wrong with the text of inline assembly, "" if it may be assembled.

    Args:
        text: as LLVM gets it, with operands as `$0` or `${0}`.
        operands: the constraint of each, None if that is not known.
    """
    try:
        _Reader(list(_tokens(_expand(text, operands)))).read()
    except _RefusedError as error:
        return f"inline assembly {error}"
    return ""


def _expand(text: str, operands: Sequence[str] | None) -> _Expanded:
    """Return what LLVM makes of it; alternatives, comments and private prefixes can put a word together from parts."""
    for word in (_OPERAND, _UNIQUE):
        if word in text:
            raise _RefusedError(f"with {word}: choose another name")
    parts, places, end = [], array("I"), 0
    for match in _ESCAPE.finditer(text):
        meant = _read_escape(match, operands)
        parts += [text[end : match.start()], meant]
        places.extend(range(end, match.start()))
        places.extend([match.start()] * len(meant))
        end = match.end()
    places.extend(range(end, len(text) + 1))
    expanded = "".join((*parts, text[end:]))
    if _GLUED.search(expanded):
        raise _RefusedError("with an operand as a part of a word: put a blank beside it")
    if _CUT_OUT.search(expanded):
        raise _RefusedError("with a comma beside 'debug', which Triton would cut out: leave the word out")
    return _Expanded(expanded, text, places)


def _read_escape(match: re.Match[str], operands: Sequence[str] | None) -> str:
    if match["dollar"]:
        return "$"
    if match["unique"]:
        return _UNIQUE
    if not match["operand"]:
        raise _RefusedError("with a $ that is no operand")
    digits = re.sub(r"\D", "", match["operand"])
    if operands is not None and (len(digits) > _MOST_DIGITS or int(digits) >= len(operands)):
        there = f"$0 to ${len(operands) - 1}" if len(operands) > 1 else "$0 only" if operands else "none"
        raise _RefusedError(f"with {match[0][:_MOST_QUOTED]}, an operand that it has not: its constraints give {there}")
    if match["modifier"]:
        _check_modifier(match, operands[int(digits)] if operands is not None else "i")
    return _OPERAND


def _check_modifier(match: re.Match[str], constraint: str) -> None:
    """Refuse a modifier at which LLVM would end the process."""
    modifier, number = match["modifier"], bool(set("in") & set(constraint))
    if modifier in (_OF_NUMBERS if number else _OF_REGISTERS):
        return
    written = match[0][:_MOST_QUOTED]
    why = "is for numbers, and it is a register" if modifier in _OF_NUMBERS else "does not exist for this GPU"
    raise _RefusedError(f"with {written}, whose modifier {modifier} {why}: leave :{modifier} out")


def _tokens(expanded: _Expanded) -> Iterator[_Token]:
    text, position = expanded.text, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or "\0" in match[0]:
            raise _RefusedError(f"that cannot be read from {expanded.quote(position, len(text))[:20]!r} on")
        position = match.end()
        if match.lastgroup != "blank":
            yield _Token(str(match.lastgroup), match[0], expanded.quote(*match.span()))


class _Reader:
    """Reads the statements of one text."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._position = tokens, 0
        self._blocks: list[set[str]] = [set()]  # the registers declared in each that is open

    def read(self) -> None:
        """Read them all.

        Raises:
            _RefusedError: one says what it may not.
        """
        while self._position < len(self._tokens):
            token = self._take()
            if token.text == "{":
                self._blocks.append(set())
            elif token.text == "}":
                self._blocks.pop()
                if not self._blocks:
                    raise _RefusedError("that closes a block which it did not open")
            elif token.kind == "dotted":
                self._read_directive(token)
            elif token.text == "@":
                self._read_predicate()
            elif token.kind == "word":
                if not self._skip(":"):
                    self._read_instruction(token.text)
            elif token.text != ";":
                raise _RefusedError(f"with {token.written} where a statement begins")
        if len(self._blocks) > 1:
            raise _RefusedError("that leaves a block open")

    def _take(self) -> _Token:
        if self._position == len(self._tokens):
            raise _RefusedError("that ends within a statement: it lacks a semicolon or a word")
        self._position += 1
        return self._tokens[self._position - 1]

    def _skip(self, text: str) -> bool:
        found = self._position < len(self._tokens) and self._tokens[self._position].text == text
        self._position += found
        return found

    def _read_directive(self, directive: _Token) -> None:
        if directive.text == ".reg":
            self._read_registers()
        elif directive.text == ".branchtargets":
            self._read_operands(are_labels=True)
        elif directive.text == ".pragma":
            while (token := self._take()).text != ";":
                if token.kind != "string" and token.text != ",":
                    raise _RefusedError(f"with {token.written} in a .pragma")
        else:
            raise _refused_directive(directive)

    def _read_registers(self) -> None:
        while (token := self._take()).kind == "dotted":
            if token.text in _OUTLIVES:
                raise _refused_directive(token)
        while True:
            if token.kind != "word":
                raise _RefusedError(f"with {token.written} where it declares registers")
            self._blocks[-1] |= self._read_numbered(token)
            if self._skip(";"):
                return
            if not self._skip(","):
                token = self._take()
                raise (
                    _refused_directive(token)
                    if token.kind == "dotted"
                    else _RefusedError(f"with {token.written} where it declares registers")
                )
            token = self._take()

    def _read_numbered(self, name: _Token) -> set[str]:
        """Return the names that one stands for: `r<3>` declares r0, r1 and r2."""
        if not self._skip("<"):
            return {name.text}
        count = self._take()
        if not _COUNT.fullmatch(count.text) or int(count.text) > _MOST_REGISTERS or not self._skip(">"):
            raise _RefusedError(f"that declares {name.written}<{count.written}")
        return {f"{name.text}{number}" for number in range(int(count.text))}

    def _read_predicate(self) -> None:
        self._skip("!")
        token = self._take()
        if token.kind != "word":
            raise _RefusedError(f"with {token.written} for a predicate")
        self._check_name(token)
        if (token := self._take()).kind != "word":
            raise (
                _refused_directive(token)
                if token.kind == "dotted"
                else _RefusedError(f"with {token.written} behind a predicate")
            )
        self._read_instruction(token.text)

    def _read_instruction(self, name: str) -> None:
        """Read an instruction to its end. What follows its name after dots belongs to it, whatever stands between."""
        while self._position < len(self._tokens) and self._tokens[self._position].kind == "dotted":
            self._position += 1
        self._read_operands(are_labels=name in _JUMPS)

    def _read_operands(self, *, are_labels: bool) -> None:
        braces, last = 0, _Token("mark", "", "")
        while (token := self._take()).text != ";" or braces:
            braces += (token.text == "{") - (token.text == "}")
            if braces < 0 or token.text in (";", "@") or token.kind == "string":
                raise _RefusedError(f"with {token.written} among operands")
            if token.kind == "dotted":
                form = _SELECTOR if last.kind == "word" else _FRACTION
                if not form.fullmatch(token.text):
                    raise _refused_directive(token)
            elif token.kind == "word" and not are_labels:
                self._check_name(token)
            last = token

    def _check_name(self, name: _Token) -> None:
        if not _KNOWN.fullmatch(name.text) and not any(name.text in block for block in self._blocks):
            raise _RefusedError(
                f"that names {name.written}, which is no register of its own: declare it within braces, as in "
                f"{{ .reg .b32 {name.written}; ... }}"
            )


def _refused_directive(name: _Token) -> _RefusedError:
    why = f", since what lies in {name.text} outlives a call" if name.text in _OUTLIVES else ""
    return _RefusedError(f"with the directive {name.written}: it may declare registers only{why}")
