import { createHash } from 'node:crypto';
import { htmlDocument, legend } from '../report/html.ts';
import { style } from '../report/html-style.ts';
import { html, Markup, type MarkupValue, withMoments } from '../report/markup.ts';
import { script } from './script.ts';
import type { Facts } from './facts.ts';
import type { Visit } from './query.ts';

/** What the parts of a page are made of. */
export type Frame = Facts & Visit;

interface PageOptions {
  /** Of the tab. */
  readonly title: string;
  /** The way to the root of the pages. */
  readonly root: string;
  readonly main: Markup;
  readonly head?: MarkupValue;
  /** Of a page that its script keeps up to date; null: it has none. */
  readonly frame: Frame | null;
}

export const htmlPage = ({ title, root, main, head = null, frame }: PageOptions): string => {
  const page = htmlDocument({
    title: `${title} · dns-template-sync`,
    head: html`<link rel="icon" href="data:," /> ${head}`,
    style,
    attributes: frame && html` data-version="${frame.version}" data-root="${root}"`,
    body: html`<a class="skip" href="#main">Skip to the state</a>
      <header>
        <h1><a href="${root}">dns-template-sync</a></h1>
        ${frame && html`<p id="link" class="link">As of ${at(frame.now)}</p>`}
      </header>
      <main id="main" tabindex="-1">${main}</main>
      ${
        frame &&
        html`<footer>
            ${legend}
            <p>
              For programs: <a href="${root}api/report">/api/report</a>,
              <a href="${root}api/history">/api/history</a>, <a href="${root}metrics">/metrics</a>
            </p>
          </footer>
          ${new Markup(`<script>${script}</script>`)}`
      }`,
  });
  return withMoments(page);
};

/** A moment; the script shows it in the reader's time zone. */
export const at = (ms: number): string => new Date(ms).toISOString();

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The content security policy of all pages: their own style and script, and forms that post only here. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
