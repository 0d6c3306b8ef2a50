// npm run test:mutants [-- TEXT...]: breaks one rule after the other, as mutations.txt says, and looks whether the judge
// finds it in three seconds of rounds, or in the world that is named; with TEXT only the lines that hold one of the texts.
// Ends with 1 where a break is not found, or its text is not there.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { answerOf, bundleTo } from './bundle.mjs';

const root = path.resolve(import.meta.dirname, '../..');
/** Of processor time. */
const seconds = Number(process.env.MUTANT_SECONDS ?? 3);
/** Ms for a break that lets the program run for ever. */
const patience = 120_000;

const readMutations = () =>
  readFileSync(path.join(import.meta.dirname, 'mutations.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [what, file, from, to, world] = line.split(' | ');
      return { line, what, file, from, to, world };
    });

const main = async () => {
  const texts = process.argv.slice(2);
  const chosen = readMutations().filter(
    ({ line }) => texts.length === 0 || texts.some((text) => line.includes(text)),
  );
  let missed = 0;
  for (const mutation of chosen) {
    const found = await examine(mutation);
    if (!found) missed += 1;
    process.stdout.write(`${found ? 'found    ' : 'NOT FOUND'} ${mutation.what}${found && `: ${found}`}\n`);
  }
  process.stdout.write(`${chosen.length} breaks, ${missed} not found\n`);
  if (missed > 0) process.exitCode = 1;
};

const examine = async ({ file, from, to, world, what }) => {
  const broken = path.join(root, file);
  const text = readFileSync(broken, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`not once in ${file}: ${from} (${what})`);
  const place = mkdtempSync(path.join(root, 'node_modules/.mutant-'));
  try {
    const bundle = path.join(place, 'worker.mjs');
    await bundleTo(
      bundle,
      broken,
      text.replace(from, () => to),
    );
    const how = world === undefined ? ['rounds', `${seconds}`] : ['world', world];
    return await answerOf(bundle, how, { timeout: patience });
  } catch (error) {
    if (error.killed) return 'it runs for ever';
    throw error;
  } finally {
    rmSync(place, { recursive: true });
  }
};

await main();
