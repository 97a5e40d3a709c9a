import type { Child } from "hono/jsx";
import { LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import type { IconName } from "../components/icons.ts";
import { Link } from "../components/link.tsx";
import { Names } from "../components/names.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import type { Decidable } from "../executors/actions.tsx";
import type { Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Members of a cause that are named before it is unfolded. */
const namedMembers = 5;

/** An executor about which nothing was decided: once something is, its row leaves this queue. */
export const undecided: Omit<Decidable, "id"> = {
  is_enabled: true,
  trigger: "manual",
  held_since: null,
  snoozed_until: null,
  update_revision: null,
  is_version_skipped: false,
  dismissible_run_id: null,
};

type RowProps = Parameters<typeof Row>[0];

interface NeedProps extends Pick<RowProps, "ctx" | "title" | "fact" | "meta"> {
  id: string;
  href: string;
  tone: Tone;
  icon?: IconName | undefined;
  /** The problem in a word. */
  word: string;
  /** The button's label. */
  verb: string;
  /** Where the button leads, when that is not `href`. */
  action_href?: string;
  is_first?: boolean;
  opens_dialog?: boolean;
  /** Beside the button. */
  more?: Child;
}

/** One row; the first has the page's main button. */
export function Need({
  ctx,
  id,
  href,
  tone,
  icon,
  word,
  verb,
  action_href,
  is_first,
  opens_dialog,
  more,
  ...row
}: NeedProps) {
  return (
    <Row
      ctx={ctx}
      id={`need-${id}`}
      href={href}
      lead={
        <State ctx={ctx} tone={tone} icon={icon}>
          {word}
        </State>
      }
      {...row}
      action={
        <>
          <LinkButton
            ctx={ctx}
            href={action_href ?? href}
            kind={is_first === true ? "main" : "plain"}
            opens_dialog={opens_dialog}
          >
            {verb}
          </LinkButton>
          {more}
        </>
      }
    />
  );
}

interface SharedNeedProps<Member> extends Pick<RowProps, "ctx" | "title" | "meta" | "action"> {
  tone: Tone;
  word: string;
  /** Those that are listed. */
  members: readonly Member[];
  /** However many are listed. */
  total: number;
  /** Where the others are. */
  more_href: string;
  /** What differs from member to member. */
  row: (member: Member) => Omit<RowProps, "ctx" | "id" | "title">;
}

/** Several with one cause: the cause once, the first of them by name, and each of them where they are unfolded. */
export function SharedNeed<Member extends { executor_id: string; executor: string }>(props: SharedNeedProps<Member>) {
  const { ctx, tone, word, members, total, more_href, row, ...cause } = props;
  const t = texts(ctx).overview;
  const id = members[0]?.executor_id;
  const named = members.slice(0, namedMembers).map(({ executor }) => executor);
  return (
    <Row
      ctx={ctx}
      id={`need-cause-${id}`}
      lead={
        <State ctx={ctx} tone={tone}>
          {word}
        </State>
      }
      fact={t.executors_affected(total)}
      {...cause}
    >
      <details class="unfolds" id={`members-${id}`}>
        <summary>
          <Icon name="chevron-right" />
          <span>
            <Names ctx={ctx} names={named} more={total - named.length} />
          </span>
        </summary>
        <Rows>
          {members.map((member) => (
            <Row ctx={ctx} id={`need-${member.executor_id}`} title={member.executor} {...row(member)} />
          ))}
        </Rows>
        {total === members.length ? null : (
          <p class="meta">
            <Link ctx={ctx} href={more_href}>
              {t.more(total - members.length)}
            </Link>
          </p>
        )}
      </details>
    </Row>
  );
}
