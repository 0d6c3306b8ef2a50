/*
 * A scenario is a title at the margin, and its steps below it, indented by two. What belongs to a step follows it,
 * indented by four; or after a colon in the same line, separated by ` | `. How a command with more lines ends stands after
 * the colon as well. Lines that begin with # are comments.
 *
 *   An add whose answer is lost is not sent again
 *     known: @ A 192.0.2.1
 *     file: @ A 192.0.2.1 | www A 192.0.2.2
 *     next add: done, no answer
 *     apply: + www A 192.0.2.2 [edited] | in-sync 2
 *     truth: #1 @ A 192.0.2.1 | #2 www A 192.0.2.2
 *
 * Some steps change something (inputs.ts): `service`, `file`, `somebody`, `next`, `every`, `nature`, `wait`. The others say
 * something, and what they say is expected as it stands there (outputs.ts): a command of the program, `truth`, `reads`.
 *
 * A record is name, TTL if one is stated, type, priority, content; at the service it has an id before it, and 3600 s where
 * no TTL is said. What becomes of it has the signs of a plan: + added, ~ changed, » parked, ? surplus, ! blocked; then its
 * cause if that is known, and its outcome if it was not simply written. A template ends with its status and how many
 * records are in sync, a command with its exit code if that is not 0.
 */

export interface Scenario {
  readonly title: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly text: string;
  /** What belongs to it, or what it is expected to say. */
  readonly lines: readonly string[];
  /** Where it stands in its file; the lines from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
}

export const parseScenarios = (text: string): Scenario[] => {
  const scenarios: { title: string; steps: (Step & { lines: string[]; ends: string[]; to: number })[] }[] =
    [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const steps = scenarios.at(-1)?.steps;
    const to = at + 1;
    if (!line.startsWith(' ')) scenarios.push({ title: line, steps: [] });
    else if (line.startsWith('    ')) {
      const step = steps?.at(-1);
      if (!step) throw new Error(`line ${to} belongs to no step: ${line}`);
      step.lines.push(line.slice(4));
      step.to = to;
    } else {
      const [, step = '', rest] = /^ {2}(\S.*?)(?:: (.*))?$/.exec(line) ?? [];
      if (step === '' || !steps) throw new Error(`line ${to} is no step: ${line}`);
      steps.push({ text: step, lines: [], ends: rest?.split(' | ') ?? [], from: at, to });
    }
  }
  return scenarios.map(({ title, steps }) => ({
    title,
    steps: steps.map(({ lines, ends, ...step }) => ({ ...step, lines: [...lines, ...ends] })),
  }));
};

/** `h[1-3] A 192.0.2.[11-13]` is three lines: ranges count together. */
export const expanded = (line: string): string[] => {
  const ranges = [...line.matchAll(/\[(\d+)-(\d+)\]/g)].map(
    ([, from, to]) => [Number(from), Number(to)] as const,
  );
  const [first] = ranges;
  if (!first) return [line];
  return Array.from({ length: first[1] - first[0] + 1 }, (_, at) =>
    line.replaceAll(/\[(\d+)-\d+\]/g, (__, from: string) => String(Number(from) + at)),
  );
};

/** A step as it is written: in one line if it is short. */
export const formatStep = (text: string, lines: readonly string[]): string => {
  if (lines.length === 0) return `  ${text}`;
  const short = `  ${text}: ${lines.join(' | ')}`;
  if (short.length <= 110) return short;
  const end = lines.findLastIndex((line) => !/^exit \d+$/.test(line)) + 1;
  const head = [text, ...lines.slice(end)].join(': ');
  return [`  ${head}`, ...lines.slice(0, end).map((line) => `    ${line}`)].join('\n');
};

/** The text of a file, with what steps have said in place of what they were to say. */
export const rewritten = (
  text: string,
  steps: readonly (Step & { readonly said: readonly string[] })[],
): string => {
  const lines = text.split('\n');
  for (const { text: step, from, to, said } of steps.toSorted((a, b) => b.from - a.from))
    lines.splice(from, to - from, formatStep(step, said));
  return lines.join('\n');
};
