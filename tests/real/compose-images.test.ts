import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editImages } from "../../src/compose-file/edit-images.ts";
import { readComposeFile, type StackVariable } from "../../src/compose-file/read-compose-file.ts";
import { stacks } from "../compose-file/stacks.ts";
import { templates, templateVariables, v } from "../compose-file/templates.ts";
import { composeMissing, composeVersions, startCompose } from "../peers/compose.ts";
import { peerSuite } from "../support/peer.ts";

setDefaultTimeout(120_000);

interface Config {
  services: Record<string, { image?: string; environment?: Record<string, string | null> }>;
  networks: unknown;
  volumes: unknown;
  secrets: unknown;
  configs: unknown;
}

// What compose itself makes of the same files: `config` needs no engine.
for (const version of composeVersions) {
  peerSuite(`images by compose ${version}`, composeMissing(version), () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-stacks-"));
    const compose = startCompose({ engine: { address: "unix:///nowhere.sock" }, version, folder });
    afterAll(() => {
      compose.stop();
      rmSync(folder, { recursive: true });
    });

    async function config(text: string, env: readonly StackVariable[]): Promise<Config> {
      writeFileSync(join(folder, "compose.yaml"), text);
      writeFileSync(join(folder, "stack.env"), env.map(({ name, value }) => `${name}=${value}\n`).join(""));
      const args = [
        "--env-file",
        "stack.env",
        "--profile",
        "*",
        "--project-name",
        "shop",
        "config",
        "--format",
        "json",
      ];
      const { services, networks, volumes, secrets, configs } = JSON.parse(await compose.must(args));
      // Without extension fields: those that hold an image change with it.
      return { services, networks, volumes, secrets, configs };
    }

    // The old line also requires what only an unused default names.
    const isEager = (text: string) => version === "2.40.3" && text === `app:${v(`TAG:-${v("NONE:?needed")}`)}`;

    test.each(templates.filter(([text]) => !isEager(text)))("the template %p is %p", async (text, value) => {
      writeFileSync(join(folder, "compose.yaml"), JSON.stringify({ services: { web: { image: text } } }));
      const lines = [...templateVariables].map(([name, each]) => `${name}=${each}\n`);
      writeFileSync(join(folder, "stack.env"), lines.join(""));
      const args = ["--env-file", "stack.env", "--project-name", "shop", "config", "--format", "json"];
      const { code, stdout, stderr } = await compose.run(args);
      if (value === null) expect(stderr).toMatch(/required variable \w+ is missing a value/);
      else if (value === "refused") expect(stderr).toMatch(/[Ii]nvalid (?:template|interpolation format)/);
      // `config` writes each dollar sign twice, as the file would.
      else expect([code, JSON.parse(stdout).services.web.image.replaceAll("$$", "$")]).toEqual([0, value]);
    });

    const named = stacks.map((stack) => [stack.name, stack] as const);

    test.each(named)("%s: the same images", async (_, { text, env }) => {
      const { services } = await readComposeFile(text, env);
      const found = Object.entries((await config(text, env)).services);
      const sorted = (pairs: readonly (readonly [string, string | null])[]) =>
        pairs.toSorted(([one], [other]) => (one < other ? -1 : 1));
      expect(sorted(services?.map(({ name, image }) => [name, image]) ?? [])).toEqual(
        sorted(found.map(([name, { image }]) => [name, image ?? null])),
      );
    });

    test.each(named)("%s: an edit changes the image and nothing else of the project", async (_, stack) => {
      const before = await config(stack.text, stack.env);
      for (const { service, to } of stack.services.filter(({ code }) => code === undefined)) {
        const { edited } = await editImages(stack.text, stack.env, [{ service, reference: to }]);
        if (edited === null) throw new Error(`${service} can be edited`);
        const expected = structuredClone(before);
        Object.assign(expected.services[service] ?? {}, { image: to });
        for (const edit of edited.edits) {
          if (edit.kind === "file") continue;
          // What a service gets by its own env_file is the one exception.
          for (const name of edit.passed_to) {
            Object.assign(expected.services[name]?.environment ?? {}, { [edit.name]: edit.to });
          }
        }
        expect(await config(edited.text, edited.env)).toEqual(expected);
      }
    });
  });
}
