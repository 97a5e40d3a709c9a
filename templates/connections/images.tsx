import { imageReasons, namesOf, type UnusedImageView } from "../../src/connections/images-schema.ts";
import type { ConnectionView } from "../../src/connections/schema.ts";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { ListBody, type ListProps } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { RowFacts } from "../components/row-facts.tsx";
import type { SelectionBarProps } from "../components/selection.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Digest, Reference } from "../components/version.tsx";
import { formatBytes } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { type AskedConnection, AskedSection, type Found } from "./asked-section.tsx";

/** A page of the images, beside how many there are of them, and of others. */
interface ListedImages {
  page: ListProps<UnusedImageView>;
  count: number;
  others: number;
}

/** `none`: the runtime has no images. */
export type FoundImages = Found<ListedImages> | "none";

interface UnusedImagesProps {
  ctx: PageContext;
  connection: AskedConnection;
  found: FoundImages;
}

const partId = "images";

/** Where the selected images are removed. */
export function removalPath({ id }: Pick<ConnectionView, "id">): string {
  return `/connections/${id}/images/remove`;
}

/** How many are removed at once. */
export const maxRemoved = 200;

/** Images of a connection that no container uses; loads once the page is open. */
export function UnusedImages({ ctx, connection, found }: UnusedImagesProps) {
  const t = texts(ctx).images;
  // What asked for it is replaced by it.
  if (found === "none") return <div id={partId} />;
  return (
    <AskedSection
      ctx={ctx}
      id={partId}
      connection={connection}
      title={t.title}
      found={found}
      words={{ asking: t.looking, show: t.show, again: t.again, failed: t.failed }}
      lead={({ count }) => t.lead(count)}
      draw={(list) => (
        <>
          {list.count === 0 ? (
            <Banner tone="quiet" title={t.none}>
              {t.none_text}
            </Banner>
          ) : (
            <ImageList connection={connection} {...list.page} />
          )}
          <p class="quiet">
            {list.count === 0 ? null : t.text} {list.others === 0 ? null : t.others(list.others)}
          </p>
        </>
      )}
    />
  );
}

function ImageList({ connection, ...list }: ListProps<UnusedImageView> & Pick<UnusedImagesProps, "connection">) {
  const { ctx } = list;
  const t = texts(ctx).images;
  const columns = [
    { key: "image", title: texts(ctx).common.image, grows: true, sort: "reference" },
    { key: "why", title: t.why, grows: true, leads: true, sort: "reason" },
    { key: "age", title: t.age, align: "end", sort: "-time" },
    { key: "size", title: texts(ctx).common.size, align: "end", card_label: "none", sort: "-size" },
  ] as const satisfies Column[];
  const rows = list.items.map((image) => {
    const cells = {
      image: <ImageName ctx={ctx} image={image} />,
      why: <Reason ctx={ctx} image={image} />,
      age: image.created_at === null ? <span class="quiet">–</span> : <Time ctx={ctx} at={image.created_at} />,
      size: formatBytes(ctx.language, image.size_bytes),
    };
    const name = imageWords(image);
    return {
      id: `image-${image.id.replace(/[^A-Za-z0-9]/g, "-")}`,
      muted: image.reason === "needed",
      choice: image.reason === "needed" ? undefined : { value: image.id, label: texts(ctx).selection.choose(name) },
      cells,
      actions: (
        <RowFacts
          ctx={ctx}
          of={name}
          items={columns.map(({ key, title }) => [
            title,
            key === "image" ? <ReferenceLines ctx={ctx} image={image} /> : cells[key],
          ])}
        />
      ),
    };
  });
  return (
    <ListBody
      {...list}
      id="image-list"
      part={partId}
      is_section
      caption={t.title}
      search_label={t.filter_text}
      filters={[{ name: "reason", title: t.why, options: imageReasons.map((value) => [value, t.reasons[value]]) }]}
      selection={selectionOf(list, connection)}
      table={{ columns, rows }}
    />
  );
}

/** None if no image that matches the filters can be removed. */
function selectionOf(
  { ctx, next_cursor, is_first_page, asked, counts }: ListProps<UnusedImageView>,
  connection: Pick<ConnectionView, "id">,
): Omit<SelectionBarProps, "ctx"> | undefined {
  const { needed = 0, "": all = 0, ...others } = counts.reason ?? {};
  const { reason } = asked.filters;
  const removable = reason === undefined ? all - needed : (others[reason] ?? 0);
  if (removable === 0) return undefined;
  const isWhole = is_first_page && next_cursor === null;
  return {
    form: "images-selection",
    action: removalPath(connection),
    buttons: [{ name: "remove", word: texts(ctx).images.remove, icon: "trash" }],
    more: [],
    matching: isWhole || removable > maxRemoved ? null : removable,
  };
}

/** An image's name: its first tag, else its ID. */
function imageWords(image: UnusedImageView): string {
  return namesOf(image)[0] ?? image.id.replace(/^sha256:/, "").slice(0, 12);
}

/** One line: its first name, and how many more it has. */
function ImageName({ ctx, image }: { ctx: PageContext; image: UnusedImageView }) {
  const [first, ...more] = namesOf(image);
  if (first === undefined) return <Untagged ctx={ctx} image={image} />;
  return (
    <>
      <NameLine ctx={ctx} name={first} />{" "}
      {more.length === 0 ? null : (
        <span class="quiet plain" title={more.join("\n")}>
          +{more.length}
        </span>
      )}
    </>
  );
}

/** All its names. */
function ReferenceLines({ ctx, image }: { ctx: PageContext; image: UnusedImageView }) {
  const names = namesOf(image);
  if (names.length === 0) return <Untagged ctx={ctx} image={image} />;
  return (
    <>
      {names.map((name) => (
        <div>
          <NameLine ctx={ctx} name={name} />
        </div>
      ))}
    </>
  );
}

function Untagged({ ctx, image }: { ctx: PageContext; image: UnusedImageView }) {
  return (
    <>
      <span class="quiet">{texts(ctx).images.untagged}</span> <Digest ctx={ctx} value={image.id} />
    </>
  );
}

function NameLine({ ctx, name: reference }: { ctx: PageContext; name: string }) {
  const [name = "", digest] = reference.split("@");
  return (
    <>
      <Reference>{name}</Reference> {digest === undefined ? null : <Digest ctx={ctx} value={digest} />}
    </>
  );
}

function Reason({ ctx, image }: { ctx: PageContext; image: UnusedImageView }) {
  const t = texts(ctx).images;
  const users = new Map(image.named_by.map((user) => [user.executor_id, user.executor]));
  if (users.size === 0) return <>{t.reasons[image.reason]}</>;
  return (
    <span>
      {t.needed(image.named_by.length)}{" "}
      {[...users].map(([id, name], index) => (
        <>
          {index === 0 ? "" : ", "}
          <Link ctx={ctx} href={`/executors/${id}`}>
            {name}
          </Link>
        </>
      ))}
    </span>
  );
}

interface ImageRemoveProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "id" | "name">;
  selected: readonly UnusedImageView[];
  /** The list's address. */
  back: string;
}

/** What is removed, and how much space that frees. */
export function ImageRemove({ ctx, connection, selected, back }: ImageRemoveProps) {
  const t = texts(ctx).images;
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
      action={`${removalPath(connection)}/confirmed`}
      fields={{ images: selected.map((image) => image.id).join(" "), next: back }}
      cancel_href={back}
    >
      <Facts wide items={[[t.freed, formatBytes(ctx.language, size)]]} />
      <p>{t.remove_text}</p>
      <ul class="sentences">
        {selected.map((image) => (
          <li>
            <ReferenceLines ctx={ctx} image={image} />
          </li>
        ))}
      </ul>
    </Confirm>
  );
}
