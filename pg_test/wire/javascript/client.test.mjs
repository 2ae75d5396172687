// DynamoDBClient: values as they are on the wire.

import assert from "node:assert/strict";
import test from "node:test";
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBServiceException,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateItemCommand,
  paginateListTables,
  paginateQuery,
  paginateScan,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import { all, bytes, client, createTable, inParallel } from "./server.mjs";

const DIGITS_38 = "12345678901234567890123456789012345678";
const ITEM_TOO_LARGE = "Item size has exceeded the maximum allowed size";

const put = (TableName, Item, more = {}) => client.send(new PutItemCommand({ TableName, Item, ...more }));
const get = async (TableName, Key) =>
  (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;

async function refused(promise, exception, text) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof DynamoDBServiceException, `${error}`);
    assert.equal(error.name, exception);
    if (text !== undefined) assert.equal(error.message, text);
    assert.match(error.$metadata.requestId, /^[0-9A-Z]{52}$/);
    return true;
  });
}

/** Sets have no order. */
function unordered(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(unordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const plain = unordered(member);
      return [name, ["SS", "NS", "BS"].includes(name) && Array.isArray(plain) ? plain.sort() : plain];
    }),
  );
}

test("tables come and go", async () => {
  const described = await createTable("JsTable", "pk sk", {
    types: { sk: "N", lk: "B", r2: "N" },
    lsi: [["local", "pk lk", "ALL"]],
    gsi: [
      ["index", "g", "KEYS_ONLY"],
      ["multi", "h1,h2 r1,r2", "ALL"],
    ],
  });
  assert.equal(described.TableArn, "arn:aws:dynamodb:us-east-1:000000000000:table/JsTable");
  assert.ok(described.CreationDateTime instanceof Date);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: "JsTable" }));
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.deepEqual(Table.GlobalSecondaryIndexes.map((index) => index.IndexName).sort(), ["index", "multi"]);
  const multi = Table.GlobalSecondaryIndexes.find((index) => index.IndexName === "multi");
  assert.deepEqual(
    multi.KeySchema.map((key) => `${key.AttributeName} ${key.KeyType}`),
    ["h1 HASH", "h2 HASH", "r1 RANGE", "r2 RANGE"],
  );
  await assert.rejects(createTable("JsTable", "pk"), ResourceInUseException);
  await createTable("JsTable2", "pk");
  const names = (await all(paginateListTables({ client, pageSize: 1 }, {}))).flatMap((page) => page.TableNames);
  assert.ok(names.includes("JsTable") && names.includes("JsTable2"));
  await client.send(new DeleteTableCommand({ TableName: "JsTable" }));
  await waitUntilTableNotExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: "JsTable" });
  await assert.rejects(client.send(new DescribeTableCommand({ TableName: "JsTable" })), (error) => {
    assert.ok(error instanceof ResourceNotFoundException);
    assert.equal(error.message, "Requested resource not found: Table: JsTable not found");
    return true;
  });
  assert.ok(!(await client.send(new ListTablesCommand({}))).TableNames.includes("JsTable"));
});

test("every type comes back unchanged", async () => {
  await createTable("JsTypes", "pk sk");
  const item = {
    pk: { S: "k\0ey" },
    sk: { S: "\0" },
    empty: { S: "" },
    unicode: { S: "a\u00e9\u0301\u65e5\u{1f600}\u2028\"\\/\u007f" },
    nul: { S: "a\0b" },
    "name\0": { S: "a\\u0000b" },
    zero: { N: "0" },
    digits: { N: DIGITS_38 },
    fraction: { N: `-0.${DIGITS_38}` },
    largest: { N: "9".repeat(38) + "0".repeat(88) },
    smallest: { N: `0.${"0".repeat(129)}1` },
    bytes: { B: Uint8Array.from({ length: 256 }, (_, i) => i) },
    "no bytes": { B: new Uint8Array() },
    yes: { BOOL: true },
    no: { BOOL: false },
    none: { NULL: true },
    strings: { SS: ["b", "a", "", "\0"] },
    numbers: { NS: ["1", "-1", DIGITS_38] },
    binaries: { BS: [Uint8Array.of(0), new Uint8Array(), Uint8Array.of(255, 0)] },
    list: { L: [{ S: "x" }, { NULL: true }, { L: [] }, { M: {} }] },
    map: { M: { "\0": { M: { deep: { L: [{ B: Uint8Array.of(0) }] } } } } },
  };
  await put("JsTypes", item);
  assert.deepEqual(unordered(await get("JsTypes", { pk: item.pk, sk: item.sk })), unordered(item));
  assert.equal(await get("JsTypes", { pk: { S: "k\\u0000ey" }, sk: item.sk }), undefined);
  const { Items } = await client.send(
    new QueryCommand({
      TableName: "JsTypes",
      KeyConditionExpression: "pk = :p AND begins_with(sk, :s)",
      ExpressionAttributeValues: { ":p": item.pk, ":s": { S: "\0" } },
    }),
  );
  assert.deepEqual(unordered(Items), [unordered(item)]);
});

test("what is no item is refused", async () => {
  await createTable("JsRefused", "pk");
  const text = "1 validation error detected: One or more parameter values were invalid: An string set  may not be empty";
  await refused(put("JsRefused", { pk: { S: "k" }, s: { SS: [] } }), "ValidationException", text);
  await refused(
    put("JsRefused", { pk: { S: "k" }, n: { N: `${DIGITS_38}9` } }),
    "ValidationException",
    "1 validation error detected: Attempting to store more than 38 significant digits in a Number",
  );
  await refused(put("JsAbsent", { pk: { S: "k" } }), "ResourceNotFoundException", "Requested resource not found");
});

test("an item of 400 KB and no byte more", async () => {
  await createTable("JsLarge", "pk");
  const item = (length) => ({ pk: { S: "k" }, v: { B: bytes(1, length) } });
  const most = 409_600 - "pkkv".length;
  await put("JsLarge", item(most));
  assert.deepEqual(unordered(await get("JsLarge", { pk: { S: "k" } })), unordered(item(most)));
  await refused(put("JsLarge", item(most + 1)), "ValidationException", ITEM_TOO_LARGE);
});

test("pages end at one megabyte", async () => {
  await createTable("JsPages", "pk sk", { types: { sk: "N" } });
  // 12 items of 100,000 bytes: the eleventh crosses 1,048,576.
  const numbers = Array.from({ length: 12 }, (_, n) => n + 1);
  const value = { B: bytes(2, 100_000 - "pkksvk".length - 2) };
  await inParallel(numbers, (n) => put("JsPages", { pk: { S: "k" }, sk: { N: `${n}` }, v: value }));
  const request = {
    TableName: "JsPages",
    KeyConditionExpression: "pk = :p",
    ExpressionAttributeValues: { ":p": { S: "k" } },
  };
  const pages = await all(paginateQuery({ client }, request));
  assert.deepEqual(pages.map((page) => page.Count), [11, 1]);
  assert.deepEqual(pages.flatMap((page) => page.Items.map((item) => Number(item.sk.N))), numbers);
  const scanned = await all(paginateScan({ client }, { TableName: "JsPages" }));
  assert.deepEqual(scanned.map((page) => page.Count), [11, 1]);
});

test("keys of the full length", async () => {
  await createTable("JsKeys", "pk sk", {
    types: { pk: "B", sk: "B", g: "B", r: "B" },
    gsi: [["index", "g r", "KEYS_ONLY"]],
  });
  const items = Array.from({ length: 10 }, (_, n) => ({
    pk: { B: bytes(10 + n, 2048) },
    sk: { B: bytes(30 + n, 1024) },
    g: { B: bytes(50 + n, 2048) },
    r: { B: bytes(70 + n, 1024) },
  }));
  await inParallel(items, (item) => put("JsKeys", item));
  for (const item of items) {
    assert.deepEqual(unordered(await get("JsKeys", { pk: item.pk, sk: item.sk })), unordered(item));
    const { Items } = await client.send(
      new QueryCommand({
        TableName: "JsKeys",
        IndexName: "index",
        KeyConditionExpression: "g = :g AND r = :r",
        ExpressionAttributeValues: { ":g": item.g, ":r": item.r },
      }),
    );
    assert.deepEqual(unordered(Items), [unordered(item)]);
  }
  const longer = bytes(1, 2049);
  await refused(
    put("JsKeys", { ...items[0], pk: { B: longer } }),
    "ValidationException",
    "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes",
  );
  await refused(
    put("JsKeys", { ...items[0], sk: { B: longer.slice(0, 1025) } }),
    "ValidationException",
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
  );
});

test("an index of four RANGE attributes of 1,024 bytes together", async () => {
  await createTable("JsMulti", "pk", {
    types: { r1: "B", r2: "B", r3: "B", r4: "B" },
    gsi: [["index", "h1,h2 r1,r2,r3,r4", "ALL"]],
  });
  const items = Array.from({ length: 6 }, (_, n) => ({
    pk: { S: `${n}` },
    h1: { S: "a" },
    h2: { S: "b\0" },
    ...Object.fromEntries([1, 2, 3, 4].map((r) => [`r${r}`, { B: bytes(r === 1 ? 7 : 100 * r + n, 256) }])),
  }));
  await inParallel(items, (item) => put("JsMulti", item));
  const pages = await all(
    paginateQuery(
      { client, pageSize: 4 },
      {
        TableName: "JsMulti",
        IndexName: "index",
        KeyConditionExpression: "h1 = :a AND h2 = :b AND r1 = :r",
        ExpressionAttributeValues: { ":a": { S: "a" }, ":b": { S: "b\0" }, ":r": items[0].r1 },
      },
    ),
  );
  const sorted = [...items].sort((a, b) => Buffer.compare(a.r2.B, b.r2.B));
  assert.deepEqual(unordered(pages.flatMap((page) => page.Items)), unordered(sorted));
  await refused(
    put("JsMulti", { ...items[0], r4: { B: bytes(1, 257) } }),
    "ValidationException",
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
  );
});

test("sort keys come in order", async () => {
  const letters = ["\0", "a", "A", "\u00e9", "\ufffd", "\u{1f600}", "~"];
  const strings = letters.flatMap((a) => [a, ...letters.flatMap((b) => [a + b, ...letters.map((c) => a + b + c)])]);
  const inBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const whole = Array.from({ length: 310 }, (_, n) => `${n - 155}`);
  const binaries = new Map(Array.from({ length: 310 }, (_, n) => bytes(n, 2 + (n % 5))).map((b) => [b.join(), b]));
  const orders = {
    S: strings.slice(0, 310).sort(inBytes),
    N: [...whole, "0.001", "-0.001", DIGITS_38, `-${DIGITS_38}`].sort((a, b) => Number(a) - Number(b)),
    B: [...binaries.values()].sort(inBytes),
  };
  assert.ok(Object.values(orders).every((values) => values.length > 300));
  for (const [type, values] of Object.entries(orders)) {
    const TableName = `JsOrder${type}`;
    await createTable(TableName, "pk sk", { types: { sk: type } });
    await inParallel(values, (value) => put(TableName, { pk: { S: "k" }, sk: { [type]: value } }));
    for (const forward of [true, false]) {
      const pages = await all(
        paginateQuery(
          { client, pageSize: 77 },
          {
            TableName,
            KeyConditionExpression: "pk = :p",
            ExpressionAttributeValues: { ":p": { S: "k" } },
            ScanIndexForward: forward,
          },
        ),
      );
      const found = pages.flatMap((page) => page.Items.map((item) => item.sk[type]));
      assert.deepEqual(unordered(found), unordered(forward ? values : [...values].reverse()), type);
    }
  }
});

test("a failed condition is an exception with the item", async () => {
  await createTable("JsConditions", "pk");
  const item = { pk: { S: "k" }, n: { N: "1" } };
  const Key = { pk: item.pk };
  await put("JsConditions", item);
  const more = { TableName: "JsConditions", ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
  const commands = [
    new PutItemCommand({ ...more, Item: item, ConditionExpression: "attribute_not_exists(pk)" }),
    new DeleteItemCommand({ ...more, Key, ConditionExpression: "attribute_exists(absent)" }),
    new UpdateItemCommand({
      ...more,
      Key,
      UpdateExpression: "SET n = :v",
      ConditionExpression: "n > :v",
      ExpressionAttributeValues: { ":v": { N: "1.0" } },
    }),
  ];
  for (const command of commands) {
    await assert.rejects(client.send(command), (error) => {
      assert.ok(error instanceof ConditionalCheckFailedException);
      assert.equal(error.message, "The conditional request failed");
      assert.deepEqual(error.Item, item);
      return true;
    });
  }
});

test("what an update returns", async () => {
  await createTable("JsUpdates", "pk");
  const old = { pk: { S: "k" }, a: { N: "1" }, m: { M: { x: { S: "x" }, y: { S: "y" } } } };
  const now = { pk: { S: "k" }, a: { N: "3" }, m: { M: { x: { S: "z" }, y: { S: "y" } } } };
  const wanted = {
    NONE: undefined,
    ALL_OLD: old,
    ALL_NEW: now,
    UPDATED_OLD: { a: { N: "1" }, m: { M: { x: { S: "x" } } } },
    UPDATED_NEW: { a: { N: "3" }, m: { M: { x: { S: "z" } } } },
  };
  for (const [ReturnValues, attributes] of Object.entries(wanted)) {
    await put("JsUpdates", old);
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: "JsUpdates",
        Key: { pk: old.pk },
        UpdateExpression: "SET a = a + :two, m.x = :z",
        ExpressionAttributeValues: { ":two": { N: "2" }, ":z": { S: "z" } },
        ReturnValues,
      }),
    );
    assert.deepEqual(Attributes, attributes, ReturnValues);
  }
});

test("a parallel scan reads each item once", async () => {
  await createTable("JsScan", "pk", { types: { pk: "N" } });
  const numbers = Array.from({ length: 120 }, (_, n) => n);
  await inParallel(numbers, (n) => put("JsScan", { pk: { N: `${n}` } }));
  const segments = await Promise.all(
    [0, 1, 2, 3].map((Segment) =>
      all(paginateScan({ client, pageSize: 9 }, { TableName: "JsScan", Segment, TotalSegments: 4 })),
    ),
  );
  const found = segments.flat().flatMap((page) => page.Items.map((item) => Number(item.pk.N)));
  assert.deepEqual(found.sort((a, b) => a - b), numbers);
});

test("batches", async () => {
  await createTable("JsBatches", "pk", { types: { pk: "N" } });
  const numbers = Array.from({ length: 25 }, (_, n) => n);
  const written = await client.send(
    new BatchWriteItemCommand({
      RequestItems: { JsBatches: numbers.map((n) => ({ PutRequest: { Item: { pk: { N: `${n}` } } } })) },
    }),
  );
  assert.deepEqual(written.UnprocessedItems, {});
  const read = await client.send(
    new BatchGetItemCommand({
      RequestItems: { JsBatches: { Keys: [...numbers, 100].map((n) => ({ pk: { N: `${n}` } })) } },
    }),
  );
  assert.deepEqual(read.UnprocessedKeys, {});
  assert.deepEqual(
    read.Responses.JsBatches.map((item) => Number(item.pk.N)).sort((a, b) => a - b),
    numbers,
  );
});
