import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say, says } from "../../messages/message.ts";
import { EngineVersion } from "../engine/objects.ts";
import type { RuntimeFacts } from "../session.ts";
import type { Refusal } from "../target.ts";
import { type Portainer, Refused } from "./client.ts";
import { Environment, Listed, Status, User } from "./objects.ts";
import { listStacks } from "./stacks.ts";

/** Engines that Portainer reaches directly, by its agent, and by its edge agent. The others are Kubernetes and clouds. */
const dockerTypes = [1, 2, 4];
const administrator = 1;

/** Proves that Portainer accepts the key, has this environment, and lets the key use its engine. */
export async function describeEnvironment(portainer: Portainer, endpoint: number): Promise<RuntimeFacts> {
  const status = await statusOf(portainer);
  const environment = await environmentOf(portainer, endpoint);
  if (!dockerTypes.includes(environment.Type)) {
    throw new PluginError("rejected", say("portainer.not_docker", { environment: environment.Name }));
  }
  const engine = await portainer.engine("/version", EngineVersion);
  await portainer.engine("/containers/json?limit=1", v.array(Listed));
  await listStacks(portainer, endpoint);
  return {
    version: status.Version,
    api_version: engine.ApiVersion,
    platform: [engine.Os ?? "", engine.Arch ?? ""].filter((part) => part !== "").join("/"),
    warnings: await missingRights(portainer, environment),
  };
}

export async function identifyEnvironment(portainer: Portainer, endpoint: number): Promise<string | null> {
  const { InstanceID } = await statusOf(portainer);
  return InstanceID === "" ? null : `${InstanceID} ${endpoint}`;
}

/** The address of the status has moved; Portainer kept the old one for a while. */
async function statusOf(portainer: Portainer) {
  try {
    return await portainer.get("/system/status", Status);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    // Where the address is unknown, Portainer's router returns its own text.
    const isUnknown = says(error.said, "portainer.not_portainer") && error.said.params.status === 404;
    if (error.code !== "not_found" && !isUnknown) throw error;
    return await portainer.get("/status", Status);
  }
}

async function environmentOf(portainer: Portainer, endpoint: number): Promise<Environment> {
  try {
    return await portainer.get(`/endpoints/${endpoint}`, Environment);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    const known = await portainer.get("/endpoints", v.array(Environment));
    const names = known.map(({ Id, Name }) => `${Id} (${Name})`);
    throw new PluginError("not_found", say("portainer.environment_missing", { endpoint, known: names }));
  }
}

/** Whether the key's user may edit stacks, as far as Portainer reports; only an update proves it. */
async function missingRights(
  portainer: Portainer,
  { Name, SecuritySettings }: Environment,
): Promise<readonly Refusal[]> {
  const isForAll = SecuritySettings?.allowStackManagementForRegularUsers !== false;
  if (isForAll) return [];
  try {
    const { Role } = await portainer.get("/users/me", User);
    if (Role === administrator) return [];
  } catch (error) {
    // Old versions do not report it.
    if (!(error instanceof Refused) || error.code === "unreachable") throw error;
    return [];
  }
  return [{ code: "missing_right", message: say("portainer.stacks_not_editable", { environment: Name }) }];
}
