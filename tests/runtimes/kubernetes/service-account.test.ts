import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { systemClock } from "../../../src/clock.ts";
import { accessOf } from "../../../src/runtimes/kubernetes/access.ts";
import { openCluster } from "../../../src/runtimes/kubernetes/client.ts";
import { Version } from "../../../src/runtimes/kubernetes/objects.ts";
import { Config } from "../../../src/runtimes/kubernetes/schema.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { json, startApiServer } from "../../support/api-server.ts";
import { peerSuite } from "../../support/peer.ts";

peerSuite("the service account of our pod", authorityMissing(), () => {
  test("is used with the token that it has now, however long a session lasts", async () => {
    const sent: (string | undefined)[] = [];
    await using server = await startApiServer(({ headers }, response) => {
      sent.push(headers.authorization);
      json(response, 200, { gitVersion: "v1.34.0" });
    });
    const folder = mkdtempSync(join(tmpdir(), "account-"));
    writeFileSync(join(folder, "ca.crt"), server.access.ca ?? "");
    writeFileSync(join(folder, "token"), "first-token\n");
    const access = await accessOf(v.parse(Config, { in_cluster: true }), null, {
      server: server.access.server.origin,
      folder,
    });
    const cluster = openCluster(access, { clock: systemClock, signal: new AbortController().signal });
    const ask = () => cluster.send(({ version }) => version.getCode(), Version);
    await ask();
    writeFileSync(join(folder, "token"), "second-token\n");
    await ask();
    expect(cluster.withoutLogin("second-token")).toBe("***");
    rmSync(folder, { recursive: true });
    await ask();
    cluster.close();
    expect(sent).toEqual(["Bearer first-token", "Bearer second-token", "Bearer second-token"]);
  });
});
