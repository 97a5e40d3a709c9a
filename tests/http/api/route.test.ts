import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { say, told } from "../../../src/messages/message.ts";
import { english } from "../../support/english.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const Described = v.object({
  paths: v.record(
    v.string(),
    v.record(v.string(), v.object({ parameters: v.array(v.object({ name: v.string(), in: v.string() })) })),
  ),
});

describe("the query of a route", () => {
  test("is refused when one of its members is there twice, on every route that takes any", async () => {
    const { api } = await app.signedIn();
    const { paths } = v.parse(Described, await (await app.send("/openapi.json")).json());
    const asked = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { parameters }]) =>
        parameters.filter((each) => each.in === "query").map(({ name }) => ({ path, method, name })),
      ),
    );
    expect(asked.map(({ path, name }) => `${path} ${name}`)).toContain("/api/snapshots/{id}/export format");
    const answers: { path: string; name: string; status: number; error: unknown }[] = [];
    for (const { path, method, name } of asked) {
      const below = path.slice("/api".length).replaceAll(/\{\w+\}/g, "x");
      const { status, body } = await api(method.toUpperCase(), `${below}?${name}=a&${name}=b`);
      answers.push({ path, name, status, error: body.error });
    }
    expect(answers).toEqual(
      asked.map(({ path, name }) => {
        const said = say("request.query_repeated", { name, count: 2 });
        const refused = { fields: { [name]: english(said) }, fields_data: { [name]: said } };
        const error = { code: "invalid_input", ...told(say("request.input_errors")), ...refused };
        return { path, name, status: 422, error };
      }),
    );
  });

  test("may have each of its members once", async () => {
    const { api } = await app.signedIn();
    expect((await api("GET", "/snapshots?limit=5&executor_id=x")).status).toBe(200);
  });
});
