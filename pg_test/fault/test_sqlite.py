"""The embedded SQLite file: kills, a second server, files of others, a full disk."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from clients import Client, until
from harness import Proxy, Sqlite
from harness.proxy import BINARY
from harness.tables import ORDERS, PLAIN, index_faults_by_wire, scan_by_wire
from load import Load


@pytest.fixture
def store(tmp_path):
    return Sqlite(tmp_path / "data.sqlite")


def serve(store, tmp_path, **more):
    return Proxy(store, tmp_path / "log", auth="none", **more)


def put(number, bytes_=0):
    return {"TableName": "Things", "Item": {"pk": {"S": str(number)}, "filler": {"S": "x" * bytes_}}}


def get(number):
    return {"TableName": "Things", "Key": {"pk": {"S": str(number)}}}


def test_kill_under_load(store, tmp_path):
    proxy = serve(store, tmp_path)
    Client(proxy).ok("CreateTable", {"TableName": "Orders", **ORDERS})
    for round_ in range(3):
        load = Load(proxy)
        until(lambda: load.written() >= 300 or load.odd)
        proxy.kill()
        load.join()
        proxy = serve(store, tmp_path)
        try:
            client = Client(proxy)
            held = scan_by_wire(client, "Orders")
            load.check(held)
            assert index_faults_by_wire(client, "Orders") == []
            # The next round counts from nothing.
            for item in held:
                client.ok("DeleteItem", {"TableName": "Orders", "Key": {"pk": item["pk"], "sk": item["sk"]}})
            assert index_faults_by_wire(client, "Orders") == [] and scan_by_wire(client, "Orders") == []
        except BaseException:
            proxy.kill()
            raise
    proxy.stop()
    with sqlite3.connect(store.file) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_kill_while_an_index_is_filled(store, tmp_path):
    """The next server fills the rest."""
    proxy = serve(store, tmp_path)
    client = Client(proxy)
    client.ok("CreateTable", {"TableName": "Things", **PLAIN})
    items = [{"pk": {"S": str(number)}, "g": {"S": f"g{number % 7}"}} for number in range(4000)]
    for start in range(0, len(items), 25):
        requests = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        client.ok("BatchWriteItem", {"RequestItems": {"Things": requests}})
    addition = {"IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"}}
    update = {"TableName": "Things", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
              "GlobalSecondaryIndexUpdates": [{"Create": addition}]}

    def ask():
        try:
            Client(proxy).call("UpdateTable", update)
        except OSError:
            pass

    def indexes():
        return client.ok("DescribeTable", {"TableName": "Things"})["Table"].get("GlobalSecondaryIndexes", [])

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    until(indexes)
    proxy.kill()
    asking.join(60)
    with sqlite3.connect(store.file) as file:
        (left,) = file.execute("SELECT (SELECT count(*) FROM t2) - (SELECT count(*) FROM t2_i1)").fetchone()
    assert left > 0, "the kill came too late to say anything"
    proxy = serve(store, tmp_path)
    try:
        client = Client(proxy)
        until(lambda: [index["IndexStatus"] for index in indexes()] == ["ACTIVE"])
        assert index_faults_by_wire(client, "Things") == []
        assert len(scan_by_wire(client, "Things", IndexName="by-g")) == len(items)
    finally:
        proxy.stop()


def test_a_stop_leaves_one_whole_file(store, tmp_path):
    proxy = serve(store, tmp_path)
    client = Client(proxy)
    client.ok("CreateTable", {"TableName": "Things", **PLAIN})
    client.ok("PutItem", put(1))
    proxy.stop()
    assert proxy.process.returncode == 0
    assert not store.file.with_name("data.sqlite-wal").exists()
    copy = Sqlite(tmp_path / "copy.sqlite")
    shutil.copy(store.file, copy.file)
    proxy = serve(copy, tmp_path)
    try:
        assert Client(proxy).ok("GetItem", get(1))["Item"] == put(1)["Item"]
    finally:
        proxy.stop()


def refusal(store, tmp_path):
    """What a server says that does not start."""
    with pytest.raises(RuntimeError, match="ended with 1"):
        serve(store, tmp_path)
    return (tmp_path / "log").read_text()


def test_a_second_server_is_refused(store, tmp_path):
    proxy = serve(store, tmp_path)
    try:
        second = tmp_path / "second"
        second.mkdir()
        said = refusal(store, second)
        assert f"{store.file} is in use by another server" in said and "hint: stop that one" in said
        Client(proxy).ok("ListTables", {})
    finally:
        proxy.kill()
    # Of one that was killed nothing is in the way.
    serve(store, tmp_path).stop()


def test_a_file_of_a_later_version_is_refused(store, tmp_path):
    serve(store, tmp_path).stop()
    with sqlite3.connect(store.file) as file:
        file.execute("PRAGMA user_version = 99")
    before = store.file.read_bytes()
    said = refusal(store, tmp_path)
    assert "was written by a later version of extenddb" in said and "hint: update extenddb" in said
    assert store.file.read_bytes() == before


def test_a_file_of_another_program_is_refused(store, tmp_path):
    with sqlite3.connect(store.file) as file:
        file.execute("CREATE TABLE shopping (thing TEXT)")
    before = store.file.read_bytes()
    assert "is not a database of extenddb" in refusal(store, tmp_path)
    assert store.file.read_bytes() == before


def fill(client):
    """Puts until one is refused; answers how many were taken, and the refusal."""
    number = 0
    while True:
        status, answer = client.call("PutItem", put(number, 20_000))
        if status != 200:
            return number, status, answer
        number += 1


INTERNAL = {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": "Internal server error"}


def all_there(client, count):
    for number in range(count):
        assert client.ok("GetItem", get(number))["Item"] == put(number, 20_000)["Item"]


def test_a_full_file_loses_nothing(store, tmp_path):
    proxy = serve(store, tmp_path, environment={"EXTENDDB_MAX_PAGES": "200"})
    try:
        client = Client(proxy)
        client.ok("CreateTable", {"TableName": "Things", **PLAIN})
        count, status, answer = fill(client)
        assert count > 10 and (status, answer) == (500, INTERNAL)
        all_there(client, count)
        # Room for one is room for one.
        client.ok("DeleteItem", get(0))
        client.ok("PutItem", put(0, 20_000))
        assert client.call("PutItem", put(count, 20_000)) == (500, INTERNAL)
        assert "full" in proxy.output()
    finally:
        proxy.stop()
    proxy = serve(store, tmp_path)
    try:
        client = Client(proxy)
        all_there(client, count)
        assert len(scan_by_wire(client, "Things")) == count
        client.ok("PutItem", put(count, 20_000))
    finally:
        proxy.stop()


def test_a_full_disk_loses_nothing(tmp_path):
    """A file system of 8 MB of the server's own, with something else in it that goes later."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=8m tmpfs {disk} && head -c 4000000 /dev/zero >{disk}/other && exec \"$@\""
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    proxy = serve(Sqlite(disk / "data.sqlite"), tmp_path, prefix=[*alone, "sh", "-c", mount, "sh"])
    try:
        client = Client(proxy)
        client.ok("CreateTable", {"TableName": "Things", **PLAIN})
        count, status, answer = fill(client)
        assert count > 10 and (status, answer) == (500, INTERNAL)
        all_there(client, count)
        os.unlink(f"/proc/{proxy.process.pid}/root{disk}/other")
        client.ok("PutItem", put(count, 20_000))
        all_there(client, count + 1)
        assert len(scan_by_wire(client, "Things")) == count + 1
        copy = Sqlite(tmp_path / "copy.sqlite")
        proxy.process.send_signal(signal.SIGSTOP)
        for suffix in ("", "-wal"):
            shutil.copy(f"/proc/{proxy.process.pid}/root{disk}/data.sqlite{suffix}", f"{copy.file}{suffix}")
    finally:
        proxy.kill()
    proxy = serve(copy, tmp_path)
    try:
        all_there(Client(proxy), count + 1)
    finally:
        proxy.stop()


def test_serve_alone_says_where_it_is_and_how_to_come_in(tmp_path):
    """`extenddb serve`, and the line that it prints for the AWS CLI."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    log = tmp_path / "log"
    with open(log, "wb") as out:
        server = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], env=environment, stdout=out,
                                  stderr=subprocess.STDOUT, start_new_session=True)
    try:
        until(lambda: "Ctrl-C stops it; the data stays." in log.read_text())
        file = tmp_path / ".local/share/extenddb/extenddb.sqlite"
        assert f"DynamoDB in the SQLite file {file}" in log.read_text() and file.exists()
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        (line,) = [line for line in log.read_text().splitlines() if line.startswith("  AWS CLI")]
        command = line.removeprefix("  AWS CLI").strip()
        # Not pip's script: where the clone's path has a space, it cannot be run.
        aws = f"aws() {{ '{sys.executable}' -m awscli \"$@\"; }}\n"
        done = subprocess.run(["sh", "-c", aws + command], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"TableNames": []}
    finally:
        server.terminate()
    assert server.wait(30) == 0


def test_items_go_from_one_store_to_another(store, tmp_path):
    """export-items and import-items, by file and by pipe."""
    proxy = serve(store, tmp_path)
    client = Client(proxy)
    for name in ("Things", "Other"):
        client.ok("CreateTable", {"TableName": name, **PLAIN})
    for number in range(60):
        client.ok("PutItem", put(number, number))
    held = scan_by_wire(client, "Things")

    def items(*arguments, **more):
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, **more)

    busy = items("export-items", "--table", "Things", *store.arguments)
    assert busy.returncode == 1 and "is in use by another server" in busy.stderr
    proxy.stop()
    exported = items("export-items", "--table", "Things", *store.arguments)
    assert exported.returncode == 0 and exported.stderr.endswith("exported 60 items from Things\n"), exported.stderr
    assert [json.loads(line)["Item"] for line in exported.stdout.splitlines()] == held
    file = tmp_path / "items.json"
    assert items("export-items", "--table", "Things", "--file", file, *store.arguments).returncode == 0
    assert file.read_text() == exported.stdout
    imported = items("import-items", "--table", "Other", *store.arguments, input=exported.stdout)
    assert imported.returncode == 0 and imported.stderr.endswith("imported 60 items into Other\n"), imported.stderr
    broken = tmp_path / "broken.json"
    broken.write_text("".join(exported.stdout.splitlines(keepends=True)[:30]) + '{"Item":{"pk":{"N":"1"}}}\n')
    refused = items("import-items", "--table", "Other", "--file", broken, *store.arguments)
    assert refused.returncode == 1 and "error: line 31: ValidationException: " in refused.stderr, refused.stderr
    proxy = serve(store, tmp_path)
    try:
        assert scan_by_wire(Client(proxy), "Other") == held
    finally:
        proxy.stop()
