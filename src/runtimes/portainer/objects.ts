import * as v from "valibot";

// Only members that are read are named; Portainer writes `null` for what is empty.

export const Status = v.object({ Version: v.string(), InstanceID: v.nullish(v.string(), "") });

export const User = v.object({ Role: v.number() });

export const Environment = v.object({
  Id: v.number(),
  Name: v.string(),
  Type: v.number(),
  SecuritySettings: v.nullish(v.object({ allowStackManagementForRegularUsers: v.optional(v.boolean(), true) })),
});
export type Environment = v.InferOutput<typeof Environment>;

const Variable = v.object({ name: v.string(), value: v.optional(v.string(), "") });

export const Stack = v.object({
  Id: v.number(),
  Name: v.string(),
  Type: v.number(),
  EndpointId: v.number(),
  EntryPoint: v.nullish(v.string(), "docker-compose.yml"),
  Env: v.nullish(v.array(Variable), null),
  /** One of `stackStates`; absent in old versions. */
  Status: v.nullish(v.number(), 1),
  /** The result of the last deployment, since Portainer responds before it has carried out an update; the last entry is the latest. */
  DeploymentStatus: v.fallback(v.nullish(v.array(v.object({ Message: v.nullish(v.string(), "") })), null), null),
  AutoUpdate: v.nullish(v.object({ Webhook: v.nullish(v.string(), "") }), null),
  /** Seconds; changes with every update that succeeded. */
  UpdateDate: v.nullish(v.number(), 0),
  GitConfig: v.nullish(v.unknown(), null),
  /** Compose files beside the entry point, which the API does not give. */
  AdditionalFiles: v.nullish(v.array(v.string()), null),
});
export type Stack = v.InferOutput<typeof Stack>;

export const StackFile = v.object({ StackFileContent: v.pipe(v.string(), v.maxLength(4 * 1024 * 1024)) });

/** A container in the engine's list. */
export const Listed = v.object({ Id: v.string(), Labels: v.nullish(v.record(v.string(), v.string()), {}) });
export type Listed = v.InferOutput<typeof Listed>;

export const Refusal = v.object({ message: v.optional(v.string(), ""), details: v.optional(v.string(), "") });
