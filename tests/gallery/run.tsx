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

const hour = 60 * 60_000;
const digests = {
  old: "sha256:7b1f0c5aa0b54c1c8f2be0c5d2a37f0a1f7f1d2c3b4a59687766554433221100",
  new: "sha256:c04ea9d10b3e9a8d7c6b5a493827160594837261504938271605948372615049",
};

export function RunSample({ ctx }: { ctx: PageContext }) {
  const at = ctx.now - 17 * hour;
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
            Failed, previous version running
          </State>
        }
        lead="Automatic, window Fri 02:00 to 04:00 · 3 min 22 s · down 1.1 s + 1.0 s"
        actions={
          <>
            <LinkButton ctx={ctx} href="/runs/1/retry" icon="rotate-ccw" opens_dialog>
              {texts(ctx).common.retry}
            </LinkButton>
            <LinkButton ctx={ctx} href="/executors/1">
              Open executor
            </LinkButton>
          </>
        }
      />
      <Banner tone="failed" title="The new container answered 503 for 180 s" action={<Button small>Rollback</Button>}>
        The previous container was put back at 03:15:31 and has answered on <code>/api/health</code> since.
      </Banner>
      <Columns
        aside={
          <Section title="Facts">
            <Panel>
              <Facts
                items={[
                  ["Executor", <a href={url(ctx, "/e")}>paperless</a>],
                  ["Runs on", "nas, Docker 29.1"],
                  ["Started by", "new release, window"],
                  ["Digest", <Digest ctx={ctx} value={digests.new} copy />],
                  [
                    "Release notes",
                    <SafeLink ctx={ctx} href="https://github.com/paperless-ngx/paperless-ngx/releases/tag/v3.0.5">
                      v3.0.5
                    </SafeLink>,
                  ],
                  ["Snapshot", <Time ctx={ctx} at={at} form="short" />],
                ]}
              />
            </Panel>
          </Section>
        }
      >
        <Section title="Timeline">
          <Steps
            ctx={ctx}
            steps={[
              {
                id: "s1",
                state: "done",
                title: "Plan checked against the target",
                detail: "unchanged since review, 41 settings compared",
                started_at: at,
                duration_ms: 84,
              },
              {
                id: "s2",
                state: "done",
                title: "Pulled ghcr.io/paperless-ngx/paperless-ngx:3.0.5",
                detail: "412 MB, 3 of 11 layers new",
                started_at: at + 200,
                duration_ms: 12_700,
              },
              {
                id: "s3",
                state: "done",
                title: "Old stopped, new started",
                detail: "down 1.1 s",
                started_at: at + 13_000,
                duration_ms: 1100,
              },
              {
                id: "s4",
                state: "failed",
                title: "Health: HTTP GET http://paperless:8000/api/health",
                detail: "36 attempts, last answer 503 “database migration pending”",
                started_at: at + 14_000,
                duration_ms: 187_000,
              },
              {
                id: "s5",
                state: "running",
                title: "Restoring the previous container",
                started_at: ctx.now - 4000,
                content: (
                  <Progress label="Pull" value={3} max={null}>
                    waiting for the engine
                  </Progress>
                ),
              },
              { id: "s6", state: "waiting", title: "Remove the new container", started_at: null },
            ]}
          />
        </Section>
        <Section title="Plan" aside="hash 5f0c91…">
          <DiffView
            ctx={ctx}
            carried={41}
            changes={[
              {
                field: "image",
                before: `ghcr.io/paperless-ngx/paperless-ngx:2.18.4@${digests.old}`,
                after: `ghcr.io/paperless-ngx/paperless-ngx:3.0.5@${digests.new}`,
              },
              { field: "Env.PAPERLESS_VERSION", before: "2.18.4", after: "3.0.5", reason: "set by the image" },
              { field: "Env.PAPERLESS_LEGACY", before: "1", after: null, reason: "no longer in the image" },
            ]}
          />
        </Section>
        <Section title="As a command">
          <Code
            ctx={ctx}
            what="command"
            text={
              "docker run -d --name paperless --restart unless-stopped \\\n  -p 8000:8000 ghcr.io/paperless-ngx/paperless-ngx:2.18.4"
            }
          />
        </Section>
      </Columns>
    </Layout>
  );
}
