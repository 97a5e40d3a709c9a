import { expect, test } from "bun:test";
import { plain, say } from "../../src/messages/message.ts";
import { ServiceLines } from "../../templates/executors/versions.tsx";
import { reasonWords, waitedRun } from "../../templates/runs/state.tsx";
import { ChannelPills } from "../../templates/trackers/pills.tsx";
import { DecidedExecutorsSample } from "../gallery/decided.tsx";
import {
  ExecutorsSample,
  NewExecutorSample,
  PutBackSample,
  RollbackQuestionSample,
  RolledBackSample,
  WaitingExecutorSample,
} from "../gallery/group-runs.tsx";
import { GroupPlanSample, GroupRunSample } from "../gallery/groups.tsx";
import { sampleContext } from "../gallery/sample-context.ts";

test.each([
  ["en", "Failed, partly updated"],
  ["en", "its image could not be protected from cleanup"],
  ["en", "Dependencies not healthy (paperless-webserver-1)"],
  ["en", "Previous container restored (it was missing and was recreated from the snapshot)"],
  ["zh", "失败，部分服务已更新"],
  ["zh", "无法防止其镜像被清理"],
  ["zh", "引擎拒绝了 POST /images/1/tag（403）：forbidden"],
  ["zh", "依赖不健康 (paperless-webserver-1)"],
  ["zh", "旧容器已恢复 (旧容器已不存在，已按快照重新创建)"],
  ["zh", "“paperless-worker-1”要求“paperless-webserver-1”健康，但它不健康：健康检查失败：503"],
] as const)("a run of several containers says in %s: %s", (language, text) => {
  expect(String(<GroupRunSample ctx={sampleContext({ language })} />)).toContain(text);
});

test("what runs of a mixed target is said once, as the banner's title", () => {
  const html = String(<GroupRunSample ctx={sampleContext()} />);
  const banner = /<div class="banner failed".*?<p>.*?<\/p>/s.exec(html)?.[0] ?? "";
  expect(banner.split("Some services run the new version, others the previous one")).toHaveLength(2);
});

test("the container that the run failed for stands out, and those that went along do not", () => {
  const html = String(<GroupRunSample ctx={sampleContext()} />);
  expect(html.match(/class="step failed" id="step-container-\d"/g)).toEqual([
    'class="step failed" id="step-container-1"',
  ]);
  expect(html).toMatch(/class="step skipped" id="step-container-2"/);
  const cause = /id="step-container-1".*?<\/li>/s.exec(html)?.[0] ?? "";
  expect(cause).toContain("the run failed here");
  expect(cause.indexOf("Health check failed: 503")).toBeLessThan(cause.indexOf("New container created"));
});

test("going back says what becomes of containers only where there are some", () => {
  const group = String(<RollbackQuestionSample ctx={sampleContext()} />);
  expect(group).toContain("The containers are replaced");
  const stack = String(<RollbackQuestionSample ctx={sampleContext()} target={{ is_declarative: true }} />);
  expect(stack).toContain("the cluster or Portainer replaces what runs");
  expect(stack).not.toContain("The containers");
});

test("services that change alike are named as far as there is room", () => {
  const services = ["a", "b", "c", "d", "e"].map((service) => ({ service }));
  const draw = (is_whole: boolean) =>
    String(
      <ServiceLines
        ctx={sampleContext()}
        services={services}
        nameOf={({ service }) => service}
        versionsOf={() => "1.0"}
        is_whole={is_whole}
      >
        {() => "1.0"}
      </ServiceLines>,
    );
  expect(draw(false)).toContain(">a and 4 more</span> 1.0");
  expect(draw(true)).toContain(">a, b, c, d, e</span> 1.0");
});

test("a version names the channels that it leads, and counts those that there is no room for", () => {
  const takers = ["16", "17", "18", "19", "20", "21"].map((name) => ({
    name,
    maturity: "release" as const,
    is_latest: name === "21",
  }));
  const badges = String(<ChannelPills ctx={sampleContext()} takers={takers} />).replaceAll(/<[^>]*>/g, "|");
  expect(badges).toContain("21 · latest");
  expect(badges).toContain("2 more channels");
  expect(badges.indexOf("21 · latest")).toBeLessThan(badges.indexOf("16"));
  expect(badges).not.toMatch(/\|(19|20)\|/);
});

test("a plan that would do nothing warns of nothing", () => {
  const warning = "is run once from the new image";
  expect(String(<GroupPlanSample ctx={sampleContext()} />)).toContain(warning);
  const html = String(<GroupPlanSample ctx={sampleContext()} is_noop />);
  expect(html).toContain("already uses its image");
  expect(html).not.toContain(warning);
});

test("commands within a plan's sentences are shown as code", () => {
  const html = String(<GroupPlanSample ctx={sampleContext({ language: "zh" })} />);
  expect(html).toContain("下次 <code>docker compose up</code> 会退回到它");
  expect(html).not.toContain("`docker");
});

const samples = {
  put_back: PutBackSample,
  rolled_back: RolledBackSample,
  rollback_question: RollbackQuestionSample,
  new_executor: NewExecutorSample,
  waiting_executor: WaitingExecutorSample,
  executors: ExecutorsSample,
};

test.each([
  ["put_back", "en", "Plan checked against the target"],
  ["put_back", "en", "The previous versions are running again"],
  ["put_back", "en", "took 43 s, including 29 s of health checks"],
  ["put_back", "zh", "用时 43 秒，其中观察健康状态 29 秒"],
  ["put_back", "zh", "各旧版本已恢复服务"],
  ["put_back", "zh", "引擎已将其重启 3 次；最后的退出码为 1"],
  ["rolled_back", "en", "Snapshot version"],
  ["rolled_back", "en", "rolled back"],
  ["rolled_back", "zh", "快照中的版本"],
  ["rollback_question", "en", "The containers are replaced by ones with the images"],
  ["rollback_question", "zh", "各容器将被替换为使用快照中的镜像和配置的新容器"],
  ["new_executor", "en", "Checking"],
  ["new_executor", "zh", "检查中"],
  ["waiting_executor", "en", "Waiting for the run of the-paperless-of-the-whole-family-and-the-office"],
  ["waiting_executor", "en", "The connection does not allow more concurrent runs"],
  ["waiting_executor", "zh", "等待“the-paperless-of-the-whole-family-and-the-office”的运行结束"],
  ["executors", "en", "Failed, partly updated"],
  ["executors", "zh", "失败，部分服务已更新"],
  ["executors", "en", "Waiting for the run of the-paperless-of-the-whole-family-and-the-office"],
] as const)("the page of %s says in %s: %s", (name, language, text) => {
  const Sample = samples[name];
  expect(String(<Sample ctx={sampleContext({ language })} />)).toContain(text);
});

test("of a group that was put back only the container at fault is red, the others are calm", () => {
  const html = String(<PutBackSample ctx={sampleContext()} />);
  expect([...html.matchAll(/class="step (\w+)" id="step-container-\d"/g)].map(([, state]) => state)).toEqual([
    "undone",
    "undone",
    "failed",
  ]);
  expect(html.match(/<span>[^<]*restored</g)).toHaveLength(3);
  expect(html.match(/the run failed here/g)).toHaveLength(1);
});

test("what serves is the banner's title: the reason does not end with it once more", () => {
  const html = String(<PutBackSample ctx={sampleContext()} />);
  const banner = /<div class="banner attention".*?<p>(.*?)<\/p>/s.exec(html)?.[1] ?? "";
  expect(banner).toEndWith("the engine restarted it 3 times; the last exit code was 1.");
});

test("a rollback that is done says so once in its heading", () => {
  const heading = /<header class="page-header">.*?<\/header>/s.exec(String(<RolledBackSample ctx={sampleContext()} />));
  expect(heading?.[0].match(/roll(?:ed )?back/gi)).toEqual(["Rolled back"]);
});

test.each([PutBackSample, RollbackQuestionSample])("the changes of several services stand under each: %p", (Sample) => {
  const html = String(<Sample ctx={sampleContext()} />);
  expect([...html.matchAll(/<h3>(\w+)<\/h3>/g)].map(([, service]) => service).toSorted()).toEqual([
    "broker",
    "webserver",
  ]);
  expect(html).not.toContain("webserver: Image");
});

test.each([
  ["en", '<span class="names">webserver, worker</span> <span class="change">', "at least 1 major, 1 minor"],
  ["zh", '<span class="names">webserver、worker</span> <span class="change">', "至少"],
] as const)(
  "services that change alike share a line, and the furthest behind is told in %s",
  (language, line, behind) => {
    const html = String(<DecidedExecutorsSample ctx={sampleContext({ language })} />);
    const cell = /<span class="service-versions">.*?<\/small>/s.exec(html)?.[0] ?? "";
    expect(cell).toContain(line);
    expect(cell).toContain(behind);
  },
);

test("a page asks for what the first look finds only until it was found", () => {
  expect(String(<NewExecutorSample ctx={sampleContext()} />)).toContain('hx-trigger="every 2s"');
  expect(String(<WaitingExecutorSample ctx={sampleContext()} />)).not.toContain('hx-trigger="every 2s"');
});

test.each([
  [
    say("runs.waits_for_run", { run: "7", executor: 'the "big" one', connection: "nas" }),
    { id: "7", executor: 'the "big" one', container: null },
  ],
  [
    say("runs.waits_for_container", { run: "7", executor: "shop", container: "web-1" }),
    { id: "7", executor: "shop", container: "web-1" },
  ],
  [plain("The engine did not answer"), null],
  [null, null],
])("waitedRun() of %p", (reason, expected) => {
  expect(waitedRun(reason)).toEqual(expected);
});

const unhealthy = (kind: "update" | "rollback") => say("runs.unhealthy", { kind, cause: plain("no route") });
const failed = (kind: "update" | "rollback", container: string | null) =>
  say("runs.failed", { kind, container, cause: plain("no") });

test.each([
  [
    "en",
    say("runs.with_serving", { reason: unhealthy("update"), kind: "update", serving: "previous", is_resting: false }),
    "The new version did not pass its health check: no route",
  ],
  [
    "zh",
    say("runs.with_serving", {
      reason: unhealthy("rollback"),
      kind: "rollback",
      serving: "unknown",
      is_resting: false,
    }),
    "快照中的版本未通过健康检查：no route",
  ],
  [
    "en",
    say("runs.partly_down", { reason: failed("update", null), services: ["db"] }),
    'The update failed: no. Target down: "db" is not running in either version; the other services are running.',
  ],
  ["zh", failed("rollback", "web"), "回滚“web”失败：no"],
  [
    "zh",
    plain("The update failed: no. The previous version is running"),
    "The update failed: no. The previous version is running",
  ],
] as const)("reasonWords() in %s: %p", (language, reason, expected) => {
  expect(reasonWords(sampleContext({ language }), { reason_data: reason })).toBe(expected);
});
