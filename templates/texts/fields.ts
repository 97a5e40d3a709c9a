import type { FieldDescription } from "../../src/forms/fields.ts";
import { endSentence } from "../format.ts";
import type { Language } from "../page.ts";
import { fields as en } from "./en/fields.ts";
import { fields as zh } from "./zh/fields.ts";

/** The words of one form field in one language; missing ones come from the schema, in English. */
export interface FieldWords {
  title?: string;
  /** `{placeholder}` stands for the field's, which may depend on another field. */
  description?: string;
  placeholder?: string;
  /** One entry of a list, for "Add source". */
  item?: string;
  /** Titles of the options by value. */
  options?: Readonly<Record<string, string>>;
}

/**
 * By `<area>.<path>` without list positions (`trackers.sources.key`), or by the bare name (`description`) when it means the same
 * everywhere. The longer key wins.
 */
export type FieldDictionary = Readonly<Record<string, FieldWords>>;

const dictionaries: Readonly<Record<Language, FieldDictionary>> = { en, zh };

/** The words of a field in the page's language. */
export function fieldWords(
  language: Language,
  area: string,
  field: FieldDescription,
): Required<Omit<FieldWords, "options">> & { options: FieldDescription["options"] } {
  const words = { ...dictionaries[language][field.name], ...dictionaries[language][fieldKey(area, field)] };
  return {
    title: words.title ?? field.title,
    // Fields with one name belong to different kinds, and only some of them need help.
    description:
      field.description === ""
        ? ""
        : endSentence(language, words.description?.replace("{placeholder}", field.placeholder) ?? field.description),
    placeholder: words.placeholder ?? field.placeholder,
    item: words.item ?? words.title ?? field.title,
    options: field.options.map((option) => ({ ...option, title: words.options?.[option.value] ?? option.title })),
  };
}

/** A field of no particular form. */
export function fieldWord(ctx: { language: Language }, name: string): string {
  return dictionaries[ctx.language][name]?.title ?? name.replaceAll("_", " ");
}

function fieldKey(area: string, field: FieldDescription): string {
  return `${area}.${field.path.replaceAll(/\.\d+(?=\.|$)/g, "")}`;
}

/** Fields, including nested ones, without a Chinese title: each form's test asserts that there are none. */
export function untranslatedFields(area: string, fields: readonly FieldDescription[]): readonly string[] {
  return fields.flatMap((field) => {
    const key = fieldKey(area, field);
    const isKnown = zh[key]?.title !== undefined || zh[field.name]?.title !== undefined;
    const isExplained =
      field.description === "" || zh[key]?.description !== undefined || zh[field.name]?.description !== undefined;
    const nested = field.kind === "list" ? [field.children] : [field.children, ...field.entries];
    return [
      ...(isKnown && isExplained ? [] : [key]),
      ...nested.flatMap((children) => untranslatedFields(area, children)),
    ];
  });
}
