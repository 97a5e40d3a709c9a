import type { Child } from "hono/jsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

/** Copies `value` to the clipboard; shown only where scripts run. */
export function CopyButton({ ctx, value, what }: { ctx: PageContext; value: string; what?: string }) {
  const t = texts(ctx).common;
  const label = what === undefined ? t.copy : t.copy_what(what);
  return (
    <button type="button" class="copy" data-copy={value} data-copied={t.copied} aria-label={label} title={label}>
      <Icon name="copy" />
      <Icon name="check" />
    </button>
  );
}

interface CodeProps {
  ctx: PageContext;
  /** The text, shown and copied as it is. */
  text: string;
  /** What it is, for the button's name: "command". */
  what?: string | undefined;
  /** A long line, such as an address: it wraps instead of scrolling below the button. */
  wraps?: boolean | undefined;
}

/** A block of text for a terminal or a file, with a copy button. */
export function Code({ ctx, text, what, wraps }: CodeProps) {
  return (
    <div class={wraps === true ? "code wraps" : "code"}>
      <pre tabindex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton ctx={ctx} value={text} {...(what === undefined ? {} : { what })} />
    </div>
  );
}

interface OwnCommandProps {
  ctx: PageContext;
  /** One of the product's own commands: "bun run restore FOLDER". */
  text: string;
  /** How compose runs it: in the running container, or in one of its own while the service is stopped. */
  compose: "exec" | "run --rm";
}

/** A command of the product, as run on the host and in a container; the product does not know which of them applies. */
export function OwnCommand({ ctx, text, compose }: OwnCommandProps) {
  return (
    <>
      <Code ctx={ctx} text={text} wraps />
      <p>{texts(ctx).common.in_container}</p>
      <Code ctx={ctx} text={`docker compose ${compose} tidemark ${text}`} wraps />
    </>
  );
}

/** A sentence with its commands and settings, which are in backquotes, as code. Anything but text is returned unchanged. */
export function withCode(child: Child): Child {
  const parts = typeof child === "string" ? child.split("`") : [];
  if (parts.length < 3 || parts.length % 2 === 0) return child;
  return (
    <>
      {parts.map((part, at) => {
        if (at % 2 === 0) return at === 0 ? part : part.replace(closing, "");
        const [end] = closing.exec(parts[at + 1] ?? "") ?? [];
        if (end === undefined) return <code>{part}</code>;
        return (
          <span class="glued">
            <code>{part}</code>
            {end}
          </span>
        );
      })}
    </>
  );
}

/** What would begin a line after code, which is a box. */
const closing = /^[.,;:!?)…”\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff09]+/;

/** A key of the keyboard. */
export function Key({ children }: { children: Child }) {
  return <kbd>{children}</kbd>;
}
