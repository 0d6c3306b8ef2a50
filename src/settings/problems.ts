import { UserError } from '../errors.ts';
import type { Problem } from '../model/template.ts';

/** Settings that cannot be used; `problems` has a line for each, with its place. */
export class SettingsError extends UserError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const title = `${problems.length} problems in the settings:`;
    super(problems.length === 1 ? problems.join('') : [title, ...problems].join('\n- '));
    this.problems = problems;
  }
}

/** All problems, so that one run shows them all: a line each, such as `--listen: …`. They may hold secrets. */
export type Problems = Set<string>;

/** Adds what is wrong with a setting, if anything is; its message names the place. */
export const attempt = (problems: Problems, task: () => unknown): void => {
  try {
    task();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.add(error.message);
  }
};

/** What is wrong with the file of a client; may hold secrets. Of no client if a path leads to no file. */
export type ClientProblem = Problem & { readonly client: string };

/** A line such as `clients/acme.yaml:3:7: mode: …`, with its place apart if that is in the file. */
export const settingsProblem = (client: string, file: string | null, line: string): ClientProblem => {
  const problem = { severity: 'error', check: 'settings', client } as const;
  if (file === null || !line.startsWith(`${file}:`))
    return { ...problem, message: line, file: null, line: null, column: null };
  const text = line.slice(file.length + 1).trimStart();
  const [, row, column, message] = /^(\d+):(\d+): (.*)$/s.exec(text) ?? [];
  if (message === undefined) return { ...problem, message: text, file, line: null, column: null };
  return { ...problem, message, file, line: Number(row), column: Number(column) };
};
