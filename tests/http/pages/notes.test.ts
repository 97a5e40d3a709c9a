import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { releases, tracker_sources } from "../../../src/db/tables.ts";
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
    const bare = async () => (await person.get("/trackers/app/notes?to=1.1.0")).text;
    expect(await bare()).toContain("The tracker has no source with release notes");
    const git = { id: "git", tracker_id: "t", key: "git", kind: "github", position: 1, host: "git.test", config: {} };
    await app.db.write((tx) => tx.insert(tracker_sources).values({ ...git, next_check_at: app.clock.now() }));
    expect(await bare()).toContain("The notes of this version could not be read yet");
    const compared = await person.get("/trackers/app/compare?from=1.0.0&to=1.1.0");
    expect(compared.text).toContain("Unknown (notes of 1 version not known)");
    const part = await person.get("/trackers/app/notes?from=1.0.0&to=1.1.0", { htmx: true });
    expect(part.text).toContain("The notes of these versions could not be read yet");
    await app.db.write((tx) => tx.update(tracker_sources).set({ last_success_at: app.clock.now() }));
    expect(await bare()).toContain("No notes were published for this version");
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

  test("the history leads to stored notes, and to the version's page whose source is named", async () => {
    await release("1.0.0", null);
    await release("1.1.0", "text");
    await app.db.write((tx) => tx.update(tracker_sources).set({ config: { image: "quay.io/acme/app" } }));
    const page = await person.get("/trackers/app");
    expect(page.text).toContain('hx-get="/trackers/app/notes?to=1.1.0"');
    expect(page.text).not.toContain("notes?to=1.0.0");
    expect(page.text).not.toContain("https://upstream.test");
    expect(page.text).toMatch(
      /<a href="https:\/\/quay\.io\/repository\/acme\/app\?tab=tags&amp;tag=1\.0\.0" class="external" rel="noopener noreferrer nofollow" target="_blank">quay\.io/,
    );
  });

  test("the history marks what the notes of a version announce", async () => {
    await release("1.0.0", "calm");
    await release("2.0.0", "## Breaking changes\n\n- one\n- two\n\n## Security\n\n- CVE-2026-1234");
    const page = await person.get("/trackers/app");
    expect(page.text.match(/2 breaking changes/g)).toHaveLength(1);
    expect(page.text.match(/1 security fix/g)).toHaveLength(1);
  });
});

describe("the size of an image", () => {
  const weigh = async (version: string, size_bytes: number, size_platform = "linux/amd64") => {
    await release(version, null);
    const id = `release-${version}`;
    await app.db.write((tx) => tx.update(releases).set({ size_bytes, size_platform }).where(eq(releases.id, id)));
  };

  test("is in the history and in a comparison, with the difference", async () => {
    await weigh("1.0.0", 400_000_000);
    await weigh("1.1.0", 412_000_000);
    expect((await person.get("/trackers/app")).text).toMatch(/title="Download for linux\/amd64, compressed">\s*412 MB/);
    const up = await person.get("/trackers/app/compare?from=1.0.0&to=1.1.0");
    expect(up.text).toMatch(/412 MB <small class="quiet">12 MB more/);
    const down = await person.get("/trackers/app/compare?from=1.1.0&to=1.0.0");
    expect(down.text).toMatch(/400 MB <small class="quiet">12 MB less/);
    const { body } = await person.api("GET", "/trackers/app/releases");
    expect(body).toMatchObject({ items: [{ size_bytes: 412_000_000, size_platform: "linux/amd64" }, {}] } as never);
  });

  test("is not compared with another platform's, and absent where no manifest was read", async () => {
    await weigh("1.0.0", 400_000_000, "linux/arm64");
    await weigh("1.1.0", 412_000_000);
    await release("1.2.0", null);
    const page = await person.get("/trackers/app/compare?from=1.0.0&to=1.1.0");
    expect(page.text).toContain("412 MB");
    expect(page.text).not.toContain(" more</small>");
    expect((await person.get("/trackers/app/compare?from=1.1.0&to=1.2.0")).text).not.toContain("Download");
  });
});

describe("GET /trackers/{name}/compare", () => {
  test("compares two versions: what breaks comes first, then the notes", async () => {
    await release("1.0.0", "what runs already");
    await release("1.1.0", "**second**");
    await release("2.0.0", "## Breaking changes\n\n- <b>port</b> 80\n- path\n\n## Security\n\n- CVE-2026-1234");
    const page = await person.get("/trackers/app/compare?from=1.0.0&to=2.0.0");
    expect(page.status).toBe(200);
    expect(page.text).toContain("This update contains 2 breaking changes");
    expect(page.text.indexOf("This update contains")).toBeLessThan(page.text.indexOf("<strong>second"));
    expect(page.text).toContain("CVE-2026-1234");
    expect(page.text).toContain("1 major, 1 minor");
    expect(page.text).not.toContain("what runs already");
    expect(page.text).not.toContain("<b>port</b> 80");
  });

  test("is chosen by a plain form that keeps the channel", async () => {
    await release("1.0.0", null);
    await release("1.1.0", null);
    const page = await person.get("/trackers/app/compare?channel=stable&from=0.9.0&to=1.1.0");
    expect(page.text).toMatch(/<form [^>]*method="get" action="\/trackers\/app\/compare"/);
    expect(page.text).toContain('<input type="hidden" name="channel" value="stable"');
    // What is not known can still be compared.
    expect(page.text).toMatch(/<option value="0\.9\.0" selected="?/);
    expect(page.text).toContain("not among the tracker’s versions".replace("’", "&#39;"));
    expect(page.text).toContain('href="/trackers/app/compare?from=1.1.0&amp;to=0.9.0&amp;channel=stable"');
  });

  test("speaks Chinese, and explains itself without versions", async () => {
    const headers = { "accept-language": "zh" };
    const none = await person.get("/trackers/app/compare", { headers });
    expect(none.text).toContain("暂无可比较的版本");
    await release("1.0.0", null);
    const one = await person.get("/trackers/app/compare", { headers });
    expect(one.text).toContain("暂无可比较的版本");
    expect(one.text).not.toContain("compare-form");
    await release("1.0.1", null);
    const page = await person.get("/trackers/app/compare", { headers });
    expect(page.text).toContain("比较“app”的版本");
    expect(page.text).toContain("compare-form");
  });

  test.each([
    ["/trackers/nobody/compare", 404],
    ["/trackers/app/compare?channel=X", 422],
    [`/trackers/app/compare?from=${"x".repeat(257)}`, 422],
  ])("%s answers %d", async (path, status) => expect((await person.get(path)).status).toBe(status));
});

describe("GET /api/trackers/{name}/comparison", () => {
  test("gives the facts of the page", async () => {
    await release("1.0.0", "first");
    await release("1.1.0", "# x\nBREAKING: y");
    await app.db.write((tx) => tx.update(tracker_sources).set({ config: { image: "quay.io/acme/app" } }));
    const { status, body } = await person.api("GET", "/trackers/app/comparison?from=1.0.0&to=1.1.0");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      direction: "up",
      distance: { releases: 1, steps: { major: 0, minor: 1, patch: 0 }, days: 0 },
      from_version: { version: "1.0.0" },
      to_version: { links: [{ source_key: "main", url: "https://quay.io/repository/acme/app?tab=tags&tag=1.1.0" }] },
      comparison_pages: [],
      versions: [{ version: "1.1.0", breaking_changes: [{ line: 2, text: "BREAKING: y" }], security_fixes: [] }],
    } as never);
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
