import type { FieldErrors } from "../../src/errors.ts";
import type { Message } from "../../src/messages/message.ts";
import { FieldError, Help, Refusals } from "../components/field.tsx";
import { Revealed } from "../components/reveal.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface PasswordFieldProps {
  ctx: PageContext;
  name: string;
  title: string;
  /** What password managers fill in: the stored password, or a new one. */
  autocomplete: "current-password" | "new-password";
  error?: Message | undefined;
  help?: string | undefined;
  autofocus?: boolean | undefined;
}

/** The user name for password managers, in forms without such a field. */
export function PasswordOwner({ ctx }: { ctx: PageContext }) {
  return (
    <input
      class="hidden"
      type="text"
      name="username"
      value={ctx.user?.name ?? ""}
      autocomplete="username"
      tabindex={-1}
      readonly
      aria-label={texts(ctx).auth.user_name}
    />
  );
}

/** A password that can be shown while typing, in place of a second field. Never filled in. */
export function PasswordField(props: PasswordFieldProps) {
  const { ctx, name, title, error, help } = props;
  const id = `f-${name}`;
  const described = [error === undefined ? "" : `${id}-error`, help === undefined ? "" : `${id}-help`].join(" ").trim();
  return (
    <div class="field">
      <label for={id} id={`${id}-label`}>
        {title}
      </label>
      <Revealed ctx={ctx} described_by={`${id}-label`}>
        <input
          class="input"
          type="password"
          id={id}
          name={name}
          required
          autocomplete={props.autocomplete}
          autocapitalize="none"
          spellcheck={false}
          autofocus={props.autofocus === true || error !== undefined}
          aria-describedby={described === "" ? undefined : described}
          aria-invalid={error === undefined ? undefined : "true"}
        />
      </Revealed>
      <FieldError ctx={ctx} id={`${id}-error`} message={error} />
      <Help id={`${id}-help`} text={help ?? ""} />
    </div>
  );
}

interface CurrentPasswordProps {
  ctx: PageContext;
  errors: FieldErrors;
  autofocus?: boolean;
}

/** Asks for the password again and shows above why it was refused. */
export function CurrentPassword({ ctx, errors, autofocus }: CurrentPasswordProps) {
  return (
    <>
      <Refusals ctx={ctx} errors={errors} shown={["current_password"]} />
      <PasswordField
        ctx={ctx}
        name="current_password"
        title={texts(ctx).auth.current_password}
        autocomplete="current-password"
        error={errors.current_password}
        autofocus={autofocus}
      />
    </>
  );
}
