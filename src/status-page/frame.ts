import { createHash } from 'node:crypto';
import { legend } from '../report/html-template.ts';
import { html, Markup, type MarkupValue } from '../report/markup.ts';
import { icons, moment } from '../report/html-words.ts';
import type { PageFrame } from './facts.ts';
import { tabIcon } from './parts.ts';
import { script } from './script.ts';
import { style } from './style.ts';

interface FrameOptions {
  readonly frame: PageFrame;
  readonly state: string;
  /** Of the tab; null: the state. */
  readonly title: string | null;
  readonly main: Markup;
  /** Whether it loads itself again without JavaScript, too. That would empty its forms. */
  readonly reloads?: boolean;
}

/** The frame of every page: complete HTML, kept up to date by its script. */
export const framed = ({ frame, title, state, main, reloads = true }: FrameOptions): string => {
  const { root, version, now } = frame;
  return htmlPage({
    title: title ?? icons[state]?.[1] ?? state,
    state,
    attributes: html` data-version="${version}" data-root="${root}"`,
    head: reloads && html`<noscript><meta http-equiv="refresh" content="30" /></noscript>`,
    body: html`<a class="skip" href="#main">Skip to the state</a>
      <header>
        <h1><a href="${root}">dns-template-sync</a></h1>
        <p id="link" class="link">
          As of
          ${moment(now, frame)}${reloads && html`<noscript>, loads itself again every 30 seconds</noscript>`}
        </p>
      </header>
      <main id="main" tabindex="-1">${main}</main>
      <footer>
        ${legend}
        <p>
          For programs: <a href="${root}api/report">/api/report</a>,
          <a href="${root}api/history">/api/history</a>, <a href="${root}metrics">/metrics</a>
        </p>
      </footer>
      ${new Markup(`<script>${script}</script>`)}`,
  });
};

interface PageOptions {
  readonly title: string;
  readonly state: string;
  readonly attributes?: Markup;
  readonly head: MarkupValue;
  readonly body: Markup;
}

export const htmlPage = ({ title, state, attributes = html``, head, body }: PageOptions): string => {
  const page = html`<!doctype html>
    <html lang="en" ${attributes}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · dns-template-sync</title>
        <link rel="icon" href="${tabIcon(state)}" />
        ${head} ${new Markup(`<style>${style}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`;
  return `${page.source}\n`;
};

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The content security policy of a page: its own style, and forms that post only here. */
export const smallPagePolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Its own script, too. */
export const pagePolicy = `${smallPagePolicy}; script-src ${hashOf(script)}; connect-src 'self'`;
