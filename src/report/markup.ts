/** HTML that is safe to show. */
export class Markup {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Null and false are nothing. */
export type MarkupValue = string | number | null | false | Markup | readonly MarkupValue[];

/**
 * A piece of a page. Texts are escaped for elements and double-quoted attributes; the template's own indent
 * is removed.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup => {
  const parts = strings.map((part) => part.replaceAll(/\s*\n\s*/g, '\n').replaceAll('\n>', '>'));
  return new Markup(parts.map((part, index) => part + sourceOf(values[index] ?? null)).join(''));
};

const sourceOf = (value: MarkupValue): string => {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.source;
  if (typeof value === 'object') return value.map(sourceOf).join('\n');
  return String(value).replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
};

/** Without line breaks between them. */
export const joined = (parts: readonly Markup[]): Markup =>
  new Markup(parts.map(({ source }) => source).join(''));
