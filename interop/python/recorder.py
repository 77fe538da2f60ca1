"""A model API that records its requests, in front of `bowline script-server`."""

import http.client
import json
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Request:
    """One request for an answer of the model."""

    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The system prompt, in one piece."""
        system = self.body.get("system", "")
        if isinstance(system, str):
            return system
        return "\n".join(block["text"] for block in system)

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["name"] for tool in self.body.get("tools", [])]

    @property
    def conversation(self) -> str:
        """The messages as JSON, to look for words in."""
        return json.dumps(self.body["messages"], ensure_ascii=False)


@dataclass
class Recorder:
    """Where the model is, and what it was asked so far."""

    url: str
    requests: list[Request] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What an engine needs in its environment to ask this model."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "made-up"}


class Recording:
    """Runs the script server and the recorder as long as it is entered."""

    def __init__(self, bowline: str):
        self.bowline = bowline

    def __enter__(self) -> Recorder:
        self.model = subprocess.Popen(
            [self.bowline, "script-server"], stdout=subprocess.PIPE, text=True
        )
        assert self.model.stdout
        address = urlsplit(self.model.stdout.readline().strip().split("=", 1)[1]).netloc
        recorder = Recorder("")
        handler = type("Handler", (Forwarding,), {"target": address, "recorder": recorder})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        recorder.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return recorder

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.model.kill()
        self.model.communicate()


class Forwarding(BaseHTTPRequestHandler):
    """Remembers a request, passes it on, and the answer back as it comes."""

    target: str
    recorder: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path.startswith("/v1/messages"):
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.recorder.requests.append(Request(headers, json.loads(body)))
        upstream = http.client.HTTPConnection(self.target)
        kept = {"content-type": "application/json", "x-api-key": "made-up"}
        if version := self.headers.get("anthropic-version"):
            kept["anthropic-version"] = version
        upstream.request("POST", self.path, body, kept)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name in ("content-type", "retry-after", "request-id"):
            if value := answer.headers.get(name):
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass  # an interrupted engine closes the connection
        self.close_connection = True
        upstream.close()

    def log_message(self, *_: object) -> None:
        """Says nothing: the tests look at what was recorded."""
