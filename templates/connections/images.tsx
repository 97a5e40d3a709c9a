import type { UnusedImageList, UnusedImageView } from "../../src/connections/images-schema.ts";
import type { ConnectionView } from "../../src/connections/schema.ts";
import { Button } from "../components/button.tsx";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Digest, Reference } from "../components/version.tsx";
import { formatBytes } from "../format.ts";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { AskedSection, type Found } from "./asked-section.tsx";

/** `none`: the runtime has no images. */
export type FoundImages = Found<UnusedImageList> | "none";

interface UnusedImagesProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "id" | "is_enabled">;
  found: FoundImages;
}

/** Images of a connection that no container uses; loads once the page is open. */
export function UnusedImages({ ctx, connection, found }: UnusedImagesProps) {
  const t = texts(ctx).images;
  // What asked for it is replaced by it.
  if (found === "none") return <div id="images" />;
  return (
    <AskedSection
      ctx={ctx}
      id="images"
      connection={connection}
      title={t.title}
      found={found}
      words={{ asking: t.looking, show: t.show, again: t.again, failed: t.failed }}
      lead={(list) => t.lead(list.items.length)}
      draw={(list) => <ImageList ctx={ctx} connection={connection} {...list} />}
    />
  );
}

function ImageList({
  ctx,
  connection,
  items,
  others,
}: Pick<UnusedImagesProps, "ctx" | "connection"> & UnusedImageList) {
  const t = texts(ctx).images;
  return (
    <>
      {items.length === 0 ? (
        <Banner tone="quiet" title={t.none}>
          {t.none_text}
        </Banner>
      ) : (
        <ImageForm ctx={ctx} connection={connection} items={items} />
      )}
      <p class="quiet">
        {items.length === 0 ? null : t.text} {others === 0 ? null : t.others(others)}
      </p>
    </>
  );
}

interface ImageFormProps extends Pick<UnusedImagesProps, "ctx" | "connection"> {
  items: readonly UnusedImageView[];
}

function ImageForm({ ctx, connection, items }: ImageFormProps) {
  const t = texts(ctx).images;
  const action = url(ctx, `/connections/${connection.id}/images/remove`);
  const isAny = items.some((image) => image.named_by.length === 0);
  return (
    <form method="get" action={action} hx-get={action} hx-target="#dialog" hx-swap="innerHTML">
      <Table
        ctx={ctx}
        caption={t.title}
        columns={[
          { key: "image", title: texts(ctx).common.image, grows: true },
          { key: "why", title: t.why, grows: true },
          { key: "age", title: t.age, align: "end", wide_only: true },
          { key: "size", title: texts(ctx).common.size, align: "end" },
        ]}
        rows={items.map((image) => ({
          id: `image-${image.id.replace(/[^A-Za-z0-9]/g, "-")}`,
          muted: image.named_by.length > 0,
          cells: {
            image: <ImageName ctx={ctx} image={image} is_selectable />,
            why: <Reason ctx={ctx} image={image} />,
            age: <Time ctx={ctx} at={image.created_at} />,
            size: formatBytes(ctx.language, image.size_bytes),
          },
        }))}
      />
      {isAny ? (
        <p class="table-actions">
          <Button type="submit" icon="trash">
            {t.remove_selected}
          </Button>
        </p>
      ) : null}
    </form>
  );
}

/** An image's name: its tags, else its id. */
function imageWords(image: UnusedImageView): string {
  return image.references[0] ?? image.id.replace(/^sha256:/, "").slice(0, 12);
}

/** Its tags; without any, the digests it was pulled by. */
function ReferenceLines({ ctx, references }: { ctx: PageContext; references: readonly string[] }) {
  const tags = references.filter((reference) => !reference.includes("@"));
  return (
    <>
      {(tags.length > 0 ? tags : references).map((reference) => {
        const [name = "", digest] = reference.split("@");
        return (
          <div>
            <Reference>{name}</Reference> {digest === undefined ? null : <Digest ctx={ctx} value={digest} />}
          </div>
        );
      })}
    </>
  );
}

function ImageName({
  ctx,
  image,
  is_selectable,
}: {
  ctx: PageContext;
  image: UnusedImageView;
  is_selectable: boolean;
}) {
  const t = texts(ctx).images;
  const name =
    image.references.length === 0 ? (
      <>
        <span class="quiet">{t.untagged}</span> <Digest ctx={ctx} value={image.id} />
      </>
    ) : (
      <ReferenceLines ctx={ctx} references={image.references} />
    );
  if (!is_selectable || image.named_by.length > 0) return <div>{name}</div>;
  return (
    <label class="check">
      <input type="checkbox" name="image" value={image.id} aria-label={t.select(imageWords(image))} />
      <span>{name}</span>
    </label>
  );
}

function Reason({ ctx, image }: { ctx: PageContext; image: UnusedImageView }) {
  const t = texts(ctx).images;
  const users = new Map(image.named_by.map((user) => [user.executor_id, user.executor]));
  if (users.size === 0) return <>{t.reasons[image.reason]}</>;
  return (
    <div>
      {t.needed(image.named_by.length)}{" "}
      {[...users].map(([id, name], index) => (
        <>
          {index === 0 ? "" : ", "}
          <Link ctx={ctx} href={`/executors/${id}`}>
            {name}
          </Link>
        </>
      ))}
    </div>
  );
}

interface ImageRemoveProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "id" | "name">;
  selected: readonly UnusedImageView[];
}

/** What is removed, and how much space that frees; alone or as a page. */
export function ImageRemove({ ctx, connection, selected }: ImageRemoveProps) {
  const t = texts(ctx).images;
  const back = `/connections/${connection.id}`;
  if (selected.length === 0) {
    return <NothingAsked ctx={ctx} title={t.remove} section="connections" heading={t.nothing_selected} back={back} />;
  }
  const size = selected.reduce((sum, image) => sum + image.size_bytes, 0);
  return (
    <Confirm
      ctx={ctx}
      section="connections"
      title={t.remove_title(selected.length)}
      verb={t.remove}
      action={`/connections/${connection.id}/images/remove`}
      fields={{ images: selected.map((image) => image.id).join(" ") }}
      cancel_href={back}
    >
      <ul class="sentences">
        {selected.map((image) => (
          <li>
            <ImageName ctx={ctx} image={image} is_selectable={false} />
          </li>
        ))}
      </ul>
      <Facts wide items={[[t.freed, formatBytes(ctx.language, size)]]} />
      <p>{t.remove_text}</p>
    </Confirm>
  );
}
