import * as v from "valibot";
import type { FieldErrors } from "../../src/errors.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import { Confirm } from "../../templates/components/confirm.tsx";
import { DiffView } from "../../templates/components/diff.tsx";
import { Facts } from "../../templates/components/facts.tsx";
import { Form } from "../../templates/components/form.tsx";
import { PageHeader } from "../../templates/components/page-header.tsx";
import { Layout } from "../../templates/layout.tsx";
import type { PageContext } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";
import { sayIn } from "./sample-context.ts";

const channel = v.object({
  name: v.pipe(
    v.picklist(["stable", "prerelease"]),
    v.title("Channel"),
    v.metadata({ option_titles: { stable: "Stable", prerelease: "Prerelease" } }),
  ),
  include: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(512),
      v.title("Include pattern"),
      v.description("Regular expression, searched in the tag. Blank takes every version."),
      v.metadata({ code: true, placeholder: "^\\d+\\.\\d+\\.\\d+$" }),
    ),
    "",
  ),
});

const SampleInput = v.object({
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(100),
    v.title("Tracker name"),
    v.description("Shown everywhere. Cannot be changed later."),
    v.metadata({ immutable: true }),
  ),
  description: v.optional(v.pipe(v.string(), v.title("Description"), v.metadata({ multiline: true })), ""),
  enabled: v.optional(v.pipe(v.boolean(), v.title("Enabled"), v.description("Include it in scheduled checks.")), true),
  events: v.pipe(v.array(v.picklist(["new_release", "republish"])), v.title("Trigger events")),
  source: v.pipe(
    v.variant("kind", [
      v.object({
        kind: v.pipe(
          v.literal("oci"),
          v.title("Type"),
          v.metadata({ option_titles: { oci: "OCI registry", github: "GitHub" } }),
        ),
        image: v.pipe(
          v.string(),
          v.title("Image name"),
          v.description("As in a compose file, without tag or digest."),
          v.metadata({ code: true, placeholder: "library/traefik" }),
        ),
        token: v.optional(v.pipe(v.string(), v.title("Token"), v.metadata({ secret: true }))),
        channels: v.pipe(v.array(channel), v.minLength(1), v.title("Channels")),
      }),
      v.object({
        kind: v.literal("github"),
        repository: v.pipe(v.string(), v.title("Repository"), v.metadata({ code: true })),
      }),
    ]),
    v.title("Source"),
  ),
  check_interval_minutes: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(10080),
      v.title("Check interval (minutes)"),
      v.metadata({ advanced: true }),
    ),
    360,
  ),
  fetch_depth: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(100),
      v.title("Versions per check"),
      v.description("Most versions fetched per check."),
      v.metadata({ advanced: true }),
    ),
    10,
  ),
  fallback: v.optional(v.pipe(v.boolean(), v.title("Release fallback"), v.metadata({ advanced: true })), false),
});

export const sampleValues = {
  name: "traefik",
  events: ["new_release"],
  source: { kind: "oci", image: "library/traefik", channels: [{ name: "stable", include: "(?<!x)rc" }] },
};

export function FormSample({
  ctx,
  errors,
  values = sampleValues,
  is_edit = false,
}: {
  ctx: PageContext;
  errors?: FieldErrors;
  values?: Record<string, unknown>;
  is_edit?: boolean;
}) {
  return (
    <Layout ctx={ctx} title={texts(ctx).trackers.add} section="trackers">
      <PageHeader
        ctx={ctx}
        parent={{ title: texts(ctx).trackers.title, href: "/trackers" }}
        title={texts(ctx).trackers.add}
      />
      <Form
        ctx={ctx}
        id="tracker-form"
        area="sample"
        action="/form"
        fields={fields(SampleInput, values)}
        values={values}
        errors={errors}
        submit={texts(ctx).trackers.add}
        cancel_href="/trackers"
        is_edit={is_edit}
        stored={is_edit ? ["source.token"] : []}
      />
    </Layout>
  );
}

export const sampleErrors = {
  name: plain('The name "traefik" is taken'),
  "source.channels.0.include": plain("Lookbehind (?<!x) is not supported; enter rc as the exclude pattern"),
  check_interval_minutes: plain("Enter a number from 1 to 10080"),
};

export function ConfirmSample({ ctx }: { ctx: PageContext }) {
  const say = sayIn(ctx);
  return (
    <Confirm
      ctx={ctx}
      title={say("Update paperless to 3.0.5?", "将 paperless 更新到 3.0.5？")}
      verb={say("Update now", "立即更新")}
      kind="main"
      action="/runs"
      cancel_href="/runs/1"
    >
      <DiffView
        ctx={ctx}
        carried={41}
        changes={[{ field: "image", before: "paperless-ngx:2.18.4", after: "paperless-ngx:3.0.5" }]}
      />
      <Facts
        items={[
          [say("Downtime", "停机时间"), say("about 0.4 s", "约 0.4 秒")],
          [say("On failure", "失败时"), say("the previous container is restored", "恢复原容器")],
        ]}
      />
    </Confirm>
  );
}
