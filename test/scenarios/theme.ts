import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { formatStep, parseScenarios, rewritten, type Scenario } from './notation.ts';
import { play, type PlayedStep } from './play.ts';

/** With `SCENARIOS=write` what is said takes the place of what is expected: read the difference before you keep it. */
const isWriting = process.env['SCENARIOS'] === 'write';

/** A test for each scenario of a file, which is played by the program if nothing else is said. */
export const playTheme = (
  name: string,
  playOne: (scenario: Scenario) => PlayedStep[] | Promise<PlayedStep[]> = play,
): void => {
  const file = path.resolve(import.meta.dirname, name);
  const text = readFileSync(file, 'utf8');
  const said: PlayedStep[] = [];
  afterAll(() => {
    if (isWriting) writeFileSync(file, rewritten(text, said));
  });

  const scenarios = parseScenarios(text).map((scenario) => [scenario.title, scenario] as const);
  it.each(scenarios)('%s', async (_, scenario) => {
    const played = await playOne(scenario);
    said.push(...played);
    if (isWriting) return;
    const heard = new Map(played.map((step) => [step.from, step.said]));
    const asText = (linesOf: (step: (typeof scenario.steps)[number]) => readonly string[]): string =>
      scenario.steps.map((step) => formatStep(step.text, linesOf(step))).join('\n');
    expect(asText(({ from, lines }) => heard.get(from) ?? lines)).toBe(asText(({ lines }) => lines));
  });
};
