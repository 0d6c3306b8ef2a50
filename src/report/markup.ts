/** HTML that is safe to show. */
export class Markup {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type MarkupValue = string | Markup | readonly Markup[];

/**
 * A piece of a page. Texts are escaped for elements and double-quoted attributes; the template's own indent
 * is removed.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup =>
  new Markup(
    strings.map((part, index) => part.replaceAll(/\s*\n\s*/g, '\n') + sourceOf(values[index] ?? '')).join(''),
  );

const sourceOf = (value: MarkupValue): string => {
  if (typeof value === 'string')
    return value.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
  return value instanceof Markup ? value.source : value.map(sourceOf).join('\n');
};
