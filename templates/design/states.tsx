import { Behind } from "../components/behind.tsx";
import { Facts } from "../components/facts.tsx";
import { Icon } from "../components/icon.tsx";
import { type IconName, icons } from "../components/icons.ts";
import { SafeLink } from "../components/link.tsx";
import { Names } from "../components/names.tsx";
import { Columns, Panel, Section } from "../components/page-header.tsx";
import { SizeChange } from "../components/size.tsx";
import { Badge, State } from "../components/state.tsx";
import { Duration, Elapsed, Time } from "../components/time.tsx";
import { Digest, FromTo, Reference, Version } from "../components/version.tsx";
import type { PageContext, Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";

export const tones: readonly Tone[] = ["current", "update", "running", "attention", "failed", "unknown", "quiet"];
const hour = 3_600_000;
export const longName = "ghcr.io/organisation-with-a-long-name/a-service-nobody-would-abbreviate";

export const behind = { releases: 4, steps: { major: 0, minor: 1, patch: 3 }, days: 20, is_at_least: false };

export function StateSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  return (
    <Columns
      aside={
        <Section title={t.facts}>
          <Facts
            items={[
              [t.followed_by, <Names ctx={ctx} names={["edge", "edge-internal"]} more={3} />],
              [t.size, <SizeChange ctx={ctx} from_bytes={400_000_000} to_bytes={412_000_000} />],
              [t.homepage, <SafeLink ctx={ctx} href="https://traefik.io" />],
            ]}
          />
        </Section>
      }
    >
      <Section title={t.tones}>
        <Panel>
          <div class="samples">
            {tones.map((tone) => (
              <State ctx={ctx} tone={tone} />
            ))}
          </div>
          <div class="samples">
            {tones.map((tone) => (
              <State ctx={ctx} tone={tone} solid />
            ))}
          </div>
        </Panel>
      </Section>
      <Section title={t.badges}>
        <Panel>
          <div class="samples">
            <Badge>stable</Badge>
            <Badge icon="webhook">webhook</Badge>
            <Badge>prerelease</Badge>
          </div>
        </Panel>
      </Section>
      <Section title={t.versions}>
        <Panel>
          <div class="samples">
            <Version>3.6.24</Version>
            <FromTo ctx={ctx} from="2.18.4" to="3.0.5" />
            <FromTo ctx={ctx} from={null} to="2026.11.0-alpine3.22" />
            <Digest ctx={ctx} value={`sha256:${"7b1f0c5aa0b54c1c".repeat(4)}`} copy />
            <Digest ctx={ctx} value={"c04ea9d10b3e9a8d7c6b".repeat(2)} />
          </div>
        </Panel>
      </Section>
      <Section title={t.times}>
        <Panel>
          <div class="samples">
            <Time ctx={ctx} at={ctx.now - 4 * hour} />
            <Time ctx={ctx} at={ctx.now + 30 * hour} />
            <Time ctx={ctx} at={ctx.now} form="short" />
            <Time ctx={ctx} at={ctx.now} form="clock" />
            <Time ctx={ctx} at={ctx.now} form="precise" />
            <Time ctx={ctx} at={null} />
            <Duration ctx={ctx} ms={380} />
            <Duration ctx={ctx} ms={202_000} />
            <Elapsed ctx={ctx} since={ctx.now - 12_000} />
          </div>
        </Panel>
      </Section>
      <Section title={t.facts}>
        <Panel>
          <Facts
            items={[
              [t.name, longName],
              [t.image, <Reference>{`${longName}:3.6.24`}</Reference>],
              [t.version, <Version>3.6.24</Version>],
              [t.distance, <Behind ctx={ctx} behind={behind} />],
              [t.state, <State ctx={ctx} tone="current" />],
              [t.checked, <Time ctx={ctx} at={ctx.now - hour} />],
            ]}
          />
        </Panel>
      </Section>
      <Section title={t.all_icons}>
        <Panel>
          <div class="samples">
            {Object.keys(icons).map((name) => (
              <Icon name={name as IconName} label={name} />
            ))}
          </div>
        </Panel>
      </Section>
    </Columns>
  );
}
