import { expect, test } from "bun:test";
import { movedTo, placesOf, repositoryOfPage } from "../../../src/sources/github/instance.ts";

test.each([
  ["", "https://github.com/owner/app", "https://api.github.com/repos/owner/app", "https://api.github.com/graphql"],
  [
    "https://acme.ghe.com",
    "https://acme.ghe.com/owner/app",
    "https://api.acme.ghe.com/repos/owner/app",
    "https://api.acme.ghe.com/graphql",
  ],
  [
    "https://hub.example:8443",
    "https://hub.example:8443/owner/app",
    "https://hub.example:8443/api/v3/repos/owner/app",
    "https://hub.example:8443/api/graphql",
  ],
])("placesOf() on %p answers at its own addresses", (instance_url, page, rest, graphql) => {
  const places = placesOf({ path: "owner/app", instance_url });
  expect(places).toEqual({ name: "owner/app", page, rest, graphql, host: new URL(rest).host });
});

test.each([
  ["https://github.com/owner/app/releases/tag/v1", "owner/app"],
  ["https://github.com/owner/app", null],
  ["/owner/app/releases/tag/v1", null],
  [null, null],
  [undefined, null],
])("repositoryOfPage(%p) is %p", (page, repository) => {
  expect(repositoryOfPage(page)).toBe(repository);
});

test.each([
  ["owner/app", "other/app", "other/app"],
  ["owner/app", "Owner/App", null],
  ["owner/app", null, null],
])("movedTo(%p, %p) is %p", (asked, answered, place) => {
  expect(movedTo(asked, answered)).toBe(place);
});
