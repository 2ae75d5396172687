"""What a request costs the proxy: instructions by crate and by function, system calls, CPU and switches between tasks of
the operating system. Instructions do not vary with what else the machine does. Run it by `pg_test/bench/run profile`."""

import argparse
import collections
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import wire
import workload
from server import Server

REQUESTS = {"GetItem": wire.get, "PutItem": wire.put}


class Clients:
    """So many connections, each with a thread that sends its part of signed requests, one after the other."""

    def __init__(self, port, make, connections, requests):
        host = f"127.0.0.1:{port}"
        share = requests // connections
        self.requests = share * connections
        self.threads = []
        for number in range(connections):
            signed = [wire.signed(host, *make(1 + (number * share + i) % workload.ITEMS)).encode() for i in range(share)]
            connection = socket.create_connection(("127.0.0.1", port), timeout=120)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.threads.append(threading.Thread(target=self._send, args=(connection, signed)))
        self.failure = None

    def _send(self, connection, requests):
        try:
            received = b""
            for request in requests:
                connection.sendall(request)
                while (end := received.find(b"\r\n\r\n")) < 0:
                    received += self._more(connection)
                head = received[:end]
                if not head.startswith(b"HTTP/1.1 200"):
                    raise ValueError(received.decode())
                whole = end + 4 + int(re.search(rb"content-length: (\d+)", head).group(1))
                while len(received) < whole:
                    received += self._more(connection)
                received = received[whole:]
        except (OSError, ValueError) as failure:
            self.failure = failure
        finally:
            connection.close()

    @staticmethod
    def _more(connection):
        data = connection.recv(65536)
        if not data:
            raise ValueError("the proxy closed the connection")
        return data

    def run(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        if self.failure is not None:
            raise SystemExit(f"a request failed: {self.failure}")


class Counts:
    """What callgrind wrote: instructions by crate, where each instruction counts once, in the crate that its source line
    is of, inlined or not; and by function, with what it calls."""

    CRATE = re.compile(r"/([a-z0-9_-]+?)-\d+\.\d+\.\d+[^/]*/")
    OURS = re.compile(r"(?:^|/)(proxy/src/[a-z_]+|core/src/[a-z_]+|backends/[a-z]+/src/[a-z_]+)")

    def __init__(self, path):
        self.by_crate = collections.Counter()
        self.own = collections.Counter()
        self.with_calls = collections.Counter()
        names = {"file": {}, "function": {}, "object": {}}
        here = {"file": "", "function": "", "object": ""}
        callee = None

        def named(kind, text):
            known = re.match(r"\((\d+)\)(?: (.*))?$", text)
            if not known:
                return text
            number, name = known.groups()
            if name is not None:
                names[kind][number] = name
            return names[kind][number]

        kinds = {"fl": "file", "fi": "file", "fe": "file", "fn": "function", "ob": "object"}
        with open(path) as lines:
            for line in lines:
                if line[0].isdigit() or line[0] in "+-*":
                    cost = int(line.split()[-1])
                    if callee is None:
                        self.by_crate[self._crate(here)] += cost
                        self.own[here["function"]] += cost
                        self.with_calls[here["function"]] += cost
                    elif callee != here["function"]:
                        self.with_calls[here["function"]] += cost
                    callee = None
                elif "=" in line:
                    key, value = line.rstrip("\n").split("=", 1)
                    if key in kinds:
                        here[kinds[key]] = named(kinds[key], value)
                    elif key == "cfn":
                        called = named("function", value)
                    elif key in ("cfi", "cfl"):
                        named("file", value)
                    elif key == "cob":
                        named("object", value)
                    elif key == "calls":
                        callee = called
        self.total = sum(self.by_crate.values())

    def _crate(self, here):
        if "/rustc/" in here["file"] or "/rustlib/" in here["file"]:
            return "std"
        if ours := self.OURS.search(here["file"]):
            return ours.group(1)
        if crate := self.CRATE.search(here["file"]):
            return crate.group(1)
        if "libc.so" in here["object"] or "libc-" in here["object"]:
            allocation = re.match(r"(_int_)?(malloc|free|realloc|calloc)|cfree|unlink_chunk|tcache|sysmalloc|arena",
                                  here["function"])
            copies = re.match(r"(__)?mem(cpy|move|set|cmp|chr)", here["function"])
            return "libc: allocation" if allocation else "libc: copies" if copies else "libc: other"
        return Path(here["object"]).name if ".so" in here["object"] else "other"


def short(function):
    """Without the crate's disambiguators and the types' long paths."""
    text = re.sub(r"\{\{?(closure|impl)\}?\}(?:#\d+)?", r"{\1}", function.split("'")[0])
    text = re.sub(r"::h[0-9a-f]{16}$", "", text)
    for _ in range(8):
        text = re.sub(r"(?<=.)<[^<>]{40,}>", "<…>", text)
    return text if len(text) <= 110 else f"{text[:60]}…{text[-49:]}"


def instructions(options, server, binary, auth, name, connections):
    out = server.place / f"callgrind-{auth}-{name}-{connections}"
    proxy = Valgrind(binary, out, server, auth, options.pool if connections > 1 else None)
    try:
        Clients(proxy.port, REQUESTS[name], connections, max(200, connections * 4)).run()
        clients = Clients(proxy.port, REQUESTS[name], connections, options.requests)
        before = calls(server)
        proxy.count(True)
        clients.run()
        proxy.count(False)
        together = clients.requests / max(1, calls(server) - before)
    finally:
        proxy.stop()
    counts = Counts(out)
    each = clients.requests
    if options.keep:
        shutil.copy(out, options.keep / f"{out.name}.out")
    print(f"\n{name}, --auth {auth}, {connections} connections: {counts.total / each:,.0f} instructions a request"
          f" ({each} requests, {together:.1f} a statement)\n")
    print(f"{'':4}{'by crate':40} {'':>10}")
    for crate, cost in counts.by_crate.most_common(options.lines):
        if cost / each >= 50:
            print(f"{'':4}{crate:40} {cost / each:>10,.0f} {100 * cost / counts.total:5.1f} %")
    print(f"\n{'':4}{'by function, with its calls':110} {'':>10} {'alone':>10}")
    for function, cost in counts.with_calls.most_common(options.lines * 6):
        if cost / each >= 300:
            print(f"{'':4}{short(function):110} {cost / each:>10,.0f} {counts.own[function] / each:>10,.0f}")


class Valgrind(wire.Proxy):
    def __init__(self, binary, out, server, auth, pool):
        self.before = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes", "--quiet",
                       f"--callgrind-out-file={out}"]
        super().__init__(binary, server, auth, False, ["--pool", str(pool)] if pool else [], before=self.before)

    def count(self, on):
        subprocess.run(["callgrind_control", f"--instr={'on' if on else 'off'}", str(self.process.pid)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def calls(server):
    """Transactions that other sessions than this one's have ended; the server's counters come late."""
    read = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"
    time.sleep(1.2)
    return int(server.sql(read))


def system_calls(options, binary, server, auth, name, connections):
    proxy = wire.Proxy(binary, server, auth, False)
    try:
        Clients(proxy.port, REQUESTS[name], connections, max(200, connections * 4)).run()
        clients = Clients(proxy.port, REQUESTS[name], connections, options.requests)
        out = server.place / "strace"
        tracer = subprocess.Popen(["strace", "-f", "-c", "-qq", "-o", out, "-p", str(proxy.process.pid)])
        while "TracerPid:\t0\n" in Path(f"/proc/{proxy.process.pid}/status").read_text():
            time.sleep(0.02)
        clients.run()
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
    finally:
        proxy.stop()
    counts = {}
    for line in out.read_text().splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[0][0].isdigit() and fields[-1] != "total":
            counts[fields[-1]] = int(fields[3]) / clients.requests
    listed = ", ".join(f"{call} {count:.2f}" for call, count in sorted(counts.items(), key=lambda entry: -entry[1])
                       if count >= 0.02)
    print(f"{name}, --auth {auth}, {connections} connections: {sum(counts.values()):.1f} system calls a request: {listed}",
          flush=True)


def cpu(options, binary, server, auth, name, connections):
    """By wrk, without tools around the proxy."""
    proxy = wire.Proxy(binary, server, auth, False)
    try:
        load = wire.Load(REQUESTS[name], proxy.port, server.place)
        load.run(connections, 1)
        user, system, switches = spent(proxy.process.pid)
        rate = load.run(connections, options.seconds)
        after = spent(proxy.process.pid)
    finally:
        proxy.stop()
    requests = rate * options.seconds
    print(f"{name}, --auth {auth}, {connections} connections: {rate:,.0f} a second; "
          f"{(after[0] - user) / requests * 1e6:.1f} µs in the proxy, {(after[1] - system) / requests * 1e6:.1f} µs in the "
          f"system for it, {(after[2] - switches) / requests:.2f} switches a request", flush=True)


def spent(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    switches = sum(int(count) for task in Path(f"/proc/{pid}/task").iterdir()
                   for count in re.findall(r"voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text()))
    return int(fields[11]) / ticks, int(fields[12]) / ticks, switches


def main():
    parser = argparse.ArgumentParser(
        prog="pg_test/bench/run profile", description="What a request costs the proxy: instructions (callgrind), system "
        "calls (strace), CPU.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="instructions, calls, cpu (default: all)")
    parser.add_argument("--requests", type=int, default=2000, help="how many are counted (default 2000)")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--auth", nargs="+", default=["none", "strict"])
    parser.add_argument("--operations", nargs="+", default=list(REQUESTS), choices=REQUESTS)
    parser.add_argument("--pool", type=int, default=2, help="sessions where there are several connections and callgrind "
                        "slows the proxy down: with few of them requests travel together as they do without it (default 2)")
    parser.add_argument("--lines", type=int, default=20, help="of each table")
    parser.add_argument("--seconds", type=int, default=3, help="of a run for `cpu`")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put callgrind's files there, for kcachegrind")
    parser.add_argument("--place", type=Path, help="a directory for the cluster (default: the system's for temporary files)")
    parser.add_argument("--proxy", type=Path, help="another build's extenddb")
    parser.add_argument("--pg-config", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = options.parts or ["instructions", "calls", "cpu"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    server = Server(options.pg_config, options.target, options.place)
    binary = options.proxy or options.target / "extenddb"
    try:
        workload.load_items(server.sql)
        for auth in options.auth:
            for name in options.operations:
                for connections in options.connections:
                    if "instructions" in parts:
                        instructions(options, server, binary, auth, name, connections)
                    if "calls" in parts:
                        system_calls(options, binary, server, auth, name, connections)
                    if "cpu" in parts:
                        cpu(options, binary, server, auth, name, connections)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
