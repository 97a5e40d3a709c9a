import { Icon } from "./icon.tsx";

/** The number of entries from which a search field is shown. */
export const searchedFrom = 9;

interface FindProps {
  label: string;
  /** Selects what has the entries, each with the words that it is found by as `data-found`. */
  within: string;
  /** What Enter does, if anything. */
  enter?: string | undefined;
}

/** Hides what does not match in the page itself, so only where scripts run. */
export function Find({ label, within, enter }: FindProps) {
  return (
    <label class="field-search scripted">
      <Icon name="search" />
      <input type="search" placeholder={label} aria-label={label} title={enter} data-find={within} />
      {enter === undefined ? null : (
        <span class="key" aria-hidden="true">
          ↵
        </span>
      )}
    </label>
  );
}
