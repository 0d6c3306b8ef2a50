import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { html, type Markup } from '../report/markup.ts';
import type { PassEntry } from './facts.ts';

/** The signs and words that all parts of the page use. A state is told by colour, by shape and by word. */

export const signs: Readonly<Record<string, readonly [shape: string, word: string, color?: string]>> = {
  'in-sync': ['●', 'in sync'],
  pending: ['○', 'pending'],
  drifted: ['◆', 'drifted'],
  held: ['■', 'held'],
  failed: ['▲', 'failed'],
  healthy: ['●', 'healthy', 'in-sync'],
  starting: ['○', 'starting', 'pending'],
  failing: ['▲', 'failing', 'failed'],
  denied: ['✕', 'denied', 'failed'],
  applied: ['●', 'applied', 'in-sync'],
  unknown: ['?', 'outcome unknown', 'failed'],
  duplicate: ['◆', 'stored twice', 'drifted'],
};

export const sign = (state: string): Markup => {
  const [shape, word, color = state] = signs[state] ?? ['', state];
  return html`<span class="badge ${color}"><span aria-hidden="true">${shape}</span> ${word}</span>`;
};

/** A moment in UTC: the time of today, or else with its date. The page's script adds how long it is from now. */
export const moment = (at: number, now: number): Markup => {
  const iso = new Date(at).toISOString();
  const day = iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? '' : `${iso.slice(0, 10)} `;
  return html`<time datetime="${iso}">${day}${iso.slice(11, 19)} UTC</time>`;
};

/** Milliseconds as people say them. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
};

const reasons: Readonly<Record<PassEntry['trigger'], string>> = {
  startup: 'the program started',
  schedule: 'on schedule',
  'file-change': 'a file changed',
  request: 'on request',
  command: 'by a command',
};

export const reasonOf = (trigger: PassEntry['trigger']): string => reasons[trigger] ?? escapeControl(trigger);

/** What is not on the page, and where it is. */
export const rest = (count: number, noun: string, address: string): Markup | string =>
  count <= 0
    ? ''
    : html`<p class="rest">
        and ${plural(count, noun)} more, all of them in <a href="${address}">${address}</a>
      </p>`;
