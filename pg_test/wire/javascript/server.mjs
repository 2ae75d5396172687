// The server under test, and tables in it. Endpoint and key come from the environment, as for any application.

import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb";

/** One attempt: a retry would hide a fault. A document client changes the client below it: each needs its own. */
export const newClient = () => new DynamoDBClient({ maxAttempts: 1 });

export const client = newClient();

/** A table of keys as "h", "h r" or "h1,h2 r1,r2"; `types` are those that are not S; indexes are [name, key, projection]. */
export async function createTable(TableName, key, { types = {}, gsi = [], lsi = [] } = {}) {
  const schema = (text) =>
    text.split(" ").flatMap((names, i) =>
      names.split(",").map((AttributeName) => ({ AttributeName, KeyType: i === 0 ? "HASH" : "RANGE" })),
    );
  const index = ([IndexName, key, ProjectionType]) => ({
    IndexName,
    KeySchema: schema(key),
    Projection: { ProjectionType },
  });
  const names = new Set([key, ...gsi.map((parts) => parts[1]), ...lsi.map((parts) => parts[1])].join(" ").split(/[ ,]/));
  const answer = await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: schema(key),
      AttributeDefinitions: [...names].map((AttributeName) => ({
        AttributeName,
        AttributeType: types[AttributeName] ?? "S",
      })),
      GlobalSecondaryIndexes: gsi.length ? gsi.map(index) : undefined,
      LocalSecondaryIndexes: lsi.length ? lsi.map(index) : undefined,
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName });
  return answer.TableDescription;
}

/** Runs `each` over all, a few at a time. */
export async function inParallel(all, each) {
  const waiting = [...all];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (waiting.length > 0) await each(waiting.shift());
    }),
  );
}

/** Bytes that look random, the same in every run. */
export function bytes(seed, length) {
  const out = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = state >>> 24;
  }
  return out;
}

export async function all(pages) {
  const found = [];
  for await (const page of pages) found.push(page);
  return found;
}
