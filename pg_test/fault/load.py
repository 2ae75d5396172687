"""Writers that remember what was acknowledged, for kills under load."""

import http.client
import threading

from clients import Client

WRITERS = 12


class Load:
    """Writers, each with items of its own and a counter, that stop at the first answer that is none of a write's."""

    def __init__(self, proxy):
        self.acknowledged = [[] for _ in range(WRITERS)]
        self.counted = [0] * WRITERS
        self.unknown = [None] * WRITERS
        self.odd = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._write, args=(proxy, number), daemon=True) for number in range(WRITERS)]
        for thread in self.threads:
            thread.start()

    def _write(self, proxy, number):
        client, sent = Client(proxy), 0
        while not self.stop.is_set():
            item = {"pk": {"S": f"w{number}"}, "sk": {"S": f"{sent:06}"}, "g": {"S": f"g{sent % 4}"}, "lk": {"N": str(sent)},
                    "note": {"S": "n" * (sent % 50 * 20)}}
            count = {"TableName": "Orders", "Key": {"pk": {"S": "counter"}, "sk": {"S": str(number)}},
                     "UpdateExpression": "ADD n :one SET g = :g",
                     "ExpressionAttributeValues": {":one": {"N": "1"}, ":g": {"S": f"c{sent % 3}"}}}
            for operation, body in (("PutItem", {"TableName": "Orders", "Item": item}), ("UpdateItem", count)):
                try:
                    status, answer = client.call(operation, body)
                except (OSError, http.client.HTTPException):
                    status, answer = None, None
                if status != 200:
                    self.unknown[number] = operation
                    if status is not None and (status != 500 and status != 503):
                        self.odd.append((status, answer))
                    return
                if operation == "PutItem":
                    self.acknowledged[number].append(item)
                else:
                    self.counted[number] += 1
            sent += 1

    def written(self):
        return sum(self.counted)

    def join(self):
        for thread in self.threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self.threads)

    def check(self, stored):
        """`stored`: all items of the table, afterwards."""
        assert self.odd == []
        stored = {(item["pk"]["S"], item["sk"]["S"]): item for item in stored}
        for number in range(WRITERS):
            for item in self.acknowledged[number]:
                assert stored.get((item["pk"]["S"], item["sk"]["S"])) == item
            own = [key for key in stored if key[0] == f"w{number}"]
            unsure = self.unknown[number] == "PutItem"
            assert len(self.acknowledged[number]) <= len(own) <= len(self.acknowledged[number]) + unsure
            count = int(stored.get(("counter", str(number)), {"n": {"N": "0"}})["n"]["N"])
            unsure = self.unknown[number] == "UpdateItem"
            assert self.counted[number] <= count <= self.counted[number] + unsure
