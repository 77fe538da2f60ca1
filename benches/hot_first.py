#!/usr/bin/env python3
"""Writes the linker script that puts the functions an ordinary session runs side by side.

  BOWLINE_NAMES=1 cargo build --release -p bowline
  benches/hot_first.py target/release/bowline > crates/bowline/hot-first.ld

The kernel maps the sixteen pages around each page of the program that is touched. An ordinary session runs a tenth of
the program, spread all over it, and so has nearly all of it in memory; side by side, the same functions need a few
megabytes. This plays such sessions under valgrind, notes the functions that ran, and covers their names with
prefixes short enough to survive the next change. Instances of generic functions have hashes that change with the
dependencies: make the list again when those change. Python 3 and valgrind.
"""
import collections, os, re, subprocess, sys, tempfile

from side_by_side import Run, Server

# A prefix is good when at least this much of what it matches ran.
DENSITY = 0.6

# A mangled name: what is written in the source, and the hash of the instance. Names of the standard library are of
# another kind, and have no such parts.
HASHED = re.compile(r"(_ZN.*)(17h[0-9a-f]{16}E)|_R")

TOOLS = """TOOL Bash {"command": "echo one two | wc -w"}
NEXT
TOOL Write {"file_path": "FOLDER/a.txt", "content": "one\\ntwo\\n"}
NEXT
TOOL Read {"file_path": "FOLDER/a.txt"}
NEXT
TOOL Edit {"file_path": "FOLDER/a.txt", "old_string": "two", "new_string": "three"}
NEXT
TOOL Grep {"pattern": "thr.e", "path": "FOLDER"}
NEXT
TOOL Glob {"pattern": "*.txt", "path": "FOLDER"}
NEXT
SAY done"""


# What is played, each a section of its own: the flags and the prompts.
SESSIONS = {
    "start": ([], ["SAY hello"]),
    "work": (["--include-partial-messages", "--allowedTools", "Bash,Write,Read,Edit,Grep,Glob"], ["TOKENS 100", TOOLS]),
}


def ran(program, url, flags, prompts):
    """The functions that a session runs."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        valgrind = ["--tool=callgrind", "--demangle=no", "--callgrind-out-file=" + trace, program]
        run = Run("valgrind", url, flags, before=valgrind)
        run.say({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize", "hooks": None}})
        for prompt in prompts:
            run.prompt(prompt.replace("FOLDER", folder))
            run.until_result()
        run.end()
        with open(trace) as lines:
            return set(re.findall(r"^c?fn=\(\d+\) ([^'\n]+)", lines.read(), re.M))


def functions(program):
    """Every function of the program with its size."""
    sizes = collections.Counter()
    for line in subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tT" and HASHED.match(fields[3]):
            sizes[fields[3]] += int(fields[1], 16)
    return sizes


def patterns(sizes, hot):
    """What covers the hot functions, and what might cover them on the day when the hashes have changed.

    A name without its hash stands for every instance of a generic function. Where most of what a prefix matches ran,
    the prefix is enough; of a name that has many instances of which few ran, those are named by their hashes.
    """
    exact, loose = [], []

    def cover(names):
        hot_size = sum(sizes[name] for name in names if name in hot)
        if not hot_size:
            return
        common = os.path.commonprefix(names)
        written, hashed = parts(names[0])
        if hot_size >= DENSITY * sum(sizes[name] for name in names):
            exact.append((common if len(names) > 1 else written) + "*")
        elif len(common) >= len(written):
            exact.extend("*" + parts(name)[1] for name in names if name in hot)
            loose.append(written + "*")
        else:
            groups = collections.defaultdict(list)
            for name in names:
                groups[name[: len(common) + 1]].append(name)
            for group in groups.values():
                cover(group)

    cover(sorted(sizes))
    return exact, loose


def parts(name):
    """A name as it is written in the source, and the hash of the instance."""
    match = HASHED.match(name)
    return (match[1], match[2]) if match[1] else (name, "")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    sizes = functions(program)
    if not sizes:
        sys.exit("the program has no names: build it with BOWLINE_NAMES=1")
    sections, loose = {}, []
    server = Server(program)
    try:
        for section, (flags, prompts) in SESSIONS.items():
            hot = ran(program, server.url, flags, prompts) & set(sizes)
            sections[section], more = patterns(sizes, hot)
            loose += more
            print(f"{section}: {len(hot)} functions, {sum(map(sizes.get, hot)) / 1e6:.1f} MB", file=sys.stderr)
    finally:
        server.stop()
    sections["perhaps"] = loose

    print("/* Made by benches/hot_first.py, which says why. */\nSECTIONS\n{")
    listed = set()
    for section, chosen in sections.items():
        print(f"  .text.{section} :\n  {{")
        for pattern in chosen:
            if pattern not in listed:
                print(f"    *(.text.{pattern})")
        print("  }")
        listed.update(chosen)
    print("}\nINSERT BEFORE .text;")


if __name__ == "__main__":
    main()
