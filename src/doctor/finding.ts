import type { Dialect } from '../model/dialect.ts';
import { escapeControl } from '../lib/escape-control.ts';

/** One line of the result. `problem`: it cannot work, or would write wrongly, until that is changed. */
export interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
}

/** `settle` as in a settings file. */
export type ToSet = Partial<Dialect> & { readonly settle?: string };

/** What a part of the examination has found, and what is to set. */
export interface Found {
  readonly findings: readonly Finding[];
  readonly set?: ToSet;
}

/** Makes findings about one thing. */
export const findingsAbout = (about: string) => {
  const all: Finding[] = [];
  const add = (state: Finding['state']) => (text: string) => void all.push({ about, state, text });
  return { all, ok: add('ok'), note: add('note'), problem: add('problem') };
};

/** What `doctor` found of one client; as JSON, this is the format. */
export interface Examination {
  readonly schema: 'dns-template-sync/doctor/v1';
  readonly version: string;
  readonly node: string;
  readonly client: string;
  readonly status: 'ok' | 'problem';
  readonly findings: readonly Finding[];
  /** Settings that differ from what is set now. */
  readonly set: Readonly<Record<string, string>>;
  /** The settings file that fits. */
  readonly settings: string;
}

const signs = { ok: '✓', note: '!', problem: '✗' } as const;

/** One screen: a line for each finding, then the settings file. */
export const asText = ({ version, node, client, status, findings, set, settings }: Examination): string => {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.map(({ about, state, text }, index) => {
    const title = findings[index - 1]?.about === about ? '' : about;
    return `${signs[state]} ${title.padEnd(width)}  ${escapeControl(text)}`;
  });
  const changes = Object.entries(set).map(([key, value]) => `${key}: ${value}`);
  return [
    `dns-template-sync ${version}, Node.js ${node}, client ${client}`,
    ...lines,
    '',
    changes.length > 0
      ? `To set: ${changes.join(', ')}. The settings file:`
      : `The settings ${status === 'ok' ? 'fit' : 'are not the problem'}. As a file:`,
    '',
    ...settings.split('\n').map((line) => escapeControl(line)),
  ]
    .map((line) => `${line}\n`)
    .join('');
};
