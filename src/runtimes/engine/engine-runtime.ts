import * as v from "valibot";
import { issue, say } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import { parseConfig, readConfig } from "../config.ts";
import { containersOf } from "../containers-detail.ts";
import type { Runtime } from "../runtime.ts";
import type { RegistryAuth } from "../session.ts";
import type { TargetKind } from "../target-kind.ts";
import { requireTlsMaterial, type TlsMaterial } from "../tls-material.ts";
import { AddressText, addressWarnings, engineAddress, parseAddress, placeOf } from "./address.ts";
import { writeExport } from "./export/write-export.ts";
import type { Flavour } from "./flavour.ts";
import { environmentValues, maskEnvironment } from "./mask.ts";
import { containerOutcomes } from "./outcomes.ts";
import { authFor } from "./prepare.ts";
import { openEngine } from "./session.ts";
import { readSnapshot } from "./snapshot.ts";
import { engineSteps } from "./steps.ts";
import { createSurveyMemory, type SurveyMemory } from "./survey-memory.ts";

/** How many engines' last responses are cached. */
const maxMemories = 50;

const ConfigOf = (example: string) =>
  v.strictObject({
    address: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => (text.trim() === "" ? example : text)),
        AddressText,
        v.title("Socket or host address"),
        v.description(`A socket, or \`tcp://host:port\`. Blank means \`${example}\``),
        v.metadata({ placeholder: example }),
      ),
      example,
    ),
    api_version: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.regex(/^$|^1\.[0-9]{1,3}$/, issue("engine.version_wanted")),
        v.title("API version"),
        v.description("Blank negotiates the highest version that both sides support"),
        v.metadata({ advanced: true }),
      ),
      "",
    ),
    tls_verification: v.optional(
      v.pipe(
        v.boolean(),
        v.title("TLS verification"),
        v.description(
          "A tcp address must present a valid certificate; your own CA goes in the credential. If off and the credential has no certificates, plain HTTP is used",
        ),
      ),
      true,
    ),
    registry: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.maxLength(255),
        v.regex(/^$|^[A-Za-z0-9.-]+(:[0-9]{1,5})?$/, issue("engine.registry_wanted")),
        v.title("Registry of the credential"),
        v.description("The only registry that gets the credential's user name and password; blank means Docker Hub"),
        v.metadata({ advanced: true }),
      ),
      "",
    ),
  });

/** Blank and absent members are one: a form sends the first, the API the second. */
const Text = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((text) => (text.trim() === "" ? null : text)),
);

const Secret = v.object({
  ca_certificate: Text,
  client_certificate: Text,
  client_key: Text,
  username: Text,
  password: Text,
});

const containers = {
  is_declarative: false,
  artifact: "image",
  parts: containersOf,
  outcomes: containerOutcomes,
} as const;
/** A container by its name. */
const container: TargetKind = {
  kind: "container",
  title: say("engine.container"),
  is_group: false,
  steps: engineSteps(false),
  ...containers,
};
/** The containers of a compose project, by its name. */
const compose: TargetKind = {
  kind: "compose",
  title: say("engine.compose_group"),
  is_group: true,
  steps: engineSteps(true),
  ...containers,
};

export interface EngineKind {
  kind: "docker" | "podman";
  flavour: Flavour;
  title: string;
  /** The address that most installations have. */
  example: string;
}

/** What Docker and Podman share as runtimes: the configuration, the credential and the session; over a socket, or tcp with TLS. */
export function engineRuntime({ kind, flavour, title, example }: EngineKind): Runtime {
  const Config = ConfigOf(example);
  /** By address. */
  const memories = new RecentMap<string, SurveyMemory>(maxMemories);
  const memoryOf = (address: string) => {
    const memory = memories.get(address) ?? createSurveyMemory();
    memories.set(address, memory);
    return memory;
  };
  return {
    kind,
    title,
    Config,
    target_kinds: [container, compose],
    async open(config, secret, context) {
      const { address, api_version: apiVersion, tls_verification: isVerified, registry } = parseConfig(Config, config);
      const material = secretOf(secret);
      const reached = engineAddress(address, isVerified, material === null ? null : tlsOf(material));
      if (reached.kind === "tcp" && reached.tls !== null) requireTlsMaterial(reached.tls);
      return openEngine({
        flavour,
        address: reached,
        api_version: apiVersion === "" ? null : apiVersion,
        registry_auth: registryLogin(material, registry),
        memory: memoryOf(address),
        context,
      });
    },
    judgeSecret(secret) {
      const material = secretOf(secret);
      if (material !== null) requireTlsMaterial(tlsOf(material));
    },
    registryLogin(config, secret, image) {
      const login = registryLogin(secretOf(secret), parseConfig(Config, config).registry);
      return login === null ? null : authFor(image, [login]);
    },
    destination(config) {
      const parsed = parseAddress(parseConfig(Config, config).address);
      return parsed?.kind === "tcp" ? { field: "address", host: parsed.host } : null;
    },
    place: (config) => placeOf(parseConfig(Config, config).address),
    snapshots: {
      imagesOf: (text) => [...new Set(readSnapshot(text).members.map(({ image }) => image.Id))],
      mask: maskEnvironment,
      secretsOf: environmentValues,
      write: (text, options) => writeExport(readSnapshot(text), options),
    },
    warnings(config) {
      const parsed = readConfig(Config, config);
      return parsed === null ? [] : addressWarnings(parsed.address, parsed.tls_verification);
    },
  };
}

function secretOf(secret: unknown): SecretMembers | null {
  return secret === null || secret === undefined ? null : parseConfig(Secret, secret);
}

type SecretMembers = v.InferOutput<typeof Secret>;

function tlsOf({ ca_certificate, client_certificate, client_key }: SecretMembers): TlsMaterial {
  return { ca_certificate, client_certificate, client_key };
}

function registryLogin(secret: SecretMembers | null, registry: string): RegistryAuth | null {
  if (secret === null || secret.username === null || secret.password === null) return null;
  return { username: secret.username, password: secret.password, host: registry === "" ? "docker.io" : registry };
}
