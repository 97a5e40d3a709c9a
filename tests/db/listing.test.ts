import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { idsIn, listsOfValues, listsOver, oneOf, optionsIn } from "../../src/db/listing.ts";
import { credentials } from "../../src/db/tables.ts";
import { anyText, type ListShape, listAsk, listOperations } from "../../src/forms/page.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const rows = [
  { id: "5", name: "e%e", kind: "oci", updated_at: 3 },
  { id: "1", name: "a", kind: "oci", updated_at: 2 },
  { id: "3", name: "c", kind: "git", updated_at: 2 },
  { id: "2", name: "b", kind: "oci", updated_at: 2 },
  { id: "4", name: "d_d", kind: "git", updated_at: 1 },
];

let stored: Awaited<ReturnType<typeof temporaryDatabase>>;
const lists = listsOver(credentials, () => ({
  sorts: { name: "credentials.name", changed: "credentials.updated_at" },
  filters: {
    kind: { oci: eq(credentials.kind, "oci"), git: eq(credentials.kind, "git") },
    only: oneOf(credentials.id),
  },
  searched: [credentials.name, credentials.description],
}));
const shape: ListShape = {
  sorts: ["name", "changed"],
  filters: { kind: ["oci", "git"] },
  texts: { only: anyText },
  searched: "Part of a name",
};
const operations = () =>
  listOperations({
    shape,
    page: (ask) => lists.page(stored.db.read, null, ask),
    counts: (ask) => lists.counts(stored.db.read, null, ask),
    views: (found) => Promise.resolve(found.map((row) => row.name)),
  });

beforeAll(async () => {
  stored = await temporaryDatabase();
  const sealed_secret = new Uint8Array([1]) as never;
  await stored.db.write(async (tx) => {
    await tx.insert(credentials).values(rows.map((row) => ({ ...row, sealed_secret, created_at: 1 })));
  });
});
afterAll(() => stored.close());

/** Every entry, page by page. */
async function paged(query: Record<string, string>, limit: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await operations().list({ ...query, limit, ...(cursor === "" ? {} : { cursor }) });
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  return found;
}

describe("a list", () => {
  for (const [sort, expected] of [
    ["name", ["a", "b", "c", "d_d", "e%e"]],
    ["-name", ["e%e", "d_d", "c", "b", "a"]],
    ["changed", ["d_d", "a", "b", "c", "e%e"]],
    ["-changed", ["e%e", "c", "b", "a", "d_d"]],
  ] as const) {
    test(`by ${sort} is complete and in the same order, however long its pages are`, async () => {
      for (const limit of [1, 2, 3, 100]) expect(await paged({ sort }, limit)).toEqual([...expected]);
    });
  }

  test("is filtered and searched, with literal wildcards", async () => {
    expect(await paged({ kind: "git" }, 1)).toEqual(["c", "d_d"]);
    expect(await paged({ only: "2" }, 5)).toEqual(["b"]);
    expect(await paged({ search: "%" }, 5)).toEqual(["e%e"]);
    expect(await paged({ search: "_" }, 5)).toEqual(["d_d"]);
    expect(await paged({ search: "\\" }, 5)).toEqual([]);
  });

  test("counts what each option leaves under the other filters", async () => {
    expect(await operations().counts({})).toEqual({ kind: { "": 5, oci: 3, git: 2 } });
    expect(await operations().counts({ kind: "git" })).toEqual({ kind: { "": 5, oci: 3, git: 2 } });
    expect(await operations().counts({ search: "_" })).toEqual({ kind: { "": 1, oci: 0, git: 1 } });
    expect(await operations().counts({ search: "nothing" })).toEqual({ kind: { "": 0, oci: 0, git: 0 } });
    expect(await operations().counts({ only: "2" })).toEqual({
      kind: { "": 1, oci: 1, git: 0 },
      only: { "": 5, 2: 1 },
    });
  });

  test("counts an option that no page shows only when it is asked for", async () => {
    const { page, counts } = listsOver(credentials, () => ({
      sorts: { name: "credentials.name" },
      filters: { kind: { oci: eq(credentials.kind, "oci"), git: () => eq(credentials.kind, "git") } },
      searched: [],
    }));
    const ask = listAsk(shape, { kind: "git" });
    const { rows: found } = await page(stored.db.read, null, ask);
    expect(found.map(({ name }) => name)).toEqual(["c", "d_d"]);
    expect(await counts(stored.db.read, null, ask)).toEqual({ kind: { "": 5, oci: 3, git: 2 } });
    expect(await counts(stored.db.read, null, listAsk(shape, {}))).toEqual({ kind: { "": 5, oci: 3 } });
  });

  test("is filtered and counted by the ids that another query finds", async () => {
    const { page, counts } = listsOver(credentials, () => ({
      sorts: { name: "credentials.name" },
      filters: {
        kind: { git: idsIn(sql`select other.id as id from credentials as other where other.kind = 'git'`) },
        only: oneOf(credentials.id),
      },
      searched: [credentials.name],
    }));
    const { rows: found } = await page(stored.db.read, null, listAsk(shape, { kind: "git", search: "_" }));
    expect(found.map(({ name }) => name)).toEqual(["d_d"]);
    const countsOf = async (query: Record<string, string>) => await counts(stored.db.read, null, listAsk(shape, query));
    expect(await countsOf({})).toEqual({ kind: { "": 5, git: 2 } });
    expect(await countsOf({ search: "_" })).toEqual({ kind: { "": 1, git: 1 } });
    expect(await countsOf({ only: "2" })).toEqual({ kind: { "": 1, git: 0 }, only: { "": 5, 2: 1 } });
  });

  test("counts the values of a column, and only rows of its scope", async () => {
    const own = listsOver(credentials, (_read, kind: string) => ({
      sorts: { name: "credentials.name" },
      filters: { changed: sql`${credentials.updated_at}` },
      searched: [],
      scope: eq(credentials.kind, kind),
    }));
    const ask = (filters: Record<string, string>) => listAsk({ ...shape, filters: { changed: ["1", "2"] } }, filters);
    expect(await own.counts(stored.db.read, "git", ask({}))).toEqual({ changed: { "": 2, 1: 1, 2: 1 } });
    const { rows: found } = await own.page(stored.db.read, "git", ask({ changed: "2" }));
    expect(found.map(({ name }) => name)).toEqual(["c"]);
  });

  test("counts each entry for each of the options that another query gives it", async () => {
    const has = [
      { id: "1", option: "x" },
      { id: "1", option: "y" },
      { id: "3", option: "x" },
    ];
    const tagged = listsOver(credentials, () => ({
      sorts: { name: "credentials.name" },
      filters: {
        tag: optionsIn(
          sql`select value ->> 'id' as id, value ->> 'option' as option from json_each(${JSON.stringify(has)})`,
        ),
        kind: credentials.kind,
      },
      searched: [credentials.name],
    }));
    const ask = (query: object) =>
      listAsk({ ...shape, texts: {}, filters: { tag: ["x", "y"], kind: ["oci", "git"] } }, query);
    const counts = (query: object) => tagged.counts(stored.db.read, null, ask(query));
    expect(await counts({})).toEqual({ tag: { "": 5, x: 2, y: 1 }, kind: { "": 5, oci: 3, git: 2 } });
    expect(await counts({ tag: "x" })).toEqual({ tag: { "": 5, x: 2, y: 1 }, kind: { "": 2, oci: 1, git: 1 } });
    expect(await counts({ kind: "git" })).toEqual({ tag: { "": 2, x: 1 }, kind: { "": 5, oci: 3, git: 2 } });
    expect((await counts({ search: "a" })).tag).toEqual({ "": 1, x: 1, y: 1 });
    const { rows: found } = await tagged.page(stored.db.read, null, ask({ tag: "x" }));
    expect(found.map(({ name }) => name)).toEqual(["a", "c"]);
  });

  test("leaves out columns that it does not need", async () => {
    const lean = listsOver(credentials, () => ({ sorts: { name: "credentials.name" }, filters: {}, searched: [] }), [
      "sealed_secret",
    ]);
    const { rows: found } = await lean.page(stored.db.read, null, listAsk(shape, { limit: 1 }));
    expect(Object.keys(found[0] ?? {})).toContain("name");
    expect(Object.keys(found[0] ?? {})).not.toContain("sealed_secret");
  });

  test("is paged, filtered, counted and sorted alike when no table has its entries", async () => {
    const values = rows.map((row) => ({ ...row, is_long: row.name.length > 1, none: null }));
    const listed = listsOfValues<(typeof values)[number]>({
      sorts: { name: "listed.value ->> 'name'", changed: "listed.value ->> 'updated_at'" },
      filters: { kind: sql`listed.value ->> 'kind'` },
      searched: [sql`listed.value ->> 'name'`],
    });
    const ask = (query: object) => listAsk({ ...shape, texts: {} }, query);
    const names: string[] = [];
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page = await listed.page(stored.db.read, values, { ...ask({ sort: "-changed", limit: 2 }), after });
      names.push(...page.rows.map(({ name }) => name));
      after = page.key;
    }
    expect(names).toEqual(["e%e", "c", "b", "a", "d_d"]);
    expect((await listed.page(stored.db.read, values, ask({ search: "%", kind: "oci" }))).rows).toEqual(
      values.slice(0, 1),
    );
    expect(await listed.counts(stored.db.read, values, ask({ search: "_" }))).toEqual({ kind: { "": 1, git: 1 } });
    expect(await listed.page(stored.db.read, [], ask({}))).toEqual({ rows: [], key: null });
  });

  test("begins at its first page for a cursor that is none", async () => {
    const cursors = [
      "x",
      "bnVsbA",
      Buffer.from('[{},"1"]').toString("base64url"),
      Buffer.from('[1e400,"1"]').toString("base64url"),
      Buffer.from("[1]").toString("base64url"),
    ];
    for (const cursor of cursors) expect((await operations().list({ cursor, limit: 1 })).items).toEqual(["a"]);
  });

  test("refuses a sort and an option that it does not have", async () => {
    for (const query of [{ sort: "secret" }, { sort: "--name" }, { kind: "x" }]) {
      await expect(operations().list(query)).rejects.toMatchObject({ status: 422 });
    }
  });
});

test.each(["state", "trigger"])("no run is read to count them by %s", async (option) => {
  const counts = `explain query plan select ${option}, count(*) from runs group by ${option}`;
  const { rows: plan } = await stored.db.client.execute(counts);
  expect(String(plan[0]?.detail)).toContain("USING COVERING INDEX runs_counted");
});
