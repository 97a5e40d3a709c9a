import { createPrivateKey, X509Certificate } from "node:crypto";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";

/** In PEM format; null for what is not entered. */
export interface TlsMaterial {
  ca_certificate: string | null;
  client_certificate: string | null;
  client_key: string | null;
}

/** Otherwise the first request would fail with a code of the TLS library. `fieldOf`: where each was entered. Throws `rejected`. */
export function requireTlsMaterial(
  { ca_certificate, client_certificate, client_key }: TlsMaterial,
  fieldOf: (member: keyof TlsMaterial) => string = (member) => `secret.${member}`,
): void {
  if ((client_certificate === null) !== (client_key === null)) {
    const field = fieldOf(client_key === null ? "client_key" : "client_certificate");
    throw new PluginError("rejected", say("credentials.certificate_half"), { field });
  }
  read("ca_certificate", ca_certificate, fieldOf, (pem) => new X509Certificate(pem));
  const certificate = read("client_certificate", client_certificate, fieldOf, (pem) => new X509Certificate(pem));
  const key = read("client_key", client_key, fieldOf, createPrivateKey);
  if (certificate === null || key === null || certificate.checkPrivateKey(key)) return;
  throw new PluginError("rejected", say("credentials.key_of_another"), { field: fieldOf("client_key") });
}

function read<T>(
  member: keyof TlsMaterial,
  pem: string | null,
  fieldOf: (member: keyof TlsMaterial) => string,
  parse: (pem: string) => T,
): T | null {
  try {
    return pem === null ? null : parse(pem);
  } catch (cause) {
    throw new PluginError("rejected", say("credentials.certificate_unreadable", { member }), {
      field: fieldOf(member),
      cause,
    });
  }
}
