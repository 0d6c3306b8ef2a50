import { escapeControl } from '../lib/escape-control.ts';
import type { Finding } from './finding.ts';

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
