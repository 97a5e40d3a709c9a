import type { ConnectionCheckView } from "../../src/connections/schema.ts";
import { isMessage, type Message } from "../../src/messages/message.ts";
import type { texts } from "../texts/texts.ts";
import { failureCode } from "./state.tsx";

type Advice = keyof ReturnType<typeof texts>["connections"]["next_steps"];

/** What to do about a failure that has its own remedy; null if its sentence says it, because any other advice would contradict that. */
const adviceByCode: Readonly<Record<string, Advice | null>> = {
  "engine.answers_plain_http": null,
  "engine.api_not_offered": null,
  "engine.api_not_shared": null,
  "engine.is_not_podman": null,
  "engine.is_podman": null,
  "engine.podman_too_old": null,
  "engine.requests_blocked": null,
  "connections.kind_unknown": null,
  "connections.setting_unusable": null,
  "credentials.other_kind": null,
  "credentials.unreadable": null,
  "kubernetes.certificate_expired": null,
  "kubernetes.certificate_misnamed": null,
  "kubernetes.certificate_untrusted": null,
  "net.answers_plain_http": null,
  "net.certificate_expired": "certificate_expired",
  "net.certificate_for_another_name": "certificate_name",
  "net.certificate_not_yet_valid": "clocks",
  "net.certificate_self_signed": "certificate_authority",
  "net.certificate_untrusted": "certificate_authority",
  "net.clock_differs": null,
  "net.destination_blocked": null,
  "net.wants_https": null,
  "net.name_unresolved": null,
  "net.no_socket": null,
  "net.port_not_allowed": null,
  "net.socket_denied": null,
  "portainer.not_portainer": null,
  "portainer.redirected": null,
};

/** The next step after a failed test: that of its cause, else the general one; null if the failure itself says it. */
export function adviceOn(check: Pick<ConnectionCheckView, "code" | "message_data">): Advice | null {
  let said: Message | null = check.message_data;
  while (said !== null) {
    const known: Advice | null | undefined = adviceByCode[said.code];
    if (known !== undefined) return known;
    const { cause }: Message["params"] = said.params;
    said = isMessage(cause) ? cause : null;
  }
  return failureCode(check);
}
