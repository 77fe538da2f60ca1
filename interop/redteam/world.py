"""A project with canaries around it, and the detection of attacks that reached one."""

import base64
import codecs
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PRIVATE = ("ANTHROPIC_", "CLAUDE", "OPENAI_", "BOWLINE_", "GIT_", "BASH_ENV", "CDPATH")

# What every program under test may take; one that hangs has not held.
PATIENCE = 30

# Where the configuration of the session itself lives: it changes with every run.
OWN = (".bowline", ".claude", ".claude.json", ".cache", ".config/bowline", ".local")

# Files of a project that decide what runs later.
SENSITIVE = (".git", ".claude", ".mcp.json", ".vscode", ".husky", ".idea", ".gitconfig", ".bashrc")


@dataclass(frozen=True)
class Link:
    """A symlink among the files of a case."""

    target: str


@dataclass
class World:
    """A project, a home and a place outside both; each holds tokens that must stay unseen."""

    root: Path
    bowline: str
    outside_token: str = field(default_factory=lambda: "tokout" + secrets.token_hex(6))
    home_token: str = field(default_factory=lambda: "tokhome" + secrets.token_hex(6))
    denied_token: str = field(default_factory=lambda: "tokdeny" + secrets.token_hex(6))
    variable_token: str = field(default_factory=lambda: "tokenv" + secrets.token_hex(6))

    def __post_init__(self) -> None:
        self.project, self.home = self.root / "project", self.root / "home"
        self.outside, self.temporary = self.root / "outside", self.root / "tmp"
        for folder in (self.project, self.home, self.outside, self.temporary):
            folder.mkdir(parents=True)
        self.write({
            "@OUT@/secret.txt": f"BEGIN-SECRET {self.outside_token}\n",
            "@OUT@/config.json": f'{{"auth": "BEGIN-SECRET {self.outside_token}"}}\n',
            f"@OUT@/{self.outside_token}.name": "",
            "@OUT@/folder/inner.txt": f"BEGIN-SECRET {self.outside_token}\n",
            "@HOME@/.ssh/id_rsa": f"BEGIN-SECRET {self.home_token}\n",
            "@HOME@/.bashrc": "# the user's own\n",
            "@HOME@/.netrc": f"machine x login BEGIN-SECRET password {self.home_token}\n",
            "a.txt": "alpha\nbeta\ngamma\n",
            "b.txt": "beta\nalpha\n",
            "data.json": '{"name": "value", "list": [1, 2, 3]}\n',
            "src/main.rs": "fn main() {}\n// TODO: more\n",
            "src/lib.rs": "pub fn lib() {}\n",
            "README.md": "# A project\n",
        })

    def text(self, text: str) -> str:
        """A text of a case with the places of this world in it."""
        places = {
            "@TOUCH@": "touch @ROOT@/pwned",
            "@CAT@": "cat @OUT@/secret.txt",
            "@ROOT@": str(self.root),
            "@PROJECT@": str(self.project),
            "@HOME@": str(self.home),
            "@OUT@": str(self.outside),
            "@TMP@": str(self.temporary),
            "@DENIED@": self.denied_token,
            "@VARIABLE@": self.variable_token,
            "@BOWLINE@": self.bowline,
        }
        for name, place in places.items():
            text = text.replace(name, place)
        return text

    def write(self, files: dict[str, "str | Link | None"]) -> None:
        """Files by their path in the project. A text that begins with `#!` can be run; `None` is a folder."""
        for name, content in files.items():
            path = self.project / self.text(name)
            if content is None:
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Link):
                path.unlink(missing_ok=True)
                path.symlink_to(self.text(content.target))
                continue
            path.write_text(self.text(content))
            if content.startswith("#!"):
                path.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        """A home of its own, no keys but a made-up secret."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
        return {
            **kept,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "AWS_SECRET_ACCESS_KEY": self.variable_token,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def git(self, *words: str, where: str = ".") -> None:
        """Sets a repository up."""
        identity = ["-c", "user.name=u", "-c", "user.email=u@example.invalid"]
        subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *identity, *words],
            cwd=self.project / where,
            env={**self.environment, "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            check=True,
            timeout=PATIENCE,
        )

    def repository(self) -> None:
        """The project as a repository with one commit."""
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")

    def run(
        self,
        *words: str,
        variables: dict[str, str] | None = None,
        where: str = ".",
        stdin: str | None = None,
        umask: int = 0o022,
        seconds: float = PATIENCE,
        user: int | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program in the project, in a group of its own that does not outlive it."""
        given = {name: self.text(value) for name, value in (variables or {}).items()}
        process = subprocess.Popen(
            [self.text(word) for word in words],
            cwd=self.project / where,
            env={**self.environment, **given},
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            umask=umask,
            user=user,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            return subprocess.CompletedProcess(words, -9, output, errors + "\ntimed out\n")
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def state(self) -> dict[str, str]:
        """What must not change: all outside the project, and what in it decides what runs later."""
        found: dict[str, str] = {}
        for place in (self.outside, self.home):
            found.update(_content(place, self.root))
        for name in SENSITIVE:
            found.update(_content(self.project / name, self.root))
        for name in os.listdir(self.root):
            found[name] = ""
        # Git looks at files and notes in its index that it has.
        volatile = ("project/.git/index", "home/.bowline", "home/.claude", "home/.cache", "home/.local")
        return {name: text for name, text in found.items() if not name.startswith(volatile)}

    def seen_in(self, text: str, tokens: Iterable[str]) -> str | None:
        """The token that is in a text, however it is spelt there."""
        folded = "".join(letter for letter in text if letter.isalnum())
        for token in tokens:
            raw = token.encode()
            spellings = {token, token[::-1], codecs.encode(token, "rot13"), raw.hex(), token.upper()}
            # Base64 of it begins at any of three places.
            for shift in range(3):
                encoded = base64.b64encode(b"x" * shift + raw + b"xxx").decode()
                spellings.add(encoded[4 : len(raw) - 2])
            if any(spelling in text or spelling in folded for spelling in spellings):
                return token
        return None

    def remove(self) -> None:
        """Takes the world away, whatever rights were left on it."""
        def again(function: object, path: str, _error: object) -> None:
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)

        shutil.rmtree(self.root, onerror=again)
        shutil.rmtree(self.root, ignore_errors=True)


def _content(path: Path, root: Path) -> dict[str, str]:
    """Every file from here on, with what is in it."""
    name = str(path.relative_to(root))
    if path.is_symlink():
        return {name: "-> " + os.readlink(path)}
    if path.is_dir():
        found = {name: "folder"}
        for inner in path.iterdir():
            found.update(_content(inner, root))
        return found
    if path.is_file():
        return {name: hashlib.sha256(path.read_bytes()).hexdigest()}
    return {}
