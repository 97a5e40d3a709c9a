import type { ConfigSchema, PluginContext } from "../plugin.ts";
import type { RegistryAuth, RuntimeSession } from "./session.ts";
import type { Refusal } from "./target.ts";
import type { TargetKind } from "./target-kind.ts";

/** Reads snapshots without a runtime. */
export interface SnapshotReader {
  /** IDs of the images that it needs. */
  imagesOf(snapshot: string): readonly string[];
  /** The configuration for display, without values that may be secret. */
  mask(content: unknown): unknown;
  /** Every value that must not appear in a log. */
  secretsOf(content: unknown): readonly string[];
  /** A shell script or compose file that restores it without Tidemark. Secrets appear as `${NAME}` unless requested. */
  write(snapshot: string, options: { format: "script" | "compose"; with_secrets: boolean }): string;
}

/** `fetch` is for runtimes with an HTTP API; engines bring their own transport, which reaches sockets too. */
export interface RuntimeContext extends PluginContext {
  /** `hostname`: our own container ID, or the host's name. Targets that contain Tidemark are refused. */
  self: {
    hostname: string;
    data_dir: string;
    /** The helm program and its search path; absent if none may be run. */
    helm?: { program: string; search_path: string };
    /** The service account of our own pod; absent outside a cluster. */
    service_account?: { server: string; folder: string };
  };
  /** The session plans many targets at one moment, so shared state is read only once. */
  reads_once?: boolean;
}

/** The values that a secret has for fields of the configuration, by field. `current` counts while the field is blank; "" for none. */
export type SecretChoices = Readonly<
  Record<string, { options: readonly { value: string; title: string }[]; current: string }>
>;

export interface Runtime {
  kind: string;
  title: string;
  Config: ConfigSchema;
  /** Whether a configuration, parsed or as entered, leads nowhere without a secret, or uses none. Absent if a secret is optional. */
  needsSecret?(config: unknown): boolean;
  /** What a secret has to choose from, such as the contexts of a kubeconfig. Throws `rejected` for one that cannot be read. */
  choices?(secret: unknown): SecretChoices;
  /** Throws `rejected`, with the field, for a parsed secret that no configuration of this runtime can use. */
  judgeSecret?(secret: unknown): void;
  /** Runtimes with the same kind of target share the object. */
  target_kinds: readonly TargetKind[];
  /** `secret` is the parsed secret of a credential of the same kind, or null. */
  open(config: unknown, secret: unknown, context: RuntimeContext): Promise<RuntimeSession>;
  /** The login for pulls of this image from the connection's own secret; null if it has none for that registry. */
  registryLogin?(config: unknown, secret: unknown, image: string): RegistryAuth | null;
  /**
   * The host that a parsed configuration names and the field that names it, checked when it is saved; null if it names none. `host`: a
   * name, or an address without brackets.
   */
  destination?(config: unknown): { field: string; host: string } | null;
  /** Where a parsed configuration leads, in one spelling: two connections of the same place reach the same targets. */
  place(config: unknown, credential_id: string | null): string;
  /** Whether two parsed configurations of the same place reach some of the same targets; by default they do. */
  overlaps?(one: unknown, other: unknown): boolean;
  /** For runtimes whose sessions have snapshots. */
  snapshots?: SnapshotReader;
  /** What the connection's page must warn about, from its configuration alone (plain TCP beyond loopback, TLS not verified). */
  warnings(config: unknown): readonly Refusal[];
  /** Called when the process starts: removes the files that a killed process left on this machine, each once nothing uses it. */
  clearLeftovers?(context: Pick<RuntimeContext, "self" | "clock" | "signal">): Promise<void>;
}

/** The runtimes that connections can be made to: the registry, or a test's own. */
export type Runtimes = Readonly<Record<string, Runtime>>;
