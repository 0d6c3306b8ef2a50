import { inputs } from './inputs.ts';
import { expanded, type Scenario, type Step } from './notation.ts';
import { command, outputs } from './outputs.ts';
import { closeWorld, openWorld, type World } from './world.ts';

/** A step that says something, with what it has said. */
export type PlayedStep = Step & { readonly said: readonly string[] };

/** Plays its steps. Gives those that say something. */
export const play = async ({ steps }: Scenario): Promise<PlayedStep[]> => {
  const world = await openWorld();
  try {
    const played: PlayedStep[] = [];
    for (const step of steps) {
      const said = await playStep(world, step).catch((error: unknown) => {
        throw new Error(`line ${step.from + 1}, ${step.text}: ${String(error)}`, { cause: error });
      });
      if (said !== null) played.push({ ...step, said });
    }
    const unmet = world.service.unmet().filter((fault) => fault !== 'fine');
    if (unmet.length > 0) throw new Error(`nothing met what was to come: ${unmet.join(' | ')}`);
    return played;
  } finally {
    await closeWorld(world);
  }
};

/** Null where the step says nothing. */
const playStep = async (world: World, { text, lines }: Step): Promise<readonly string[] | null> => {
  const [word = '', ...words] = wordsOf(text);
  if (word === 'known') return know(world, words, lines);
  const input = inputs[word];
  if (!input) return (outputs[word] ?? command)(world, word, words);
  await input(world, words, word === 'text' ? lines : lines.flatMap(expanded), text.slice(word.length + 1));
  return null;
};

/** A template that is as its file says, and that the program knows: service, file and pass in one. */
const know = async (
  world: World,
  words: readonly string[],
  lines: readonly string[],
): Promise<readonly string[]> => {
  const all = lines.flatMap(expanded);
  await inputs['service']?.(
    world,
    words,
    all.filter((line) => !/^[a-z]\w*: /.test(line)),
    '',
  );
  await inputs['file']?.(
    world,
    words.slice(0, 1),
    all.map((line) => line.replace(/^#\d+ /, '')),
    '',
  );
  const said = await command(world, 'apply', []);
  const others = said.filter((line) => !/^(?:\S+ )?in-sync(?: |$)/.test(line));
  if (others.length > 0) throw new Error(`it is not in sync: ${others.join(' | ')}`);
  return lines;
};

/** As a shell splits them. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
