import { Button, LinkButton } from "../../templates/components/button.tsx";
import { Code } from "../../templates/components/code.tsx";
import { DiffView } from "../../templates/components/diff.tsx";
import { Facts } from "../../templates/components/facts.tsx";
import { SafeLink } from "../../templates/components/link.tsx";
import { Banner } from "../../templates/components/notice.tsx";
import { Columns, PageHeader, Panel, Section } from "../../templates/components/page-header.tsx";
import { Progress } from "../../templates/components/progress.tsx";
import { State } from "../../templates/components/state.tsx";
import { Steps } from "../../templates/components/steps.tsx";
import { Time } from "../../templates/components/time.tsx";
import { Digest, FromTo } from "../../templates/components/version.tsx";
import { Layout } from "../../templates/layout.tsx";
import { type PageContext, url } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";
import { sayIn } from "./sample-context.ts";

const hour = 60 * 60_000;
const digests = {
  old: "sha256:7b1f0c5aa0b54c1c8f2be0c5d2a37f0a1f7f1d2c3b4a59687766554433221100",
  new: "sha256:c04ea9d10b3e9a8d7c6b5a493827160594837261504938271605948372615049",
};

export function RunSample({ ctx }: { ctx: PageContext }) {
  const at = ctx.now - 17 * hour;
  const say = sayIn(ctx);
  return (
    <Layout ctx={ctx} title="paperless" section="runs">
      <PageHeader
        ctx={ctx}
        parent={{ title: texts(ctx).runs.title, href: "/runs" }}
        title={
          <>
            paperless <FromTo ctx={ctx} from="2.18.4" to="3.0.5" />
          </>
        }
        state={
          <State ctx={ctx} tone="failed" solid>
            {say("Failed, previous version restored", "失败，已恢复旧版本")}
          </State>
        }
        lead={say(
          "Automatic, window Fri 02:00–04:00 · 3 min 22 s · down 2.1 s",
          "自动，窗口周五 02:00–04:00 · 3 分 22 秒 · 停机 2.1 秒",
        )}
        actions={
          <>
            <LinkButton ctx={ctx} href="/runs/1/retry" icon="rotate-ccw" opens_dialog>
              {texts(ctx).common.retry}
            </LinkButton>
            <LinkButton ctx={ctx} href="/executors/1">
              {say("Open executor", "查看执行器")}
            </LinkButton>
          </>
        }
      />
      <Banner
        tone="failed"
        title={say("The new container returned 503 for 180 s", "新容器在 180 秒内一直返回 503")}
        action={<Button small>{say("Roll back", "回滚")}</Button>}
      >
        {say("The previous container was restored at 03:15:31 and is healthy.", "03:15:31 已恢复原容器，运行正常。")}
      </Banner>
      <Columns
        aside={
          <Section title={say("Facts", "概况")}>
            <Panel>
              <Facts
                items={[
                  [say("Executor", "执行器"), <a href={url(ctx, "/e")}>paperless</a>],
                  [say("Connection", "连接"), "nas, Docker 29.1"],
                  [say("Trigger", "触发方式"), say("New release, in its window", "新版本，窗口内")],
                  [say("Digest", "摘要"), <Digest ctx={ctx} value={digests.new} copy />],
                  [
                    say("Release notes", "发布说明"),
                    <SafeLink ctx={ctx} href="https://github.com/paperless-ngx/paperless-ngx/releases/tag/v3.0.5">
                      v3.0.5
                    </SafeLink>,
                  ],
                  [say("Snapshot", "快照"), <Time ctx={ctx} at={at} form="short" />],
                ]}
              />
            </Panel>
          </Section>
        }
      >
        <Section title={say("Timeline", "时间线")}>
          <Steps
            ctx={ctx}
            steps={[
              {
                id: "s1",
                state: "done",
                title: say("Plan checked", "已核对计划"),
                detail: say("unchanged since the review, 41 settings", "审阅后未变化，41 项设置"),
                started_at: at,
                duration_ms: 84,
              },
              {
                id: "s2",
                state: "done",
                title: say("Image pulled", "已拉取镜像"),
                detail: say("412 MB, 3 of 11 layers new", "412 MB，11 层中有 3 层为新层"),
                started_at: at + 200,
                duration_ms: 12_700,
              },
              {
                id: "s3",
                state: "done",
                title: say("Container replaced", "已替换容器"),
                detail: say("down 1.1 s", "停机 1.1 秒"),
                started_at: at + 13_000,
                duration_ms: 1100,
              },
              {
                id: "s4",
                state: "failed",
                title: say(
                  "Health check: GET http://paperless:8000/api/health",
                  "健康检查：GET http://paperless:8000/api/health",
                ),
                detail: say("36 attempts, last response 503", "尝试 36 次，最近一次返回 503"),
                started_at: at + 14_000,
                duration_ms: 187_000,
              },
              {
                id: "s5",
                state: "running",
                title: say("Restoring the previous container", "正在恢复原容器"),
                started_at: ctx.now - 4000,
                content: (
                  <Progress label={say("Restore", "恢复")} value={3} max={null}>
                    {say("Waiting for the engine", "等待引擎")}
                  </Progress>
                ),
              },
              { id: "s6", state: "waiting", title: say("Remove the new container", "删除新容器"), started_at: null },
            ]}
          />
        </Section>
        <Section title={say("Plan", "计划")} aside="5f0c91…">
          <DiffView
            ctx={ctx}
            carried={41}
            changes={[
              {
                field: "image",
                before: `ghcr.io/paperless-ngx/paperless-ngx:2.18.4@${digests.old}`,
                after: `ghcr.io/paperless-ngx/paperless-ngx:3.0.5@${digests.new}`,
              },
              {
                field: "Env.PAPERLESS_VERSION",
                before: "2.18.4",
                after: "3.0.5",
                reason: say("set by the image", "由镜像设置"),
              },
              {
                field: "Env.PAPERLESS_LEGACY",
                before: "1",
                after: null,
                reason: say("no longer in the image", "镜像中已不存在"),
              },
            ]}
          />
        </Section>
        <Section title={say("As a command", "对应的命令")}>
          <Code
            ctx={ctx}
            what={say("command", "命令")}
            text={
              "docker run -d --name paperless --restart unless-stopped \\\n  -p 8000:8000 ghcr.io/paperless-ngx/paperless-ngx:2.18.4"
            }
          />
        </Section>
      </Columns>
    </Layout>
  );
}
