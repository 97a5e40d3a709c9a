/** What the engine says of a container, as far as tests name it; the rest is compared whole. */
export interface Inspect {
  Id: string;
  Name: string;
  Image: string;
  State: { Status: string; Running: boolean; Health?: { Status: string } };
  Config: { Image: string; Labels: Record<string, string>; Env: string[] };
  HostConfig: { NetworkMode: string };
  Mounts: { Type: string; Name?: string; Source: string; Destination: string }[];
  NetworkSettings: { Networks: Record<string, { Aliases: string[] | null; IPAddress: string }> };
}

/**
 * The whole of what may differ between a container and the one that was made anew in its place; everything else that the engine
 * tells has to be the same. Ids themselves are not here: they are replaced by whose they are.
 */
const exceptions: readonly (readonly [path: RegExp, why: string])[] = [
  [/^Created$/, "when it was made"],
  [/^State\.(StartedAt|FinishedAt|Pid|Health)/, "of this process"],
  [/^(RestartCount|ExecIDs)$/, "of this process"],
  [/^GraphDriver\.|^Storage\./, "the folder of its own writable layer"],
  [/^NetworkSettings\.(SandboxID|SandboxKey)$/, "made at each start"],
  [/^NetworkSettings\.(.*\.)?(EndpointID|MacAddress)$/, "made at each start, where nobody chose it"],
  [/^NetworkSettings\.Networks\.[^.]*_back\.IPAddress$/, "given at each start, where nobody chose it"],
  [/^HostConfig\.(Binds|Mounts)\b/, "an anonymous volume has its name there afterwards; `Mounts` says which it is"],
  [/^Config\.Labels\.tidemark\./, "ours"],
];

/** Paths at which two containers differ, each with both values, apart from the exceptions. `known` names ids. */
export function differences(
  before: Inspect,
  after: Inspect,
  known: { before: Readonly<Record<string, string>>; after: Readonly<Record<string, string>> },
): readonly string[] {
  const [was, is] = [flattened(before, known.before), flattened(after, known.after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .filter((path) => !exceptions.some(([pattern]) => pattern.test(path)))
    .map((path) => `${path}: ${was.get(path) ?? "nothing"} -> ${is.get(path) ?? "nothing"}`)
    .sort();
}

/** Each leaf by its path; an empty object says no more than none. Ids become the name of the service; lists are sorted where their order means nothing. */
function flattened(value: unknown, ids: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const named = (text: string) =>
    Object.entries(ids).reduce(
      (all, [service, id]) => all.replaceAll(id, `<${service}>`).replaceAll(id.slice(0, 12), `<${service}>`),
      text,
    );
  const visit = (path: string, each: unknown): void => {
    if (Array.isArray(each)) {
      const items = each.map((item) => named(JSON.stringify(item)));
      leaves.set(path, `[${(/\.(Aliases|DNSNames|Mounts|Env)$|^Mounts$/.test(path) ? items.sort() : items).join()}]`);
    } else if (typeof each === "object" && each !== null && Object.keys(each).length > 0) {
      for (const [key, member] of Object.entries(each)) visit(path === "" ? key : `${path}.${key}`, member);
    } else leaves.set(path, each === null || typeof each === "object" ? "nothing" : named(JSON.stringify(each)));
  };
  visit("", value);
  return leaves;
}
