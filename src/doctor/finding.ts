import { escapeControl } from '../lib/escape-control.ts';

/** One line of the result. `problem`: it cannot work, or would write wrongly, until that is changed. */
export interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
}

/** What a part of the examination has found. */
export interface Found {
  readonly findings: readonly Finding[];
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
  /** What is set now, as a file. */
  readonly settings: string;
}

const signs = { ok: '✓', note: '!', problem: '✗' } as const;

/** One screen: a line for each finding, then the settings file. */
export const asText = ({ version, node, client, status, findings, settings }: Examination): string => {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.map(({ about, state, text }, index) => {
    const title = findings[index - 1]?.about === about ? '' : about;
    return `${signs[state]} ${title.padEnd(width)}  ${escapeControl(text)}`;
  });
  return [
    `dns-template-sync ${version}, Node.js ${node}, client ${client}`,
    ...lines,
    '',
    `The settings ${status === 'ok' ? 'fit' : 'may be the problem'}. As a file:`,
    '',
    ...settings.split('\n').map((line) => escapeControl(line)),
  ]
    .map((line) => `${line}\n`)
    .join('');
};
