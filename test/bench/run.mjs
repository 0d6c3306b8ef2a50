// npm run bench -- NAME [OPTIONS]: runs the measure of that name, test/bench/NAME.mjs, on the built program.
// A measure exports `measure(args)`, which prints what it found and resolves to the exit code.
import { readdirSync } from 'node:fs';

const frame = new Set(['run.mjs', 'children.mjs', 'faulty-front.mjs', 'statistics.mjs']);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.mjs') && !frame.has(file))
  .map((file) => file.replace('.mjs', ''));
const [name, ...args] = process.argv.slice(2);
if (names.includes(name)) {
  const { measure } = await import(`./${name}.mjs`);
  process.exitCode = await measure(args);
} else {
  process.stderr.write(`npm run bench -- NAME, with one of these names: ${names.join(', ')}\n`);
  process.exitCode = 1;
}
