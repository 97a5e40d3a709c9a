import { PluginError } from "../../errors.ts";
import { randomToken } from "../../ids.ts";
import { say } from "../../messages/message.ts";
import { tryBoundedJson } from "../../net/bounded-json.ts";
import type { EngineClient } from "./client.ts";
import { injectedFileProbes } from "./compose/injected-files.ts";
import type { Flavour } from "./flavour.ts";
import { isObject } from "./raw.ts";
import type { EngineRequest } from "./transport.ts";

type Probe = Omit<EngineRequest, "deadlineMs">;

/** Verbs that only some updates need. */
export interface NeededVerbs {
  connect: boolean;
  disconnect: boolean;
  tag: boolean;
}

/**
 * Finds out before the first change whether every needed verb is allowed: a socket proxy responds with 403 to
 * the others, and halfway through an update is too late to learn that. Each call names a container, network or image that
 * does not exist, so the engine can only refuse it. Throws `unauthorized` with the missing verbs.
 */
export async function requireVerbs(client: EngineClient, needs: NeededVerbs): Promise<void> {
  const nothing = nameOfNothing();
  await requireLetThrough(client, nothing, verbs(client.flavour, nothing, needs));
}

/** The same for carrying files from container to container. */
export async function requireFileVerbs(client: EngineClient): Promise<void> {
  const nothing = nameOfNothing();
  await requireLetThrough(client, nothing, injectedFileProbes(nothing));
}

/** The same for what discovery reads. */
export async function requireReads(client: EngineClient): Promise<void> {
  const nothing = nameOfNothing();
  await requireLetThrough(client, nothing, [
    { method: "GET", path: client.flavour.paths.inspectContainer(nothing) },
    { method: "GET", path: client.flavour.paths.inspectImage(nothing) },
  ]);
}

function nameOfNothing(): string {
  return `tidemark-probe-${randomToken(48).replace(/[^A-Za-z0-9]/g, "x")}`;
}

async function requireLetThrough(client: EngineClient, nothing: string, probes: readonly Probe[]): Promise<void> {
  const answers = await Promise.all(probes.map(async (probe) => ({ probe, answer: await client.probe(probe) })));
  const missing = answers.filter(({ answer }) => !isFromEngine(answer.status, answer.text));
  if (missing.length === 0) return;
  const requests = missing.map(({ probe, answer }) => `${label(probe, nothing)} (${answer.status})`);
  throw new PluginError("unauthorized", say("engine.requests_blocked", { requests }));
}

function verbs(flavour: Flavour, nothing: string, needs: NeededVerbs): readonly Probe[] {
  const container = `/containers/${nothing}`;
  const probes: Probe[] = [
    { method: "POST", path: flavour.paths.createContainer, query: flavour.createQuery(nothing, null), body: {} },
    ...(flavour.changesRestartPolicy ? [{ method: "POST" as const, path: `${container}/update`, body: {} }] : []),
    { method: "POST", path: `${container}/stop` },
    { method: "POST", path: `${container}/rename`, query: { name: `${nothing}-2` } },
    { method: "POST", path: `${container}/start` },
    { method: "DELETE", path: container, query: { v: "false", force: "false" } },
  ];
  if (needs.connect) {
    probes.push({
      method: "POST",
      path: flavour.paths.connectNetwork(nothing),
      body: flavour.connectBody(nothing, {}),
    });
  }
  if (needs.disconnect) {
    const body = { Container: nothing, Force: false };
    probes.push({ method: "POST", path: `/networks/${nothing}/disconnect`, body });
  }
  if (needs.tag) {
    probes.push({ method: "POST", path: `/images/${nothing}/tag`, query: { repo: nothing, tag: "none" } });
  }
  return probes;
}

/** The engine refuses in JSON with a `message`; 401, 403 and 405 come from a proxy. */
function isFromEngine(status: number, text: string): boolean {
  if (status < 400 || status === 401 || status === 403 || status === 405) return false;
  const answer = tryBoundedJson(text);
  return isObject(answer) && typeof answer.message === "string";
}

function label(probe: Probe, nothing: string): string {
  return `${probe.method} ${probe.path.replace(nothing, "*")}`;
}
