import type { Child } from "hono/jsx";
import type { TargetView } from "../../src/connections/schema.ts";
import type { ServiceObservation } from "../../src/executors/observation-schema.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { withCode } from "../components/code.tsx";
import { Link } from "../components/link.tsx";
import { Reference } from "../components/version.tsx";
import { TargetState } from "../connections/targets.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { ServiceVersions } from "./versions.tsx";

export interface BindingRow {
  position: number;
  service: string;
  tracker: string;
  /** Null if the target has no such service at present. */
  found: TargetView["services"][number] | null;
  /** Trackers that watch the service's image. */
  fitting: readonly string[];
  /** The plan's part for it; null until there is a plan. */
  planned: ServiceObservation | null;
}

/** Paths of the parts above and below the fields of a row. */
export const nowPath = (position: number) => `service_${position}.now`;
export const resultPath = (position: number) => `service_${position}.result`;

/** What runs as this service. */
export function ServiceNow({ ctx, row }: { ctx: PageContext; row: BindingRow }): Child {
  const t = texts(ctx).executors;
  const { found } = row;
  return (
    <div class="service-now">
      {found === null ? (
        <span class="quiet">{t.service_missing}</span>
      ) : (
        <>
          <Reference>{found.image}</Reference>
          <TargetState ctx={ctx} target={{ services: [found] }} />
          {found.containers.length > 1 ? <span class="quiet">{t.replicas(found.containers.length)}</span> : null}
        </>
      )}
      <input type="hidden" name={`bindings.${row.position}.service`} value={row.service} />
    </div>
  );
}

/** The reference that the next run would create it from, or why there is none. */
export function ServiceResult({ ctx, row }: { ctx: PageContext; row: BindingRow }): Child {
  const t = texts(ctx).executors;
  const { planned, found } = row;
  if (row.tracker === "") {
    const image = found?.image ?? "";
    return (
      <p class="help">
        {row.fitting.length > 0 || image === "" ? t.left_alone : t.no_tracker_fits}{" "}
        {row.fitting.length > 0 || image === "" ? null : (
          <Link ctx={ctx} href={`/trackers/new?${new URLSearchParams({ image })}`}>
            {texts(ctx).connections.track_image}
          </Link>
        )}
      </p>
    );
  }
  if (planned === null) return null;
  return (
    <p class="service-result" aria-live="polite">
      {planned.unmet !== null ? (
        <span class="quiet">{withCode(translateMessage(ctx.language, planned.unmet.message_data))}</span>
      ) : planned.desired === null ? null : (
        <>
          <span class="quiet">{t.plan_resulting}</span>{" "}
          <b>
            <Reference>{planned.desired.reference}</Reference>
          </b>{" "}
          <ServiceVersions ctx={ctx} service={planned} />
        </>
      )}
    </p>
  );
}

/** The fields of a group's bindings: one field group per service, headed by its name. */
export function rowFields(
  entries: readonly (readonly FieldDescription[])[],
  rows: readonly BindingRow[],
  isOffered: (field: FieldDescription) => boolean,
): readonly FieldDescription[] {
  return rows.map((row) => {
    const asked = (entries[row.position] ?? []).filter((field) => field.name !== "service" && isOffered(field));
    const place = (path: string): FieldDescription => ({ ...blank, name: path, path });
    // Without a tracker there are no sources or channels to choose from.
    const shown = row.tracker === "" ? asked.filter((field) => field.name === "tracker") : asked;
    return {
      ...blank,
      ...{ name: `service_${row.position}`, path: `service_${row.position}`, kind: "group", title: row.service },
      children: [
        place(nowPath(row.position)),
        ...shown.map((field) => (field.name === "tracker" ? { ...field, is_required: false } : field)),
        place(resultPath(row.position)),
      ],
    };
  });
}

/** A field without input: a placeholder in the form. */
export const blank: FieldDescription = {
  ...{ name: "", path: "", kind: "text", title: "", description: "", children: [], entries: [] },
  ...{
    is_required: false,
    is_secret: false,
    is_advanced: false,
    is_immutable: false,
    is_code: false,
    takes_file: false,
  },
  ...{ placeholder: "", options: [], min: null, max: null, is_discriminant: false, default_value: undefined },
};
