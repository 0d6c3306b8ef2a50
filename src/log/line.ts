/** One line of the log. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly msg?: unknown;
  readonly err?: unknown;
}

export const parseLine = (line: string): Line => JSON.parse(line);
