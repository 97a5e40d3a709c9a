import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

const version = "23.0.2";
const entry = "package/generated/api.github.com.json";
const folder = process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers");
/** The part that is used, so that a test run does not read 13 MB: GitHub's words, unchanged. */
const file = join(folder, `github-openapi-${version}.json`);

/** The endpoints whose answers are judged. */
const paths = [
  "/repos/{owner}/{repo}",
  "/repos/{owner}/{repo}/releases",
  "/repos/{owner}/{repo}/releases/tags/{tag}",
  "/repos/{owner}/{repo}/contents/{path}",
] as const;
export type DescribedPath = (typeof paths)[number];

/** A part of GitHub's description of its REST API: the paths above and what they refer to. */
export interface GithubDescription {
  paths: Record<DescribedPath, unknown>;
  components: Record<string, Record<string, unknown>>;
}

type Json = { [key: string]: unknown };

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** Copies what a part refers to, and what that refers to. */
function follow(part: unknown, whole: Json, into: GithubDescription): void {
  if (!isObject(part)) return;
  const [, kind = "", name = ""] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(String(part.$ref ?? "")) ?? [];
  const group = isObject(whole.components) ? whole.components[kind] : null;
  if (kind !== "" && isObject(group) && into.components[kind]?.[name] === undefined) {
    into.components[kind] = { ...into.components[kind], [name]: group[name] };
    follow(group[name], whole, into);
  }
  for (const value of Object.values(part)) follow(value, whole, into);
}

function extract(whole: Json): GithubDescription {
  const described = isObject(whole.paths) ? whole.paths : {};
  const responsesOf = (path: DescribedPath) => {
    const item = described[path];
    const get = isObject(item) ? item.get : null;
    return { responses: isObject(get) ? get.responses : {} };
  };
  const part: GithubDescription = {
    paths: {
      "/repos/{owner}/{repo}": responsesOf("/repos/{owner}/{repo}"),
      "/repos/{owner}/{repo}/releases": responsesOf("/repos/{owner}/{repo}/releases"),
      "/repos/{owner}/{repo}/releases/tags/{tag}": responsesOf("/repos/{owner}/{repo}/releases/tags/{tag}"),
      "/repos/{owner}/{repo}/contents/{path}": responsesOf("/repos/{owner}/{repo}/contents/{path}"),
    },
    components: {},
  };
  follow(part.paths, whole, part);
  return part;
}

/** Gets the package once, by npm's own client; of its 385 MB one file is unpacked and one part of it kept. */
function download(): void {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-github-openapi-"));
  try {
    const options = { cwd: directory, stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };
    execFileSync("npm", ["pack", `@octokit/openapi@${version}`, "--silent", "--ignore-scripts"], options);
    execFileSync("tar", ["xzf", `octokit-openapi-${version}.tgz`, entry], options);
    const whole: unknown = JSON.parse(readFileSync(join(directory, entry), "utf8"));
    mkdirSync(folder, { recursive: true });
    // Another run may be at it too: a whole file appears, or none.
    const part = join(folder, `.github-openapi-${process.pid}.json`);
    writeFileSync(part, JSON.stringify(extract(isObject(whole) ? whole : {})));
    renameSync(part, file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Why GitHub's description cannot be had here, or null when it is there. */
export function descriptionMissing(): string | null {
  if (existsSync(file)) return null;
  try {
    download();
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `GitHub's description of its API could not be downloaded (npm pack @octokit/openapi@${version}): ${reason.slice(0, 200)}`;
  }
}

export function readDescription(): GithubDescription {
  return JSON.parse(readFileSync(file, "utf8"));
}
