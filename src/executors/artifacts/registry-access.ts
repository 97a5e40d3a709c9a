import type { ConnectionService } from "../../connections/service.ts";
import type { CredentialSecret } from "../../credentials/schema.ts";
import type { UpdatePlan } from "../../runtimes/plan.ts";
import type { RegistryAuth, RuntimeSession } from "../../runtimes/session.ts";
import { ImageReferenceError, isImageId, parseImageReference } from "../../versions/image-reference.ts";
import type { RegistryAccess, TrackerReleases } from "../releases.ts";
import { type ExecutorSettings, watchesImage } from "../settings.ts";

/** Opens the login of a source's credential. */
export type OpenRegistryLogin = (credentialId: string) => Promise<CredentialSecret<"oci">>;

export interface RegistryAccessDeps {
  releases: TrackerReleases;
  openLogin: OpenRegistryLogin;
  connections: Pick<ConnectionService, "registryLogin" | "targetKind">;
}

/** What is queried from a target's engine; null without a session. */
export type AskedEngine = Pick<RuntimeSession, "isPlainRegistry"> | null;

function registryOf(reference: string): string | null {
  if (isImageId(reference)) return null;
  try {
    return parseImageReference(reference).registry;
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

/** The credential that the executor's own sources use for a registry; null if none has one for it. */
async function ownCredential(
  { releases }: RegistryAccessDeps,
  settings: ExecutorSettings,
  host: string,
): Promise<string | null> {
  for (const binding of settings.bindings) {
    if (binding.credential_id === null || !watchesImage(binding)) continue;
    const image = await releases.imageFor(binding.source_id);
    if (image !== null && registryOf(image) === host) return binding.credential_id;
  }
  return null;
}

/** The same for an image that none of the executor's sources watches; else the credential of the nearest other source. */
async function blindCredential(
  deps: RegistryAccessDeps,
  settings: ExecutorSettings,
  image: string,
): Promise<string | null> {
  const host = registryOf(image);
  if (host === null) return null;
  return (await ownCredential(deps, settings, host)) ?? (await deps.releases.sourceAt(image))?.credential_id ?? null;
}

/**
 * How to access the registry of an image that no source of the executor watches: with the login of its pull, a source's before the
 * connection's, and over plain HTTP if the engine pulls that way.
 */
export async function registryAccess(
  deps: RegistryAccessDeps,
  settings: ExecutorSettings,
  image: string,
  engine: AskedEngine,
): Promise<RegistryAccess> {
  const credential_id = await blindCredential(deps, settings, image);
  const login =
    credential_id === null
      ? await deps.connections.registryLogin(settings.connection_id, image)
      : { credential_id, ...(await deps.openLogin(credential_id)) };
  const source = await deps.releases.sourceAt(image);
  if (source !== null) return { login, is_plain: source.is_plain };
  return { login, is_plain: (await engine?.isPlainRegistry?.(image)) === true ? true : null };
}

/** The logins of sources for the registries that a plan pulls from, one each. The engine also has the connection's own. */
export async function pullLogins(
  deps: RegistryAccessDeps,
  settings: ExecutorSettings,
  plan: UpdatePlan,
): Promise<RegistryAuth[]> {
  if (settings.target.artifact !== "image") return [];
  const logins = new Map<string, RegistryAuth>();
  const blind = new Set(settings.bindings.flatMap((each) => (watchesImage(each) ? [] : [each.service])));
  for (const { service, to } of plan.services) {
    const host = registryOf(to.reference);
    if (host === null || logins.has(host)) continue;
    const credential_id = blind.has(service)
      ? await blindCredential(deps, settings, to.reference)
      : await ownCredential(deps, settings, host);
    if (credential_id === null) continue;
    const { username, password } = await deps.openLogin(credential_id);
    logins.set(host, { username, password, host });
  }
  return [...logins.values()];
}
