/** How an image counts: how many numbers name a series, and how many a full version has. */
export interface Counting {
  series: number;
  full: number;
}

const usual: Counting = { series: 0, full: 3 };

function counting(series: number, full: number, names: string): readonly (readonly [string, Counting])[] {
  return names.split(" ").map((name) => [name, { series, full }] as const);
}

/** Images that keep data: the next series needs a migration, or cannot read it at all. By any word of the repository's last part. */
const stateful: ReadonlyMap<string, Counting> = new Map([
  ...counting(1, 2, "postgres postgresql postgis oracle mssql"),
  ...counting(2, 3, "mysql mariadb percona mongo mongodb meilisearch etcd cockroach odoo"),
  ...counting(
    1,
    3,
    "pgvector pgvecto redis valkey keydb dragonfly influxdb timescaledb elasticsearch opensearch solr typesense clickhouse questdb couchdb couchbase " +
      "cassandra scylla neo4j arangodb rethinkdb surrealdb qdrant weaviate milvus rabbitmq kafka zookeeper nextcloud owncloud gitlab",
  ),
]);

/** Base images, by the whole last part: `node-red` is not Node.js. */
const bases: ReadonlyMap<string, Counting> = new Map([
  ...counting(1, 3, "node openjdk eclipse-temurin amazoncorretto zulu-openjdk sapmachine erlang aspnet runtime sdk"),
  ...counting(2, 3, "python php ruby golang perl elixir swift alpine"),
  ...counting(1, 2, "debian rockylinux almalinux oraclelinux"),
  ...counting(2, 2, "ubuntu leap"),
  ...counting(1, 1, "fedora"),
]);

/** Words in the names of tools for a server, such as `redis-exporter`: they keep none of its data. */
const toolWords: ReadonlySet<string> = new Set(
  "exporter express commander insight operator admin ui gui client proxy pooler runner agent".split(" "),
);

/** Generic last parts: `mariadb/server` is named by the part before. */
const plainParts: ReadonlySet<string> = new Set("server db database community enterprise oss".split(" "));

function statefulCounting(repository: string): Counting | null {
  const parts = repository.toLowerCase().split("/");
  const name = plainParts.has(parts.at(-1) ?? "") ? parts.slice(-2).join("-") : (parts.at(-1) ?? "");
  const words = name.split(/[-_.]/);
  if (words.some((word) => toolWords.has(word))) return null;
  return words.flatMap((word) => stateful.get(word) ?? []).at(0) ?? null;
}

function lastPartOf(repository: string): string {
  return repository.slice(repository.lastIndexOf("/") + 1).toLowerCase();
}

/** True for databases and other images with data in their own format. */
export function isStateful(repository: string): boolean {
  return statefulCounting(repository) !== null;
}

/** How a repository's tags count; `first` is the first number: before 10, PostgreSQL's series had two. */
export function countingOf(repository: string, first: string): Counting {
  const known = statefulCounting(repository) ?? bases.get(lastPartOf(repository)) ?? usual;
  return known.full === 2 && known.series === 1 && isStateful(repository) && first.length === 1
    ? { series: 2, full: 3 }
    : known;
}
