#!/usr/bin/env python3
"""The embedded SQLite file over HTTP, by itself or beside another server that speaks the protocol: the same requests, in
turns, so that what else the machine does meets both alike."""

import argparse
import json
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import wire
from measured import machine, spread
from workload import item

WORK = {"PutItem": wire.put, "GetItem": wire.get, "UpdateItem with a condition": wire.update}


class Server:
    """`command` has places for {port} and {file}; `before` is what runs it."""

    def __init__(self, command, directory, before=()):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        file = Path(directory) / "data.sqlite"
        started = time.perf_counter()
        self.log = open(Path(directory) / "log", "wb")
        self.process = subprocess.Popen([*before, *shlex.split(command.format(port=self.port, file=file))],
                                        stdout=self.log, stderr=self.log)
        while True:
            try:
                wire.Caller(self.port)("ListTables", {})
                break
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{command} ended with {self.process.returncode}")
                time.sleep(0.0005)
        self.first_answer_ms = (time.perf_counter() - started) * 1000

    def fill(self, items):
        call = wire.Caller(self.port)
        call("CreateTable", {
            "TableName": "Items", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]})
        started = time.perf_counter()
        for first in range(1, items + 1, 25):
            puts = [{"PutRequest": {"Item": json.loads(item(key, 1))}} for key in range(first, min(first + 25, items + 1))]
            call("BatchWriteItem", {"RequestItems": {"Items": puts}})
        return items / (time.perf_counter() - started)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="extenddb serve --auth format --log warn --listen 127.0.0.1:{port} --data {file}",
                        metavar="COMMAND", help="with {port} and {file}; here for other options (default: %(default)s)")
    parser.add_argument("--beside", metavar="COMMAND", help="the other server, with {port} and {file}")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs (default 3)")
    parser.add_argument("--seconds", type=int, default=5, help="of one run (default 5)")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--items", type=int, default=wire.ITEMS, help="in the table (default %(default)s)")
    parser.add_argument("--place", type=Path, help="a directory for the files (default: the system's for temporary files)")
    options = parser.parse_args()
    wire.ITEMS = options.items  # keys are drawn from as many
    commands = [options.ours] + ([options.beside] if options.beside else [])
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        directories = [Path(place) / str(number) for number in range(len(commands))]
        for directory in directories:
            directory.mkdir()
        servers = [Server(command, directory) for command, directory in zip(commands, directories)]
        try:
            print(f"{machine()}; {options.rounds} rounds of {options.seconds} s; "
                  f"{options.items} items of {len(item('12345', '500'))} bytes of JSON")
            print("first answer, ms:     " + "   ".join(f"{server.first_answer_ms:9.0f}" for server in servers))
            print("filled, items/s:      " + "   ".join(f"{server.fill(options.items):9.0f}" for server in servers), flush=True)
            for name, make in WORK.items():
                loads = [wire.Load(make, server.port, directory) for server, directory in zip(servers, directories)]
                for connections in options.connections:
                    rates = [[] for _ in servers]
                    for _ in range(options.rounds):
                        for rate, load in zip(rates, loads):
                            rate.append(load.run(connections, options.seconds))
                    line = "   ".join(f"{spread(rate):>24}" for rate in rates)
                    print(f"{name:28} {connections:3} connections   {line}", flush=True)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    sys.exit(main())
