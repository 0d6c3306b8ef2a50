import { states, type State } from './row.ts';

/** HTML that is safe to show. */
export class Markup {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Null, undefined and false are nothing. */
export type MarkupValue = string | number | null | undefined | false | Markup | readonly MarkupValue[];

/**
 * A piece of a page. Texts are escaped for elements and double-quoted attributes; the template's own indent
 * is removed.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup => {
  const parts = strings.map((part) => part.replaceAll(/\s*\n\s*/g, '\n').replaceAll('\n>', '>'));
  return new Markup(parts.map((part, index) => part + sourceOf(values[index])).join(''));
};

const sourceOf = (value: MarkupValue): string => {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.source;
  if (typeof value === 'object') return value.map(sourceOf).join('\n');
  return String(value).replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
};

/** Commands and settings of this program that stand between backquotes are to be copied. */
export const withCode = (text: string): Markup =>
  new Markup(html`${text}`.source.replaceAll(copied, '<code>$1</code>'));

const copied = /&#96;(dns-template-sync .*?|surplus: park|adopt: true|ignore)&#96;/g;

export const linked = (text: string, href?: string | null): Markup =>
  href === null || href === undefined ? html`${text}` : html`<a href="${href}">${text}</a>`;

export const stateIcon = (state: State): Markup => {
  const [sign, word, color] = states[state];
  return html`<span class="badge ${color}"><span aria-hidden="true">${sign}</span> ${word}</span>`;
};

/**
 * The source of a page in which ISO 8601 times are elements. Not those in code, which may be values of records, nor in the
 * title.
 */
export const withMoments = ({ source }: Markup): string =>
  source.replaceAll(/(?<!<(?:code|title|\/?mark)\b[^<>]*)>[^<]+/g, (text) =>
    text.replaceAll(
      /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,3})?Z/g,
      '<time datetime="$&">$1 $2 UTC</time>',
    ),
  );
