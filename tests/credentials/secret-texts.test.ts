import { expect, test } from "bun:test";
import { secretTexts } from "../../src/credentials/schema.ts";

test.each([
  [{ token: "ghp_x" }, ["ghp_x"]],
  [{ username: "docker", password: "s3cret" }, ["s3cret"]],
  [{ basic_auth: "reader:s3:cret" }, ["reader:s3:cret", "s3:cret"]],
  [{ kubeconfig: "a: b", client_key: "pem" }, ["a: b", "pem"]],
  [{}, []],
])("secretTexts() of %j", (secret, expected) => {
  expect(secretTexts(secret)).toEqual(expected);
});
