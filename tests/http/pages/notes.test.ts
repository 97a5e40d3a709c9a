import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { releases } from "../../../src/db/tables.ts";
import { plain } from "../../../src/messages/message.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
});
afterEach(() => app.close());

/** A release of the tracker `app`, a minute younger than the one before. */
async function release(version: string, notes: string | null, notes_error: string | null = null): Promise<void> {
  const count = (await app.db.read.select().from(releases)).length;
  const at = app.clock.now() - 86_400_000 + count * 60_000;
  await app.db.write(async (tx) => {
    await tx.insert(releases).values({
      id: `release-${version}`,
      source_id: "s",
      version,
      tag: version,
      stage: "tag",
      published_at: at,
      first_observed_at: at,
      url: `https://upstream.test/${version}`,
      notes,
      notes_digest: notes === null ? null : version,
      notes_error: notes_error === null ? null : plain(notes_error),
    });
  });
}

const dialog = { htmx: true, headers: { "hx-target": "div#dialog" } };

describe("GET /trackers/{name}/notes", () => {
  test("shows all skipped versions, the newest first, safely and outside of htmx", async () => {
    await release("1.0.0", "what runs already");
    await release("1.1.0", "**second** <script>alert(1)</script>");
    await release("1.2.0", "- feat!: third [x](javascript:alert(1))");
    const page = await person.get("/trackers/app/notes?from=1.0.0&to=1.2.0");
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<div class="prose" hx-ignore="(?:true)?"><ul>\s*<li>feat!: third x<\/li>/);
    expect(page.text).toContain("<strong>second</strong>");
    expect(page.text).not.toContain("alert(1)<");
    expect(page.text).not.toContain("javascript:");
    expect(page.text).not.toContain("what runs already");
    expect(page.text.indexOf("feat!: third x</li>")).toBeLessThan(page.text.indexOf("<strong>second"));
    expect(page.text).toContain("Breaking changes");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  });

  test("is a dialog or a part where htmx asks, and speaks Chinese", async () => {
    await release("1.0.0", "text");
    const shown = await person.get("/trackers/app/notes?to=1.0.0", dialog);
    expect(shown.text).toContain('id="dialog-title"');
    expect(shown.text).not.toContain("<html");
    const part = await person.get("/trackers/app/notes?to=1.0.0", { htmx: true });
    expect(part.text).not.toContain("<h2");
    const chinese = await person.get("/trackers/app/notes?to=1.0.0", {
      ...dialog,
      headers: { ...dialog.headers, "accept-language": "zh" },
    });
    expect(chinese.text).toContain("1.0.0 的发布说明");
  });

  test("says why there are none", async () => {
    await release("1.0.0", null, "The changelog has no section for 1.0.0");
    await release("1.1.0", null);
    const failed = await person.get("/trackers/app/notes?to=1.0.0");
    expect(failed.text).toContain("The changelog has no section for 1.0.0");
    const bare = await person.get("/trackers/app/notes?to=1.1.0");
    expect(bare.text).toContain("No notes were published for this version");
    const none = await person.get("/trackers/app/notes?to=9.9.9");
    expect(none.text).toContain("No versions found between the two");
  });

  test("renders no more than 256 KiB of all versions together", async () => {
    for (const minor of [1, 2, 3]) await release(`1.${minor}.0`, `start of ${minor}\n\n${"word ".repeat(40_000)}`);
    const page = await person.get("/trackers/app/notes?from=1.0.0&to=1.3.0");
    expect(page.text).toContain("start of 3");
    expect(page.text).not.toContain("start of 1");
    expect(page.text).toContain("too long to show");
  });

  test.each([
    ["/trackers/nobody/notes", 404],
    ["/trackers/app/notes?channel=X", 422],
  ])("%s answers %d", async (path, status) => expect((await person.get(path)).status).toBe(status));

  test("the history leads to stored notes, and to upstream where there are none", async () => {
    await release("1.0.0", null);
    await release("1.1.0", "text");
    const page = await person.get("/trackers/app");
    expect(page.text).toContain('hx-get="/trackers/app/notes?to=1.1.0"');
    expect(page.text).not.toContain("notes?to=1.0.0");
    expect(page.text).toContain('href="https://upstream.test/1.0.0"');
  });
});

describe("GET /api/trackers/{name}/notes", () => {
  test("gives raw notes of all versions between two", async () => {
    await release("1.0.0", "first");
    await release("1.1.0", "# <b>x</b>\nBREAKING: y");
    const { status, body } = await person.api("GET", "/trackers/app/notes?from=1.0.0&to=1.1.0");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tracker: "app",
      from: "1.0.0",
      to: "1.1.0",
      direction: "up",
      omitted_count: 0,
      versions: [
        {
          version: "1.1.0",
          release_id: "release-1.1.0",
          notes: "# <b>x</b>\nBREAKING: y",
          breaking_changes: [{ line: 2, text: "BREAKING: y" }],
        },
      ],
    } as never);
  });
});
