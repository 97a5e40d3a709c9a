import { dirname, join } from "node:path";

/** Small words that everybody may use; `process` is for what is not a plug-in or pure. */
const pureFiles =
  "src/{errors,clock,ids,plugin,visible-text,shown-lines,strict-json,give-way,version,work-budget,recent-map,frozen}.ts";
const processFiles = "src/{log,counted-time,request-scope,durable-files,held-lease,base-url}.ts";
const pure = `${pureFiles} src/messages/*.ts`;
const process = `${pure} ${processFiles}`;
const feature = `${process} src/parts.ts src/db/client.ts src/forms/*.ts src/secrets/*.ts src/auth/{,audit-}schema.ts`;
const plugin = `${pure} src/net/*.ts src/{versions,compose-file}/*.ts src/forms/issues.ts`;
const views = "src/*/{,**/}{,*-}schema.ts src/versions/{maturity,line-patches,older-lines,image-reference}.ts";
/** What the kinds of runtimes and the rest of the product know of each other. */
const runtime =
  "src/runtimes/{runtime,config,session,target,target-kind,plan,containers-detail,tls-material,journal,journal-times,logs,recovery}.ts";
/** Values that pages show and services judge. */
const words = "src/trackers/{releases/same-build,notes/settings}.ts";
const api = `${process} ${views} src/services.ts src/*/service.ts src/forms/*.ts src/http/{,middleware/}*.ts`;

const runs = `${feature} ${views} src/{connections,executors}/service.ts src/{probes,runtimes}/*.ts`;

/** Who may import what besides its own folder. The first row that fits a file counts. */
const rows: readonly (readonly [files: string, may: string])[] = [
  [pureFiles, pure],
  [processFiles, `${process} src/db/client.ts`],
  ["src/*.ts", "src/**"],
  ["src/versions/**", pure],
  ["src/compose-file/**", pure],
  ["src/forms/**", pure],
  ["src/net/**", pure],
  ["src/secrets/**", process],
  ["src/db/**", `${process} src/forms/page.ts src/net/database-fetch.ts src/secrets/sealed.ts`],
  ["src/sources/*.ts", `${plugin} src/sources/*/*.ts`],
  ["src/sources/helm/**", `${plugin} src/sources/*.ts src/sources/oci/*.ts`],
  ["src/sources/*/**", `${plugin} src/sources/*.ts src/sources/forge/*.ts`],
  ["src/runtimes/*.ts", `${plugin} src/runtimes/*/index.ts`],
  ["src/runtimes/engine/**", `${plugin} ${runtime}`],
  ["src/runtimes/*/**", `${plugin} ${runtime} src/runtimes/engine/*.ts`],
  ["src/probes/**", `${plugin} src/runtimes/session.ts`],
  ["src/notifiers/**", plugin],
  ["src/scheduler/**", `${process} src/*/service.ts`],
  ["src/commands/**", `${process} src/config.ts src/auth/*.ts src/backups/*.ts src/db/*.ts src/secrets/*.ts`],
  [
    "src/trackers/{,**/}{,*-}queries.ts",
    `${process} src/db/{client,prepared,due-times,rows,listing,refused-credentials,source-conditions}.ts src/db/tables/{trackers,upstreams}.ts`,
  ],
  ["src/*/{,**/}{,*-}queries.ts", `${process} src/db/*.ts src/secrets/sealed.ts src/*/schema.ts`],
  ["src/auth/**", `${feature} src/db/installation.ts`],
  ["src/backups/**", `${feature} src/db/*.ts`],
  ["src/keys/**", `${feature} src/db/*.ts src/auth/service.ts src/backups/{schema,service}.ts`],
  [
    "src/connections/**",
    `${feature} src/credentials/{schema,service}.ts src/notifications/outage-schema.ts src/runtimes/*.ts src/versions/*.ts`,
  ],
  ["src/trackers/**", `${feature} src/credentials/service.ts ${views} src/sources/*.ts src/versions/*.ts`],
  [
    "src/executors/**",
    `${feature} ${views} src/connections/service.ts src/{probes,runtimes,versions}/*.ts src/sources/source.ts`,
  ],
  [
    "src/adoption/**",
    `${feature} ${views} src/{connections,executors,trackers}/service.ts src/{runtimes,versions}/*.ts src/trackers/import/*.ts src/sources/source.ts`,
  ],
  ["src/bulk/**", `${feature} ${views} src/{executors,runs,trackers}/service.ts src/versions/*.ts`],
  ["src/runs/{schema,states}.ts", `${runs} src/db/tables.ts`],
  ["src/runs/**", runs],
  ["src/logs/**", `${feature} ${views} src/{connections,executors}/service.ts src/runtimes/*.ts`],
  ["src/notifications/**", `${feature} ${views}`],
  ["src/oidc/**", `${feature} src/auth/service.ts`],
  ["src/stats/**", `${feature} ${views}`],
  ["src/credentials/**", `${feature} ${views}`],
  ["src/{settings,idempotency}/**", feature],
  ["src/http/api/**", `${api} src/auth/*.ts src/connections/images.ts src/runs/snapshots.ts`],
  [
    "src/http/**",
    `${api} src/auth/*.ts src/connections/images.ts src/runs/{approval-links,snapshots}.ts src/sources/*.ts ${words} templates/**`,
  ],
  [
    "templates/**",
    `${views} src/runtimes/target-kind.ts src/messages/{,zh/}*.ts src/{errors,clock}.ts src/forms/fields.ts`,
  ],
];
const libraries: Readonly<Record<string, string>> = {
  "drizzle-orm": "src/db/** src/*/{,**/}{,*-}queries.ts",
  hono: "src/http/** templates/**",
  dockerode: "src/runtimes/**",
  "docker-modem": "src/runtimes/**",
  "@kubernetes/client-node": "src/runtimes/**",
  "@libsql/client": "src/{db,backups}/**",
  oauth4webapi: "src/oidc/**",
  croner: "src/scheduler/**",
  "node:fs": "src/**",
  "node:http": "src/{net,runtimes}/**",
};

const fits = (globs: string, path: string) => globs.split(" ").some((glob) => new Bun.Glob(glob).match(path));

/** What is one's own: an area, or a plug-in's kind. */
const ownFolder = /^(templates|src\/http\/api|src\/(sources|runtimes)\/[^/]+(?=\/)|src\/[^/]+)/;

/** Why the file (a path from the root of the repository) may not import this; null when it may. */
export function importRefusal(file: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    return fits(libraries[name] ?? "**", file) ? null : `${file} imports ${specifier}: only ${libraries[name]} may`;
  }
  const target = join(dirname(file), specifier);
  const [files, may] = rows.find(([glob]) => fits(glob, file)) ?? ["nothing", ""];
  if (target.startsWith(`${ownFolder.exec(file)?.[0]}/`) || fits(may, target)) return null;
  return `${file} imports ${target}: ${files} may import its own folder and ${may}`;
}
