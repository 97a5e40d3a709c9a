import type { Locator } from "playwright-core";
import type { Person } from "./browser-person.ts";

/** How somebody uses a page. What it took is counted. */
export interface Hands {
  readonly person: Person;
  readonly effort: { acts: number; fields: number };
  /** A link, a button or a fold. */
  press(target: Locator): Promise<void>;
  write(target: Locator, text: string): Promise<void>;
  choose(target: Locator, label: string): Promise<void>;
}

export function byMouse(person: Person): Hands {
  const effort = { acts: 0, fields: 0 };
  return {
    ...{ person, effort },
    press: async (target) => {
      effort.acts += 1;
      await target.first().click();
    },
    write: async (target, text) => {
      effort.fields += 1;
      await target.first().fill(text);
    },
    choose: async (target, label) => {
      effort.fields += 1;
      await target.first().selectOption({ label });
    },
  };
}

/** More than any page has. */
const mostStops = 200;

/** By nothing but keys: what the Tab key does not reach cannot be used. */
export function byKeyboard(person: Person): Hands {
  const effort = { acts: 0, fields: 0 };
  const { page } = person;
  const reach = async (target: Locator): Promise<void> => {
    await target.first().waitFor();
    for (let stops = 0; stops < mostStops; stops += 1) {
      if (await target.first().evaluate((node) => node === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach ${target} on ${page.url()}`);
  };
  return {
    ...{ person, effort },
    press: async (target) => {
      effort.acts += 1;
      await reach(target);
      await page.keyboard.press("Enter");
    },
    write: async (target, text) => {
      effort.fields += 1;
      await reach(target);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    },
    choose: async (target, label) => {
      effort.fields += 1;
      await reach(target);
      await page.keyboard.type(label);
    },
  };
}
