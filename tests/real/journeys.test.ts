import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { byKeyboard, byMouse, type Hands } from "../support/hands.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn, testPassword } from "../support/server.ts";
import { addWebExecutor, addWebTracker, type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const modes = ["mouse", "keyboard", "no-script"] as const;
type Mode = (typeof modes)[number];
const nameOf = (mode: Mode) => `web-${mode}`;

/** A bad connection: each request takes 400 ms, and bytes come at 50 kB/s. */
async function slowDown({ page }: Person): Promise<void> {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  const rate = { downloadThroughput: 50_000, uploadThroughput: 50_000 };
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 400, ...rate });
}

/** Somebody at the pages, and the gestures that journeys share. */
function traveller(mode: Mode, person: Person) {
  const { page } = person;
  const hands: Hands = mode === "keyboard" ? byKeyboard(person) : byMouse(person);
  const dialog = mode === "no-script" ? "main" : "dialog[open]";
  return {
    ...{ person, page, hands },
    /** One thing that somebody wants; prints what it took. */
    journey: async (what: string, body: () => Promise<void>) => {
      const before = { ...hands.effort };
      await body();
      const [acts, fields] = [hands.effort.acts - before.acts, hands.effort.fields - before.fields];
      console.log(`${what}, ${mode}: ${acts} ${mode === "keyboard" ? "keys" : "clicks"}, ${fields} fields`);
    },
    goTo: async (section: string) => {
      await person.go("/");
      await hands.press(page.getByRole("navigation").getByRole("link", { name: section, exact: true }));
    },
    submit: () => hands.press(page.locator('.form-actions [name="_action"][value="save"]')),
    /** What the question says; it is a dialog, or without script a page. */
    asked: async (verb: string | RegExp) => {
      await page.locator(dialog).getByRole("button", { name: verb }).waitFor();
      return await person.text(dialog);
    },
    confirm: (verb: string | RegExp) => hands.press(page.locator(dialog).getByRole("button", { name: verb })),
    untilRun: async (state: string) => {
      await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
      await eventually(`the run to be ${state}`, async () => {
        if (mode === "no-script") await page.reload();
        return (await person.text("#run-state")).startsWith(state);
      });
    },
  };
}

// What people do again and again, each by mouse on a slow network, by keyboard alone, and without JavaScript, on a real
// engine. What it takes is printed.
peerSuite("journeys in a browser", storyMissing() ?? chromiumMissing(), () => {
  let world: Story;
  let api: ApiClient;
  let first: Person;
  const travellers = new Map<Mode, ReturnType<typeof traveller>>();
  const at = (mode: Mode) => {
    const found = travellers.get(mode);
    if (found === undefined) throw new Error(`Nobody travels by ${mode}`);
    return found;
  };

  const imageOf = async (name: string) =>
    (await world.containers())
      .find((each) => each.name === name)
      ?.image.split(":")
      .at(-1);
  /** Publishes a version, and waits until a run to it awaits approval for each executor. */
  const publish = async (version: string, options: Parameters<Story["push"]>[1] = {}) => {
    await world.push(version, options);
    await checkUntil(api, "web", version);
    await eventually(`three runs to ${version} that await approval`, async () => {
      const { items } = (await api.get("/runs?limit=50")).body as {
        items: { approval: string; to: { tag: string } }[];
      };
      return items.filter(({ approval, to }) => approval === "awaiting" && to.tag === version).length === modes.length;
    });
  };

  beforeAll(async () => {
    world = await startStory();
    api = await firstSignIn(world.server);
    await addWebTracker(world, api);
    const { connection } = await addWebExecutor(world, api);
    for (const name of modes.map(nameOf)) {
      const Image = `${world.registry.host}/${world.repository}:1.0.0`;
      await world.engine.call("POST", `/containers/create?name=${name}`, { Image });
      await world.engine.call("POST", `/containers/${name}/start`);
      await api.ok("POST", "/executors", {
        ...{ name, connection_id: connection, target: { kind: "container", id: name } },
        ...{ trigger: "immediate", requires_approval: true },
        bindings: [{ tracker: "web", source: "image", channel: "stable" }],
        health_check: { strategy: "native", initial_delay_seconds: 0, probe_interval_seconds: 1 },
      });
    }
    await checkUntil(api, "web", "1.0.0");
    first = await openBrowser(() => world.server.url);
    for (const mode of modes) {
      const reducedMotion = mode === "mouse" ? "no-preference" : "reduce";
      const person = await first.stranger({ javaScriptEnabled: mode !== "no-script", reducedMotion });
      if (mode === "mouse") await slowDown(person);
      travellers.set(mode, traveller(mode, person));
    }
  });
  afterAll(async () => {
    await first?.close();
    await world?.stop();
  });

  test.each([...modes])("signing in, by %s", async (mode) => {
    const { person, page, hands, journey } = at(mode);
    await person.go("/");
    await journey("signing in", async () => {
      await hands.write(person.field("username"), "admin");
      await hands.write(person.field("password"), testPassword);
      await hands.press(page.locator("form.sign-in .btn.main"));
      await page.waitForURL(({ pathname }) => pathname === "/");
    });
  });

  test.each([...modes])("changing a setting, by %s", async (mode) => {
    const { person, page, hands, journey, goTo, submit } = at(mode);
    const count = String(21 + modes.indexOf(mode));
    await journey("changing a setting", async () => {
      await goTo("Settings");
      await hands.write(person.field("version_history_count"), count);
      await submit();
      await page.locator(".toast").first().waitFor();
    });
    expect((await api.ok("GET", "/settings")).version_history_count).toBe(Number(count));
  });

  test.each([...modes])("adding a notifier and sending it a test, by %s", async (mode) => {
    const { person, page, hands, journey, goTo, submit } = at(mode);
    const before = world.receiver.of("test").length;
    await journey("adding a notifier", async () => {
      await goTo("Notifiers");
      await hands.press(page.locator("main a[href='/notifiers/new']"));
      await hands.write(person.field("name"), nameOf(mode));
      await hands.write(person.field("url"), world.receiver.url);
      await submit();
      await page.waitForURL(/\/notifiers\/[0-9a-f-]{36}/);
      await hands.press(person.button(/test/i));
    });
    await eventually("the test message", () => world.receiver.of("test").length === before + 1);
    const { items } = (await api.get("/notifiers")).body as { items: { name: string }[] };
    expect(items.filter(({ name }) => name === nameOf(mode))).toHaveLength(1);
  });

  test.each([...modes])("adding a sign-in provider and removing it, by %s", async (mode) => {
    const { person, page, hands, journey, goTo, confirm } = at(mode);
    await journey("adding a sign-in provider", async () => {
      await goTo("Settings");
      await hands.press(page.locator(".tabs").getByRole("link", { name: "Sign-in provider" }));
      await hands.press(page.locator(".empty .btn[href$='/sign-in-provider/new']"));
      await hands.write(person.field("display_name"), "The House");
      await hands.write(person.field("slug"), "house");
      await hands.write(person.field("issuer_url"), "https://id.example.org");
      await hands.write(person.field("client_id"), "tidemark");
      await hands.write(person.field("client_secret"), "a secret of the provider");
      await hands.press(page.locator(".form-actions .btn.main"));
      await page.waitForURL("**/settings/sign-in-provider");
    });
    expect(await person.text()).toContain("https://id.example.org");
    await journey("removing it", async () => {
      await hands.press(page.locator("main").getByRole("link", { name: /delete|remove/i }));
      await confirm(/delete|remove/i);
      await page.locator(".empty").waitFor();
    });
  });

  test.each([...modes])("reading in the audit who did it, by %s", async (mode) => {
    const { person, page, hands, journey, goTo } = at(mode);
    await journey("reading the audit", async () => {
      await goTo("Settings");
      await hands.press(page.locator(".tabs").getByRole("link", { name: "Audit" }));
      await page.waitForURL("**/settings/audit*");
    });
    expect(await person.text()).toContain(nameOf(mode));
  });

  test("a version is published, and all updates await approval", () => publish("1.1.0"));

  test.each([...modes])("approving an update, by %s", async (mode) => {
    const { person, page, hands, journey, asked, confirm, untilRun } = at(mode);
    await journey("approving an update", async () => {
      await person.go("/");
      const row = page.locator("tr, li", { hasText: nameOf(mode) });
      await hands.press(row.getByRole("link", { name: "Approve" }));
      expect(await asked("Approve and update")).toContain("1.1.0");
      await confirm("Approve and update");
      await untilRun("Succeeded");
    });
    expect(await imageOf(nameOf(mode))).toBe("1.1.0");
  });

  test("a version that does not run is published", () =>
    publish("1.2.0", { cmd: ["/bin/sh", "-c", "echo no database at db; exit 3"] }));

  test.each([...modes])("learning why a run failed, by %s", async (mode) => {
    const { person, page, hands, journey, confirm, untilRun } = at(mode);
    await journey("learning why a run failed", async () => {
      await person.go("/");
      const row = page.locator("tr, li", { hasText: nameOf(mode) });
      await hands.press(row.getByRole("link", { name: "Approve" }));
      await confirm("Approve and update");
      await untilRun("Failed");
    });
    const said = await person.text();
    for (const words of ["The previous version is running", "no database at db"]) expect(said).toContain(words);
    expect(await imageOf(nameOf(mode))).toBe("1.1.0");
  });

  test.each([...modes])("rolling back, by %s", async (mode) => {
    const { page, hands, journey, goTo, asked, confirm, untilRun } = at(mode);
    await journey("rolling back", async () => {
      await goTo("Executors");
      await hands.press(page.locator("main").getByRole("link", { name: nameOf(mode), exact: true }));
      await hands.press(page.locator("#snapshots").getByRole("link", { name: "Roll back" }).last());
      expect(await asked("Roll back")).toContain("1.0.0");
      await confirm("Roll back");
      await untilRun("Rolled back");
    });
    expect(await imageOf(nameOf(mode))).toBe("1.0.0");
  });

  test("no script failed, and no policy was broken", () => {
    expect(first.complaints).toEqual([]);
  });
});
