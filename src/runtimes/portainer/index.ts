import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { bareHost } from "../../net/address.ts";
import { parseConfig, readConfig } from "../config.ts";
import { isLoopback } from "../engine/address.ts";
import type { PlanDetail } from "../plan.ts";
import type { Runtime } from "../runtime.ts";
import type { StepKind, TargetKind } from "../target-kind.ts";
import { Config, Secret, serverOf } from "./schema.ts";
import { openSession } from "./session.ts";
import { stackKind } from "./target.ts";

function step(name: "deploy" | "follow" | "undo", of: Pick<StepKind, "touches" | "is_expected">): StepKind {
  const told = (state: keyof StepKind["words"]) => say(`portainer.step_${name}`, { state });
  const words = { waiting: told("waiting"), running: told("running"), done: told("done"), failed: told("failed") };
  return { name, phase: "change", words, ...of };
}

const stack: TargetKind = {
  kind: stackKind,
  title: say("portainer.stack"),
  is_group: true,
  is_declarative: true,
  saved_as: say("portainer.saved_files"),
  artifact: "image",
  steps: [
    step("deploy", { touches: true, is_expected: true }),
    step("follow", { touches: false, is_expected: true }),
    step("undo", { touches: true, is_expected: false }),
  ],
  parts: (detail: PlanDetail) =>
    typeof detail.stack === "string" ? [{ name: detail.stack, service: detail.stack, is_running: true }] : [],
};

/** Throws `rejected` for one that no request can carry. */
function keyIn(secret: unknown): string {
  const key = parseConfig(Secret, secret).api_key.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new PluginError("rejected", say("portainer.key_with_spaces"), { field: "secret.api_key" });
}

/** The standalone compose stacks of one environment of a Portainer. */
export const portainer: Runtime = {
  kind: "portainer",
  title: "Portainer",
  Config,
  target_kinds: [stack],
  needsSecret: () => true,
  judgeSecret: (secret) => void keyIn(secret),
  open: async (config, secret, context) => {
    const parsed = parseConfig(Config, config);
    if (secret === null || secret === undefined) {
      throw new PluginError("rejected", say("portainer.credential_missing"), { field: "credential_id" });
    }
    const key = keyIn(secret);
    const ca = parsed.ca_certificate.trim() === "" ? null : parsed.ca_certificate;
    const access = { server: serverOf(parsed), ca, api_key: key, endpoint_id: parsed.endpoint_id };
    return openSession(access, parsed, context);
  },
  destination: (config) => ({ field: "url", host: bareHost(serverOf(parseConfig(Config, config)).hostname) }),
  place: (config) => {
    const parsed = parseConfig(Config, config);
    return `${serverOf(parsed).href.replace(/\/$/, "")}#${parsed.endpoint_id}`;
  },
  warnings: (config) => {
    const parsed = readConfig(Config, config);
    if (parsed === null) return [];
    const { protocol, hostname } = serverOf(parsed);
    if (protocol === "https:" || isLoopback(bareHost(hostname))) return [];
    return [{ code: "plain_http", message: say("portainer.plain_http") }];
  },
};
