import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { translateMessage } from "../../templates/texts/messages.ts";
import { sentencesIn } from "../support/sentences.ts";
import { fieldWords } from "./field-words.ts";

const source = resolve(import.meta.dir, "../../src");

function isChinese(message: string): boolean {
  return /\p{Script=Han}/u.test(translateMessage("zh", message));
}

/** With some value in each place, or with nothing where a part can be missing; what was tried is said before its reason. */
function hasChinese(text: string): boolean {
  const reason = text.replace(/^Could not \{\}[:,] /, "");
  return isChinese(reason.replaceAll("{}", "7")) || isChinese(reason.replaceAll("{}", ""));
}

describe("every sentence of the source that people can be told", () => {
  /** Whose texts no page shows, with the reason. */
  const silent: readonly [files: RegExp, reason: string][] = [
    [/^runtimes\/engine\/(?:export\/|pull\.ts|compose\/line-patch\.ts)/, "scripts and files of their own language"],
    [/^(?:main|start|start-steps|config)\.ts$/, "said at the start, on the terminal and in the log"],
    [
      /^db\/(?:migrate|lock|copy-here|expected-schema|local-client)\.ts$/,
      "said at the start, or faults of ours, which the log tells",
    ],
    [/^(?:commands\/|backups\/(?:restore|place-restored|judge|source|manifest)\.ts)/, "said on the terminal"],
    [/^http\/(?:openapi\.ts|api\/)/, "documentation and errors of the API, which speaks English"],
    [/^(?:messages\/|notifications\/message(?:-texts)?\.ts$)/, "has both languages, which the type check sees to"],
  ];
  /** Titles of choices, which fields translate, and pieces that are only said within a sentence of the table below. */
  const pieces = new Set([
    "The engine speaks API {} to {}",
    "{}; the connection asks for {}",
    "{}; Tidemark speaks {} to {}",
    "The new containers {}",
    "{} are in place; the previous ones are gone",
    "{} are in place; the previous ones are kept aside",
    'There is no {} "{}" on the engine',
    'The {} "{}" was changed since the plan was made; plan again',
    "The engine restarted it {}",
    "The engine restarted it {}; the last exit code was {}",
    "Its own health check has not {} yet",
    'The run "{}" belongs to another process now',
  ]);
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(source, join(entry.parentPath, entry.name)))
    .filter((file) => !silent.some(([pattern]) => pattern.test(file)))
    .toSorted();
  const untoldIn = (text: string) =>
    sentencesIn(text).filter(({ text }) => !pieces.has(text) && !fieldWords.has(text) && !hasChinese(text));

  test.each(files)("%s", (file) => {
    const untold = untoldIn(readFileSync(join(source, file), "utf8"));
    expect(untold.map(({ text, line }) => `${line}: ${text}`)).toEqual([]);
  });

  test("all features are looked through, and each exception is still needed", () => {
    for (const folder of [
      "auth",
      "backups",
      "keys",
      "oidc",
      "credentials",
      "trackers",
      "sources",
      "net",
      "http/pages",
    ]) {
      expect(files.some((file) => file.startsWith(`${folder}/`))).toBe(true);
    }
    const said = new Set(
      files.flatMap((file) => sentencesIn(readFileSync(join(source, file), "utf8")).map(({ text }) => text)),
    );
    expect([...pieces, ...fieldWords].filter((text) => !said.has(text))).toEqual([]);
  });

  test("the sentences are found", () => {
    const found = sentencesIn(
      [
        'const a = { code: "x", message: `The $«all.map((each) => `"$«each»" is`).join(", ")» and "$«b»" of ` +',
        '  "one sentence" };',
        'log.info("Nobody reads this one"); v.title("A title of a field"); // "Nor is this one"',
        "const pattern = /'[/\"]/.test(text); throw new Error(`A fault of ours`);",
      ]
        .join("\n")
        .replaceAll("«", "{")
        .replaceAll("»", "}"),
    );
    expect(found).toEqual([{ text: 'The {} and "{}" of one sentence', line: 1 }]);
  });
});

test.each([
  [
    "The engine speaks API 1.24 to 1.30; Tidemark speaks 1.41 to 1.56",
    "引擎支持 API 1.24 至 1.30；Tidemark 支持 1.41 至 1.56",
  ],
  ["The engine speaks API 1.44 to 1.52; the connection asks for 1.41", "引擎支持 API 1.44 至 1.52；连接要求 1.41"],
  ['There is no compose group "shop" on the engine', "引擎上没有 compose 组“shop”"],
  [
    'The container "web" was changed since the plan was made; plan again',
    "制定计划之后容器“web”已发生变化；请重新制定计划",
  ],
  [
    'The compose group "shop" was changed since the plan was made; plan again',
    "制定计划之后 compose 组“shop”已发生变化；请重新制定计划",
  ],
  [
    '"shop" cannot be updated: "web": Whether a MAC address was chosen for it on "front" is not known: the engine tells that only while the container runs',
    '无法更新“shop”：“web”：无法得知是否在 "front" 上为它指定了 MAC 地址：引擎只在容器运行时给出',
  ],
  [
    '"web" cannot run beside its successor: it publishes host ports; switch "start before stop" off',
    "“web”无法与它的新容器同时运行：它发布了主机端口；请关闭“先启动后停止”",
  ],
  [
    '"a" needs "b" needs "a": a circle has no order in which it could be updated',
    '"a" 依赖 "b" 依赖 "a"：循环依赖，没有可行的更新顺序',
  ],
  [
    "It was made with rules for devices (--device-cgroup-rule), GPUs (--gpus), which Podman does not tell completely",
    "创建时使用了 设备规则（--device-cgroup-rule）、GPU（--gpus），而 Podman 不会完整给出",
  ],
  [
    'The file names "a:1": without this edit the next `docker compose up` goes back to it; after it the next one recreates nothing',
    "文件写的是“a:1”：若不作此修改，下次 `docker compose up` 会退回到它；修改后，下一次不会重建任何容器",
  ],
  [
    'The file names "a:1": without this edit the next `docker compose up` goes back to it; after it the next one makes the container anew from "a:2" once, because the edit changes more of it than its image; it has to be edited by hand, because the line has more in it than the image; the same edit changes "db", "job"',
    '文件写的是“a:1”：若不作此修改，下次 `docker compose up` 会退回到它；修改后，下一次会用“a:2”重建容器一次，原因：此修改改变的不只是镜像；需要手动修改，原因：该行不只包含镜像；同一处修改也会影响 "db", "job"',
  ],
  [
    'The compose file cannot be read ("/srv/compose.yaml" is not visible to Tidemark): unless the service "web" gets this line, the next `docker compose up` goes back to the image that the file names; with it the container is made anew once',
    "无法读取 compose 文件（Tidemark 看不到“/srv/compose.yaml”）：若不为服务“web”写入此行，下次 `docker compose up` 会退回文件所写的镜像；写入后容器会重建一次",
  ],
  [
    'The new containers "web", "db" are in place; the previous ones are gone',
    '新容器 "web", "db" 已就位；旧容器已不存在',
  ],
  [
    'The new containers "web", "db" are in place; the previous ones are kept aside',
    '新容器 "web", "db" 已就位；旧容器仍保留在一旁',
  ],
  [
    'The target "web" is down: could not start web: The engine refused POST /containers/1/start (500): no such network; The container "db" is as it was before the run',
    "目标“web”已停机：无法启动 web：引擎拒绝了 POST /containers/1/start（500）：no such network；容器“db”与运行之前相同",
  ],
  [
    'The new container "web" is in place; The container "db" is as it was before the run; The new container "job" is in place',
    "新容器“web”已就位；容器“db”与运行之前相同；新容器“job”已就位",
  ],
  [
    '"web": The engine restarted it 3 times; the last exit code was 1; "db": Its own health check has not run yet; "job": Running for 3 of 10 s',
    "“web”：引擎已将其重启 3 次；最后的退出码为 1；“db”：自身的健康检查尚未执行；“job”：已运行 3 秒，共需 10 秒",
  ],
  [
    'The image "sha256:1" is used by a snapshot of "web", a snapshot of "db"',
    "镜像“sha256:1”正被“web”的快照、“db”的快照使用",
  ],
  ["Answered 503, expected 2xx or 3xx", "返回 503，期望 2xx 或 3xx"],
  ["Answered 503, expected 200, 204", "返回 503，期望 200, 204"],
  ["The copy of the database is damaged: row 7 is missing", "数据库的副本已损坏：row 7 is missing"],
])("translateMessage() of %s", (message, expected) => {
  expect(translateMessage("zh", message)).toBe(expected);
  expect(translateMessage("en", message)).toBe(message);
});

test.each([
  "it publishes host ports",
  'it uses the network "host"',
  "it has a fixed address",
  "it has a fixed MAC address",
  '"web" hang on it',
  "compose is not installed beside Tidemark",
  "compose does not answer for its files",
  "compose does not answer for its files once they are edited",
  "its files are not, or not alone, what it was made from: they were edited since, or a shell's variables went in",
  "the edit changes more of it than its image",
  "it carries no hash of compose",
  "its labels hold names that compose does not give",
  "the line has more in it than the image",
  '"web" gets its image from the same place and is to get another one: one of the two needs a line of its own',
  "the service was not found there",
  "the image is no plain text",
  "the value of TAG was not found in a file",
  "its image is no plain text there",
  "its image is built from there",
  "no image is written there",
  "its image comes from another service there",
  "its labels do not tell where its compose file is",
  "it was made from more than 16 files",
  '"a.txt" is not named like a compose file',
  '"a.yaml" is no absolute path',
  '"/a.yaml" is a link that leads elsewhere',
  '"/a.yaml" is no regular file',
  '"/a.yaml" has 9 bytes, and 8 at most are read',
  '"/a.yaml" has more than 8 bytes',
  '"/a.yaml" is not visible to Tidemark',
  '"/a.yaml" may not be read by Tidemark',
  '"/a.yaml" cannot be read as text',
  "could not stop web: The session was closed",
  "could not rename web: The session was closed",
  "could not remove web: The session was closed",
  "gave up after 40 moves",
  "nothing within 5000 ms",
  "the answer ended early",
])("the reason %s has Chinese", (reason) => {
  expect(isChinese(reason)).toBe(true);
});
