import { expect, test } from "bun:test";
import { sampleContext } from "../support/gallery.tsx";
import { GroupPlanSample, GroupRunSample } from "../support/gallery-groups.tsx";

test.each([
  ["en", "Failed, partly updated"],
  ["en", "its image could not be protected from being cleaned up"],
  ["en", "What it needs is not healthy (paperless-webserver-1)"],
  ["en", "Previous container put back (it was gone and was made again from the snapshot)"],
  ["zh", "失败，部分服务已更新"],
  ["zh", "无法保护其镜像不被清理"],
  ["zh", "引擎拒绝了 POST /images/1/tag（403）：forbidden"],
  ["zh", "依赖不健康 (paperless-webserver-1)"],
  ["zh", "旧容器已恢复 (旧容器已不存在，已按快照重新创建)"],
  ["zh", "“paperless-worker-1”要求“paperless-webserver-1”健康，但它不健康：自身的健康检查失败：503"],
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
  expect(html.match(/class="step failed" id="step-container-\d"/g)).toEqual(['class="step failed" id="step-container-1"']);
  expect(html).toMatch(/class="step skipped" id="step-container-2"/);
  const cause = /id="step-container-1".*?<\/li>/s.exec(html)?.[0] ?? "";
  expect(cause).toContain("the run failed here");
  expect(cause.indexOf("Its own health check fails: 503")).toBeLessThan(cause.indexOf("New container created"));
});

test("commands within a plan's sentences are shown as code", () => {
  const html = String(<GroupPlanSample ctx={sampleContext({ language: "zh" })} />);
  expect(html).toContain("下次 <code>docker compose up</code> 会退回到它");
  expect(html).not.toContain("`docker");
});
