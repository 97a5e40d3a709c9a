import { objectAt, type RawObject, stringAt } from "../engine/raw.ts";
import { signalName } from "./signals.ts";

/** Podman's own inspect of an image in Docker's form; the compatible one leaves the health check out. */
export function readImage(answer: unknown): RawObject {
  const raw = objectAt(answer);
  const id = stringAt(raw.Id);
  const config = objectAt(raw.Config);
  const healthcheck = raw.Healthcheck ?? raw.HealthCheck ?? config.Healthcheck ?? null;
  return {
    ...raw,
    Id: /^[0-9a-f]{64}$/.test(id) ? `sha256:${id}` : id,
    Config: {
      ...config,
      Healthcheck: healthcheck,
      ...(stringAt(config.StopSignal) === "" ? {} : { StopSignal: signalName(config.StopSignal) }),
    },
  };
}
