#!/usr/bin/env python3
"""The same scripts run by `bowline` and by another agent CLI, in one run, side by side.

  side_by_side.py --bowline PATH [--official PATH] [--runs 10] [--only start,sessions,tool,deltas]

Both talk to `bowline script-server` on 127.0.0.1 with a made-up key, HOME in a temporary folder and nothing
else of the caller's environment; the two programs take turns, so that load hits both. Prints a Markdown table
with medians and the factor between them. Python 3 on Linux, standard library only.

Memory is reported twice. The peak resident set of one session is what a single process needs, with every page of
the program that it maps. What one more session costs is the growth of the proportional set size (PSS) of all processes
from one session to twelve, divided by eleven: pages of the program are shared, so that only the first session pays for
them.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, threading, time

STREAM = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]


# Sessions at once, for the memory of one more: enough that the shared pages do not show.
AT_ONCE = 12


def clean_env(url, home):
    return {
        "PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home,
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "made-up",
        "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


class Server:
    def __init__(self, bowline):
        self.proc = subprocess.Popen([bowline, "script-server", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        name, _, self.url = self.proc.stdout.readline().strip().partition("=")
        if name != "ANTHROPIC_BASE_URL":
            sys.exit("script-server did not print its address")
        threading.Thread(target=self.proc.stdout.read, daemon=True).start()

    def stop(self):
        self.proc.kill(); self.proc.wait()


class Run:
    """One process, one session."""

    def __init__(self, cli, url, flags=(), before=()):
        self.home = tempfile.mkdtemp(prefix="bench-")
        work = os.path.join(self.home, "work"); os.mkdir(work)
        self.began = time.perf_counter()
        self.proc = subprocess.Popen(
            [cli, *before, *STREAM, "--model", "claude-sonnet-5-5", *flags], cwd=work, env=clean_env(url, self.home),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, message):
        self.proc.stdin.write(json.dumps(message).encode() + b"\n"); self.proc.stdin.flush()

    def prompt(self, text):
        self.send({"type": "user", "message": {"role": "user", "content": text}})

    def until_result(self):
        """Lines up to the result, with the time of each."""
        lines = []
        for line in self.proc.stdout:
            lines.append((time.perf_counter() - self.began, line))
            if b'"result"' in line and json.loads(line).get("type") == "result":
                return lines
        raise SystemExit("the program ended before its result: %s" % (lines[-3:],))

    def end(self):
        """Closes input and waits; returns the peak resident set in MB.

        `wait4` would report too much: its maximum includes this program, from which the other was forked.
        """
        with open("/proc/%d/status" % self.proc.pid) as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
        self.proc.stdin.close()
        self.proc.wait()
        shutil.rmtree(self.home, ignore_errors=True)
        return peak / 1024


def first_turn(cli, url):
    """A session after its first turn, still open, and the seconds it took."""
    run = Run(cli, url)
    run.send({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize", "hooks": None}})
    run.prompt("SAY hello there")
    return run, run.until_result()[-1][0]


def start(cli, url):
    run, seconds = first_turn(cli, url)
    return {"cold start to result (s)": seconds, "peak resident set of one session (MB)": run.end()}


def sessions(cli, url):
    runs = [first_turn(cli, url)[0]]
    one = proportional(runs)
    runs += [first_turn(cli, url)[0] for _ in range(AT_ONCE - 1)]
    all_of_them = proportional(runs)
    for run in runs:
        run.end()
    return {"one more session, of %d at once (MB)" % AT_ONCE: (all_of_them - one) / (AT_ONCE - 1)}


def proportional(runs):
    """The proportional set size of sessions with all processes that they have started, in MB."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(name))
    waiting, kilobytes = [run.proc.pid for run in runs], 0
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        try:
            with open("/proc/%d/smaps_rollup" % process) as rollup:
                kilobytes += next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return kilobytes / 1024


def tool(cli, url, calls=40):
    run = Run(cli, url, ["--allowedTools", "Bash"])
    script = "\n".join('TOOL Bash {"command": "true"}\nNEXT' for _ in range(calls)) + "\nSAY done"
    run.prompt(script)
    lines = run.until_result()
    times = [at for at, line in lines if b'"tool_result"' in line and b'"type":"user"' in line.replace(b'": "', b'":"')]
    run.end()
    steps = [b - a for a, b in zip(times, times[1:])]
    return {"one Bash call, round trip (ms)": 1000 * statistics.median(steps)}


def deltas(cli, url, count=20_000):
    run = Run(cli, url, ["--include-partial-messages"])
    run.prompt("TOKENS %d" % count)
    lines = run.until_result()
    times = [at for at, line in lines if b"content_block_delta" in line]
    run.end()
    assert len(times) > count // 2, "only %d deltas" % len(times)
    return {"20,000 streamed deltas (s)": times[-1] - times[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bowline", type=os.path.abspath, required=True)
    parser.add_argument("--official", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="start,sessions,tool,deltas")
    args = parser.parse_args()
    programs = {"official": args.official, "bowline": args.bowline}
    programs = {side: path for side, path in programs.items() if path}
    for path in programs.values():
        if not os.access(path, os.X_OK):
            sys.exit("%s cannot be executed" % path)
    server = Server(args.bowline)
    try:
        rows = {}
        for name in args.only.split(","):
            measure = {"start": start, "sessions": sessions, "tool": tool, "deltas": deltas}[name]
            for _ in range(args.runs if name == "start" else max(1, args.runs // 5)):
                for side, cli in programs.items():
                    for what, value in measure(cli, server.url).items():
                        rows.setdefault(what, {}).setdefault(side, []).append(value)
    finally:
        server.stop()
    print("| what (median) | %s |%s" % (" | ".join(programs), " factor |" if len(programs) == 2 else ""))
    print("|---" * (len(programs) + 1 + (len(programs) == 2)) + "|")
    for what, sides in rows.items():
        medians = [statistics.median(sides[side]) for side in programs]
        factor = " %.0f× |" % (medians[0] / medians[1]) if len(medians) == 2 else ""
        print("| %s | %s |%s" % (what, " | ".join("%.3g" % value for value in medians), factor))


if __name__ == "__main__":
    main()
