import { expect, test } from "bun:test";
import * as v from "valibot";
import { Name } from "../../src/forms/inputs.ts";
import type { Route } from "../../src/http/api/route.ts";
import { openApi } from "../../src/http/openapi.ts";

const View = v.object({ name: v.string() });
const route: Route = {
  ...{ method: "GET", path: "/things", operation_id: "list_things", summary: "Things", tag: "things", access: "read" },
  answer: { status: 200, description: "All", schema: View },
  perform: async () => ({ name: "a" }),
};

test("openApi() describes the routes once, whatever address is asked for", () => {
  let looked = 0;
  const routes: readonly Route[] = [
    {
      ...route,
      get summary() {
        looked += 1;
        return "Things";
      },
    },
  ];
  const { document, text } = openApi({ routes, version: "1" });
  for (let index = 0; index < 20; index += 1) {
    const url = `http://h${index}.test/"quoted"`;
    expect(JSON.parse(text(url))).toEqual(JSON.parse(JSON.stringify(document(url))));
    expect(JSON.parse(text(url))).toMatchObject({
      openapi: "3.1.0",
      info: { version: "1" },
      servers: [{ url }],
      paths: { "/api/things": { get: { operationId: "list_things" } } },
    });
  }
  expect(looked).toBe(1);
});

test("openApi() has what Bun answers to what is too long to be read", async () => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("read") });
  try {
    const lengths = [15, 17].map((kib) => `${server.url}?text=${"a".repeat(kib * 1024)}`);
    const answers = await Promise.all(lengths.map(async (address) => await fetch(address)));
    expect(answers.map(({ status }) => status)).toEqual([200, 431]);
    expect(await answers[1]?.text()).toBe("");
  } finally {
    await server.stop(true);
  }
  const { paths } = openApi({ routes: [route], version: "1" }).document("http://h.test");
  expect(paths).toMatchObject({ "/api/things": { get: { responses: { 431: { description: expect.any(String) } } } } });
});

test("openApi() states every pattern of a text, the last as its own", () => {
  const Narrow = v.pipe(Name, v.regex(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u), v.regex(/[^.]$/));
  const create: Route = { ...route, method: "POST", body: v.object({ name: Narrow, title: Name }) };
  const document = openApi({ routes: [create], version: "1" }).document("http://h.test");
  const control = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
  expect(document).toMatchObject({
    paths: {
      "/api/things": {
        post: {
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  properties: {
                    name: {
                      pattern: "[^.]$",
                      allOf: [{ pattern: control }, { pattern: "^[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}._-]*$" }],
                    },
                    title: { pattern: control },
                  },
                },
              },
            },
          },
        },
      },
    },
  });
});
