import { createHash } from 'node:crypto';
import { html, Markup } from '../report/markup.ts';
import { moment } from '../report/html-words.ts';
import type { PageFrame } from './facts.ts';
import { icon } from './icon.ts';
import { script } from './script.ts';
import { style } from './style.ts';

interface FrameOptions {
  readonly facts: PageFrame;
  /** The title of the tab. */
  readonly title: string;
  readonly state: string;
  readonly main: Markup;
  /** Whether it loads itself again without JavaScript, too. That would empty its forms. */
  readonly reloads?: boolean;
}

/** The frame of every page: complete HTML, kept up to date by its script. */
export const frame = ({ facts, title, state, main, reloads = true }: FrameOptions): string => {
  const page = html`<!doctype html>
    <html lang="en" data-version="${facts.version}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · dns-template-sync</title>
        <link rel="icon" href="${icon(state)}" />
        ${reloads ? html`<noscript><meta http-equiv="refresh" content="30" /></noscript>` : ''}
        ${new Markup(`<style>${style}</style>`)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the state</a>
        <header>
          <h1><a href="/">dns-template-sync</a></h1>
          <p id="link" class="link">
            As of
            ${moment(facts.now, facts)}${
              reloads ? html`<noscript>, loads itself again every 30 seconds</noscript>` : ''
            }
          </p>
        </header>
        <main id="main" tabindex="-1">${main}</main>
        ${footer} ${new Markup(`<script>${script}</script>`)}
      </body>
    </html>`;
  return `${page.source}\n`;
};

const footer = html`<footer>
  <p>
    <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the
    file does not list; the service cannot delete one. <b>blocked</b>: not written until somebody clears what
    is in the way. <b>skipped</b>: held back by a mode or a limit. <b>@</b>: the subdomain itself.
  </p>
  <p>
    For programs: <a href="/api/report">/api/report</a>, <a href="/api/history">/api/history</a>,
    <a href="/metrics">/metrics</a>
  </p>
</footer>`;

export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The content security policy of the status page: only its own style and script, by their digests. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
