import type { Area, Message } from "./types.ts";

type Host = { host: string };
type PortRefused = { port: number; allowed: readonly number[]; scheme: string | null; entry?: string };

/** A length of time in its largest whole unit: nobody needs the minutes of days. */
function span(minutes: number): string {
  const [count, unit] =
    minutes >= 2_880 ? [minutes / 1_440, "days"] : minutes >= 120 ? [minutes / 60, "hours"] : [minutes, "minutes"];
  return `${Math.round(count)} ${unit}`;
}

/** Outgoing requests and connections, and where they may go. */
export const net = {
  /** `entry`: what the operator would allow, as in `hooks.lan:8080`; null if nothing can allow it. */
  destination_blocked: ({ entry }: { entry: string | null }) =>
    entry == null
      ? "Destination blocked"
      : `Destination blocked; if it is meant to be private, add "${entry}" to OUTBOUND_ALLOW`,

  timed_out: ({ host, seconds }: Host & { seconds: number }) => `Request to "${host}" timed out after ${seconds} s`,
  cancelled: ({ host }: Host) => `Request to "${host}" was cancelled`,
  request_failed: ({ host, cause }: Host & { cause: Message }, tell) => `Request to "${host}" failed: ${tell(cause)}`,
  connection_refused: "the connection was refused",
  no_socket: "the socket does not exist; if Tidemark runs in a container, mount the socket into it",
  socket_denied: "Tidemark is not allowed to use the socket; add its user to the group that owns the socket",
  connection_closed: "the connection was closed",
  connection_timed_out: "the connection timed out",
  host_unreachable: "the host is unreachable",
  network_unreachable: "the network is unreachable",
  certificate_for_another_name: "the certificate is for another name",
  certificate_expired: "the certificate has expired",
  certificate_not_yet_valid: "the certificate is not valid yet",
  clock_differs: ({ host, minutes, is_ahead }: Host & { minutes: number; is_ahead: boolean }) =>
    `this machine's clock is ${span(minutes)} ${is_ahead ? "ahead of" : "behind"} the clock of "${host}"; check the time of this machine`,
  certificate_self_signed: "the certificate is self-signed",
  certificate_untrusted: "the certificate's authority is not trusted",
  gzip_damaged: "the gzip data of the response is damaged",
  headers_too_large: ({ kib }: { kib: number }) => `the response has more than ${kib} KiB of headers`,
  protocol_switched: "it switched protocols without a request for it",
  answer_only_announced: "it kept sending interim responses and no final one",
  not_http: "the response is not HTTP",
  answers_plain_http: "it uses http, not https; check the scheme and the port of the address",
  wants_https: "it accepts https only; check the scheme and the port of the address",
  not_sent: ({ code }: { code: string | null }) => `it could not be sent${code === null ? "" : ` (${code})`}`,

  scheme_unusable: ({ scheme }: { scheme: string }) => `Only http and https are supported, not "${scheme}"`,
  user_in_address: ({ host }: Host) =>
    `The address of "${host}" has a user name or password; store a credential instead`,
  waiting_for_rate_limit: ({ host, at }: Host & { at: string }) =>
    `"${host}" accepts no requests at the moment; the next one can be sent at ${at}`,
  rate_limited: ({ host, at }: Host & { at: string }) =>
    `"${host}" limits the rate of requests; the next one can be sent at ${at}`,
  answered: ({ host, status, said }: Host & { status: number; said: string }) =>
    `"${host}" returned ${status}${said === "" ? "" : `: ${said}`}`,
  unusable_status: ({ host, status }: Host & { status: number }) => `"${host}" returned status ${status}`,
  answer_too_large: ({ host, bytes }: Host & { bytes: number }) =>
    `The response from "${host}" is larger than ${bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MiB` : `${bytes} bytes`}`,
  unasked_compression: ({ encoding }: { encoding: string }) =>
    `The response is compressed as "${encoding}", which was not requested`,

  too_many_redirects: ({ host, limit }: Host & { limit: number }) => `"${host}" redirects more than ${limit} times`,
  redirect_not_followed: ({ host }: Host) => `"${host}" redirects, which is not followed`,
  redirect_to_no_url: ({ host }: Host) => `"${host}" redirects to something that is not a URL`,
  redirect_to_scheme: ({ host, scheme }: Host & { scheme: string }) =>
    `"${host}" redirects to a "${scheme}" address; only http and https are followed`,
  redirect_to_http: ({ host, to }: Host & { to: string }) =>
    `"${host}" redirects from https to http at "${to}", which is not followed`,
  redirect_of_body: ({ host, to }: Host & { to: string }) =>
    `"${host}" redirects a request with a body to "${to}", which is not followed`,
  destination_redirects: ({ status }: { status: number }) =>
    `The destination returned ${status}, a redirect, which is not followed`,
  destination_status: ({ status }: { status: number }) => `The destination returned status ${status}`,

  connection_failed: ({ host, port }: Host & { port: number }) => `Connection to "${host}" port ${port} failed`,
  connection_over: ({ host, port }: Host & { port: number }) =>
    `Connection to "${host}" port ${port} timed out or was cancelled`,

  name_unresolved: ({ host }: Host) =>
    `The name "${host}" could not be resolved; check it, and the DNS of this machine`,
  name_without_address: ({ host }: Host) => `The name "${host}" has no address`,
  name_with_many_addresses: ({ host, count, limit }: Host & { count: number; limit: number }) =>
    `The name "${host}" has ${count} addresses; at most ${limit} are accepted`,

  upstream: "The upstream",
  quoted_host: ({ host }: Host) => `"${host}"`,
  answer_unreadable: ({ from, cause }: { from: Message; cause: Message }, tell) =>
    `The response from ${tell(from)} could not be read: ${tell(cause)}`,
  not_json: ({ from, start }: { from: Message; start: string }, tell) =>
    `${tell(from)} returned something that is not JSON: "${start}"`,
  json_too_deep: ({ from }: { from: Message }, tell) => `${tell(from)} returned JSON that is nested too deeply`,
  json_too_many_parts: ({ from }: { from: Message }, tell) => `${tell(from)} returned JSON with too many parts`,
  unexpected_json: ({ from, path, reason }: { from: Message; path: string; reason: string }, tell) =>
    `${tell(from)} returned unexpected JSON at ${path}: ${reason}`,

  url_too_long: ({ length, limit }: { length: number; limit: number }) =>
    `The URL has ${length} characters; at most ${limit} are allowed`,
  url_with_spaces: "The URL has spaces or control characters",
  url_with_backslash: "The URL has a backslash",
  url_without_scheme: 'The URL must start with "http://" or "https://" and a host',
  url_with_user: "The URL has a user name or password; leave it out",
  url_unparsable: "The URL cannot be parsed",
  url_without_host: "The URL has no host",
  /** `entry`: what the operator would allow; absent in what earlier versions stored. */
  port_not_allowed: ({ port, allowed, scheme, entry }: PortRefused) =>
    `Port ${port} is not allowed${scheme === null ? "" : ` with ${scheme}`}; ` +
    `use ${allowed.length === 1 ? "port" : "one of the ports"} ${allowed.join(", ")}` +
    `${entry === undefined ? "" : `, or add "${entry}" to OUTBOUND_ALLOW`}`,

  database_unreachable: ({ host, cause }: Host & { cause: Message }, tell) =>
    `The database server "${host}" ${tell(cause)}; check that it is running and that DATABASE_URL is right, then try again`,
  database_token_rejected: ({ host, status }: Host & { status: number }) =>
    `The database server "${host}" rejected the token (${status}); correct DATABASE_AUTH_TOKEN, then try again`,
  database_silent: ({ seconds }: { seconds: number }) => `did not respond within ${seconds} s`,
  database_refused: "refused the connection",
  database_unknown_name: "cannot be found: its name does not resolve",
  database_no_answer: "sent no valid response",
  database_status: ({ status }: { status: number }) => `returned status ${status}`,
  database_answer_too_large: ({ mib }: { mib: number }) => `returned more than ${mib} MiB`,
} satisfies Area;
