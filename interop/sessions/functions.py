"""The session functions of both SDKs, called the same way."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk


class PythonFunctions:
    """Those of the Python SDK."""

    def __init__(self, project: Path):
        self.directory = str(project)

    def listed(self) -> dict[str, dict[str, Any]]:
        """Titles and labels by session."""
        found = sdk.list_sessions(directory=self.directory)
        return {it.session_id: {"title": it.custom_title, "tag": it.tag} for it in found}

    def messages(self, session: str) -> list[dict[str, Any]]:
        """Messages of a session."""
        found = sdk.get_session_messages(session, directory=self.directory)
        return [{"type": it.type, "message": it.message, "uuid": it.uuid} for it in found]

    def subagents(self, session: str) -> Sequence[str]:
        """Who else spoke."""
        return sdk.list_subagents(session, directory=self.directory)

    def subagent_messages(self, session: str, agent: str) -> list[dict[str, Any]]:
        """What one of them said."""
        found = sdk.get_subagent_messages(session, agent, directory=self.directory)
        return [{"type": it.type, "message": it.message} for it in found]

    def rename(self, session: str, title: str) -> None:
        sdk.rename_session(session, title, directory=self.directory)

    def tag(self, session: str, tag: str) -> None:
        sdk.tag_session(session, tag, directory=self.directory)

    def fork(self, session: str) -> str:
        return sdk.fork_session(session, directory=self.directory).session_id

    def delete(self, session: str) -> None:
        sdk.delete_session(session, directory=self.directory)


class TypeScriptFunctions:
    """Those of the TypeScript SDK, which `interop/run` has installed."""

    def __init__(self, project: Path):
        self.options = {"dir": str(project)}
        self.folder = os.environ["INTEROP_TYPESCRIPT"]

    def _call(self, name: str, *arguments: Any) -> Any:
        command = ["node", "functions.mjs", name, json.dumps([*arguments, self.options])]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def listed(self) -> dict[str, dict[str, Any]]:
        found = self._call("listSessions")
        return {
            it["sessionId"]: {"title": it.get("customTitle"), "tag": it.get("tag")} for it in found
        }

    def messages(self, session: str) -> list[dict[str, Any]]:
        found = self._call("getSessionMessages", session)
        return [{key: it[key] for key in ("type", "message", "uuid")} for it in found]

    def subagents(self, session: str) -> Sequence[str]:
        return self._call("listSubagents", session)

    def subagent_messages(self, session: str, agent: str) -> list[dict[str, Any]]:
        found = self._call("getSubagentMessages", session, agent)
        return [{"type": it["type"], "message": it["message"]} for it in found]

    def rename(self, session: str, title: str) -> None:
        self._call("renameSession", session, title)

    def tag(self, session: str, tag: str) -> None:
        self._call("tagSession", session, tag)

    def fork(self, session: str) -> str:
        return self._call("forkSession", session)["sessionId"]

    def delete(self, session: str) -> None:
        self._call("deleteSession", session)

    def archive(self, session: str) -> None:
        """Puts a session aside, which only this SDK can."""
        self._call("archiveSession", session)

    def is_archived(self, session: str) -> bool | None:
        return self._call("getSessionInfo", session).get("archived")
