import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseBaseUrl } from "./base-url.ts";
import { TerminalError } from "./errors.ts";
import { type LogLevel, logLevels } from "./log.ts";
import { inEnglish } from "./messages/message.ts";
import { asPart } from "./messages/nested.ts";

/** The environment, validated once at start. `null` means "not set": a stored setting or a default applies. */
export interface Config {
  data_dir: string;
  host: string;
  port: number;
  /** In the form of `parseBaseUrl`; may have a sub-path. Overrides the setting. */
  base_url: string | null;
  /** `file:`, `http(s)://` or `libsql://`. */
  database_url: string;
  database_auth_token: string | null;
  log_level: LogLevel | null;
  log_format: "text" | "json";
  /** Addresses or CIDR blocks whose `X-Forwarded-For` is trusted. */
  trusted_proxies: readonly string[];
  /** Raw text; parsed by net/, which owns the notation. */
  outbound_allow: string;
  keys_file: string | null;
  session_key: string | null;
  encryption_key: string | null;
  metrics_token: string | null;
  /** Of the pod that this process runs in, where Kubernetes puts it; null outside a cluster. */
  service_account: { server: string; folder: string } | null;
  /** The helm program: a path, or a name that is looked for in `search_path`, the `PATH` of this process. */
  helm: { program: string; search_path: string };
  /** For tests only: identity providers over http on this machine's loopback. */
  oidc_allow_loopback_http: boolean;
}

export const configVariables = [
  "DATA_DIR",
  "HOST",
  "PORT",
  "BASE_URL",
  "DATABASE_URL",
  "DATABASE_AUTH_TOKEN",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "TRUSTED_PROXIES",
  "OUTBOUND_ALLOW",
  "KEYS_FILE",
  "SESSION_KEY",
  "ENCRYPTION_KEY",
  "METRICS_TOKEN",
  "HELM_PATH",
  "OIDC_ALLOW_LOOPBACK_HTTP",
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown with one sentence per wrong variable; the process prints it and stops. */
export class ConfigError extends TerminalError {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

function isAddressOrBlock(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

const minimumTokenLength = 32;
// 32 random hex digits have about 14 distinct ones; fewer than this is a phrase or a placeholder.
const minimumTokenVariety = 10;

function isUsableToken(text: string): boolean {
  const isPlain = /^[\x21-\x7e]+$/.test(text) && !/change.?me|placeholder|your.?token/i.test(text);
  return isPlain && text.length >= minimumTokenLength && new Set(text).size >= minimumTokenVariety;
}

/** Reads the documented variables; blank counts as not set. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const value = (name: (typeof configVariables)[number]) => {
    const text = environment[name]?.trim();
    return text === undefined || text === "" ? null : text;
  };
  const oneOf = <T extends string>(name: (typeof configVariables)[number], allowed: readonly T[]): T | null => {
    const text = value(name);
    if (text === null) return null;
    const found = allowed.find((item) => item === text);
    if (found === undefined) problems.push(`${name} is "${text}"; it must be one of ${allowed.join(", ")}`);
    return found ?? null;
  };

  const portText = value("PORT") ?? "8080";
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN;
  if (!(port >= 0 && port <= 65535)) problems.push(`PORT is "${portText}"; it must be a number from 0 to 65535`);

  const baseUrlText = value("BASE_URL");
  const baseUrl = baseUrlText === null ? null : parseBaseUrl(baseUrlText);
  if (baseUrl !== null && "problem" in baseUrl)
    problems.push(`BASE_URL: ${asPart(inEnglish(baseUrl.problem), baseUrl.problem)}`);

  const dataDir = resolve(value("DATA_DIR") ?? "./data");
  const databaseUrl = value("DATABASE_URL") ?? `file:${dataDir}/tidemark.db`;
  if (!/^(file:|https?:\/\/|libsql:\/\/)./.test(databaseUrl)) {
    problems.push(
      `DATABASE_URL starts with "${databaseUrl.slice(0, 12)}"; it must start with file:, http://, https:// or libsql://`,
    );
  }
  const proxies = (value("TRUSTED_PROXIES") ?? "").split(/[\s,]+/).filter((item) => item !== "");
  for (const proxy of proxies.filter((item) => !isAddressOrBlock(item))) {
    problems.push(`TRUSTED_PROXIES has "${proxy}"; use IP addresses or CIDR blocks, separated by commas`);
  }
  const metricsToken = value("METRICS_TOKEN");
  if (metricsToken !== null && !isUsableToken(metricsToken)) {
    problems.push(
      `METRICS_TOKEN is not usable; it must be at least ${minimumTokenLength} random characters without spaces, as "openssl rand -hex 32" prints`,
    );
  }
  const logLevel = oneOf("LOG_LEVEL", logLevels);
  const logFormat = oneOf("LOG_FORMAT", ["text", "json"] as const);
  const isLoopbackOidcAllowed = oneOf("OIDC_ALLOW_LOOPBACK_HTTP", ["true", "false"] as const) === "true";
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    data_dir: dataDir,
    host: value("HOST") ?? "127.0.0.1",
    port,
    base_url: baseUrl !== null && "url" in baseUrl ? baseUrl.url : null,
    database_url: databaseUrl,
    database_auth_token: value("DATABASE_AUTH_TOKEN"),
    log_level: logLevel,
    log_format: logFormat ?? "text",
    trusted_proxies: proxies,
    outbound_allow: value("OUTBOUND_ALLOW") ?? "",
    keys_file: value("KEYS_FILE"),
    session_key: value("SESSION_KEY"),
    encryption_key: value("ENCRYPTION_KEY"),
    metrics_token: metricsToken,
    service_account: null,
    helm: { program: value("HELM_PATH") ?? "helm", search_path: "" },
    oidc_allow_loopback_http: isLoopbackOidcAllowed,
  };
}

/** Kubernetes names the API server in the environment of every pod, an IPv6 address without brackets. */
function serviceAccountOf({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: Environment) {
  if (host === undefined || host === "") return null;
  const server = `https://${isIP(host) === 6 ? `[${host}]` : host}:${port ?? "443"}`;
  return { server, folder: "/var/run/secrets/kubernetes.io/serviceaccount" };
}

/** The environment of this process. */
export function readProcessConfig(): Config {
  const config = readConfig(process.env);
  const helm = { ...config.helm, search_path: process.env.PATH ?? "" };
  return { ...config, helm, service_account: serviceAccountOf(process.env) };
}

/** Values of the environment that must not appear elsewhere. */
export function configSecrets(config: Config): readonly string[] {
  const { database_auth_token, metrics_token, session_key, encryption_key } = config;
  return [database_auth_token, metrics_token, session_key, encryption_key].filter((secret) => secret !== null);
}
