// DynamoDBDocumentClient: JavaScript's own values.

import assert from "node:assert/strict";
import test from "node:test";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  UpdateCommand,
  paginateQuery,
  paginateScan,
} from "@aws-sdk/lib-dynamodb";
import { all, createTable, inParallel, newClient } from "./server.mjs";

const documents = DynamoDBDocumentClient.from(newClient());
const DIGITS_38 = "12345678901234567890123456789012345678";

test("every type comes back unchanged", async () => {
  await createTable("JsDocuments", "pk");
  const Item = {
    pk: "k\0",
    empty: "",
    string: "a\u00e9\u{1f600}\0",
    "name\0": "x",
    integer: 42,
    negative: -1.5,
    zero: 0,
    yes: true,
    no: false,
    none: null,
    bytes: Uint8Array.of(0, 1, 255),
    strings: new Set(["a", "b\0"]),
    numbers: new Set([1, -2.5]),
    binaries: new Set([Uint8Array.of(1), Uint8Array.of(2, 0)]),
    list: [1, "two", null, [], {}, [[{ deep: [true] }]]],
    map: { a: { "b.c": { "\0": "\0" } }, empty: {} },
  };
  await documents.send(new PutCommand({ TableName: "JsDocuments", Item }));
  const found = await documents.send(new GetCommand({ TableName: "JsDocuments", Key: { pk: "k\0" } }));
  assert.deepEqual(found.Item, Item);
  const old = await documents.send(
    new DeleteCommand({ TableName: "JsDocuments", Key: { pk: "k\0" }, ReturnValues: "ALL_OLD" }),
  );
  assert.deepEqual(old.Attributes, Item);
});

test("numbers of 38 digits by NumberValue", async () => {
  await createTable("JsNumbers", "pk", { types: { pk: "N" } });
  const exact = DynamoDBDocumentClient.from(newClient(), { unmarshallOptions: { wrapNumbers: true } });
  const key = { pk: NumberValue.from(DIGITS_38) };
  const fraction = NumberValue.from(`-0.${DIGITS_38}`);
  await exact.send(
    new PutCommand({
      TableName: "JsNumbers",
      Item: { ...key, fraction, list: [NumberValue.from("1e125")], set: new Set([NumberValue.from(DIGITS_38)]) },
    }),
  );
  const { Item } = await exact.send(new GetCommand({ TableName: "JsNumbers", Key: key }));
  assert.equal(Item.pk.value, DIGITS_38);
  assert.equal(Item.fraction.value, `-0.${DIGITS_38}`);
  assert.equal(Item.list[0].value, `1${"0".repeat(125)}`);
  assert.deepEqual([...Item.set].map((number) => number.value), [DIGITS_38]);
  const { Attributes } = await exact.send(
    new UpdateCommand({
      TableName: "JsNumbers",
      Key: key,
      UpdateExpression: "SET #c = if_not_exists(#c, :large) + :one",
      ExpressionAttributeNames: { "#c": "counter" },
      ExpressionAttributeValues: { ":one": NumberValue.from("1"), ":large": NumberValue.from(DIGITS_38) },
      ReturnValues: "UPDATED_NEW",
    }),
  );
  assert.equal(Attributes.counter.value, `${DIGITS_38.slice(0, -1)}9`);
});

test("an empty set is refused", async () => {
  await createTable("JsEmptySet", "pk");
  // The marshaller refuses one itself, unless told to convert it.
  const converting = DynamoDBDocumentClient.from(newClient(), { marshallOptions: { convertEmptyValues: true } });
  await converting.send(new PutCommand({ TableName: "JsEmptySet", Item: { pk: "k", s: new Set(), t: "" } }));
  const { Item } = await documents.send(new GetCommand({ TableName: "JsEmptySet", Key: { pk: "k" } }));
  assert.deepEqual(Item, { pk: "k", s: null, t: null });
  const empty = new PutCommand({ TableName: "JsEmptySet", Item: { pk: "k", s: new Set() } });
  await assert.rejects(documents.send(empty), /non-empty set/);
});

test("a failed condition is an exception with the item", async () => {
  await createTable("JsDocumentConditions", "pk");
  const TableName = "JsDocumentConditions";
  await documents.send(new PutCommand({ TableName, Item: { pk: "k", n: 1 } }));
  const again = new PutCommand({
    TableName,
    Item: { pk: "k" },
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  await assert.rejects(documents.send(again), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.deepEqual(error.Item, { pk: { S: "k" }, n: { N: "1" } });
    return true;
  });
});

test("queries and scans by pages", async () => {
  const TableName = "JsDocumentPages";
  await createTable(TableName, "pk sk", { types: { sk: "N" }, gsi: [["index", "g sk", "ALL"]] });
  const numbers = Array.from({ length: 50 }, (_, n) => n - 25);
  await inParallel(numbers, (sk) =>
    documents.send(new PutCommand({ TableName, Item: { pk: "k", sk, n: sk, g: sk % 2 === 0 ? "even" : "odd" } })),
  );
  const read = async (request) => {
    const pages = await all(paginateQuery({ client: documents, pageSize: 7 }, { TableName, ...request }));
    return pages.flatMap((page) => page.Items.map((item) => item.sk));
  };
  assert.deepEqual(
    await read({ KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "k" } }),
    numbers,
  );
  assert.deepEqual(
    await read({
      IndexName: "index",
      KeyConditionExpression: "g = :g AND sk >= :n",
      ExpressionAttributeValues: { ":g": "even", ":n": 10 },
      ScanIndexForward: false,
    }),
    [24, 22, 20, 18, 16, 14, 12, 10],
  );
  assert.deepEqual(
    await read({
      KeyConditionExpression: "pk = :p",
      FilterExpression: "g = :g AND n < :n",
      ExpressionAttributeValues: { ":p": "k", ":g": "odd", ":n": -20 },
    }),
    [-25, -23, -21],
  );
  const scanned = await all(paginateScan({ client: documents, pageSize: 11 }, { TableName }));
  assert.deepEqual(
    scanned.flatMap((page) => page.Items.map((item) => item.sk)).sort((a, b) => a - b),
    numbers,
  );
  const one = await documents.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: "pk = :p AND sk BETWEEN :a AND :b",
      ProjectionExpression: "g",
      ExpressionAttributeValues: { ":p": "k", ":a": 3, ":b": 4 },
    }),
  );
  assert.deepEqual(one.Items, [{ g: "odd" }, { g: "even" }]);
});

test("batches", async () => {
  const TableName = "JsDocumentBatches";
  await createTable(TableName, "pk");
  const keys = ["a", "b", "c"];
  const written = await documents.send(
    new BatchWriteCommand({
      RequestItems: { [TableName]: keys.map((pk) => ({ PutRequest: { Item: { pk, set: new Set([pk]) } } })) },
    }),
  );
  assert.deepEqual(written.UnprocessedItems, {});
  const read = await documents.send(
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [...keys, "d"].map((pk) => ({ pk })) } } }),
  );
  assert.deepEqual(
    read.Responses[TableName].sort((a, b) => (a.pk < b.pk ? -1 : 1)),
    keys.map((pk) => ({ pk, set: new Set([pk]) })),
  );
});
