import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Sample, Scrape } from '../scrape.ts';
import { withTools } from './tools.ts';

export const rulesFile = fileURLToPath(new URL('../../../.github/deploy/alerts.yaml', import.meta.url));

/** What Prometheus sees in a minute: the metrics; `down`: no answer; `gone`: the target is not even known. */
export type Minute = Scrape | 'down' | 'gone';

/** An alert that fires: its name, in which minutes, the first and the last, with which labels, and what it says. */
export interface Fired {
  readonly alert: string;
  readonly first: number;
  readonly last: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** The clock of promtool starts at 1970, and the metrics this much later, as a time of 0 is to be long ago. */
export const startMinute = 60;

/** Throws unless exactly these alerts fire in each minute. */
export const expectAlerts = async (minutes: readonly Minute[], fired: readonly Fired[]): Promise<void> => {
  const rules = await readFile(rulesFile, 'utf8');
  const test = {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: seriesOf(minutes, (name) => rules.includes(name)),
        promql_expr_test: minutes.map((_, minute) => ({
          expr: 'ALERTS{alertstate="firing"}',
          eval_time: `${startMinute + minute}m`,
          exp_samples: fired
            .filter(({ first, last }) => minute >= first && minute <= last)
            .map(({ alert, labels }) => ({
              labels: `ALERTS${labelText({ alertname: alert, alertstate: 'firing', ...labels })}`,
              value: 1,
            })),
        })),
        alert_rule_test: fired.map(({ alert, first }) => ({
          alertname: alert,
          eval_time: `${startMinute + first}m`,
          exp_alerts: fired
            .filter((one) => one.alert === alert && first >= one.first && first <= one.last)
            .map(({ labels, summary }) => ({ exp_labels: labels, exp_annotations: { summary } })),
        })),
      },
    ],
  };
  // YAML includes JSON.
  await run(['test', 'rules'], JSON.stringify(test));
};

const target = { instance: 'dns-1:8053', job: 'dns-template-sync' };

interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** What ends becomes stale at once, as where Prometheus scrapes it. */
const seriesOf = (minutes: readonly Minute[], isNeeded: (name: string) => boolean): InputSeries[] => {
  const found = new Map<string, (number | undefined)[]>();
  const put = ({ name, labels, value }: Sample, minute: number): void => {
    const series = `${name}${labelText({ ...labels, ...target })}`;
    const values = found.get(series) ?? minutes.map(() => undefined);
    values[minute] = value;
    found.set(series, values);
  };
  for (const [minute, seen] of minutes.entries()) {
    if (seen !== 'gone') put({ name: 'up', labels: {}, value: seen === 'down' ? 0 : 1 }, minute);
    if (typeof seen === 'string') continue;
    for (const sample of seen.samples) if (isNeeded(sample.name)) put(sample, minute);
  }
  return [...found].map(([series, values]) => {
    const words = values.map((value, at) => value ?? (values[at - 1] === undefined ? '_' : 'stale'));
    return { series, values: `_x${startMinute} ${words.join(' ')}` };
  });
};

const labelText = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}}`;

/** Throws for rules that Prometheus would not read. */
export const checkRules = (text: string): Promise<void> => run(['check', 'rules'], text);

/** Throws unless Prometheus would start with this configuration and the rules beside it. */
export const checkConfig = (text: string): Promise<void> => run(['check', 'config'], text);

const run = async (command: readonly string[], content: string): Promise<void> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'promtool-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await copyFile(rulesFile, path.join(directory, path.basename(rulesFile)));
  const file = path.join(directory, 'content.yaml');
  await writeFile(file, content);
  await promisify(execFile)('promtool', [...command, file], { env: withTools(), maxBuffer: 2 ** 24 });
};
