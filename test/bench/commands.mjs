import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { built } from './children.mjs';
import { median } from './statistics.mjs';
import { withWorld } from './world.mjs';

/** Milliseconds of one process from its start to its end. Throws where it fails. */
const timed = async (args, { env = {}, cwd = process.cwd() } = {}) => {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let told = '';
  child.stdio[3].on('data', (chunk) => (told += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
  return { ms: performance.now() - started, told: told === '' ? null : JSON.parse(told) };
};

const bare = ['-e', '0'];

/** The program's command beside bare node, in turns, so that both see the same machine. */
export const besideBareNode = async (args, place, rounds) => {
  const [nodes, commands] = [[], []];
  await timed([built, ...args], place);
  for (let round = 0; round < rounds; round += 1) {
    nodes.push((await timed(bare)).ms);
    commands.push((await timed([built, ...args], place)).ms);
  }
  const [node, command] = [median(nodes), median(commands)];
  return { value: command / node, nodeMs: node, commandMs: command };
};

/** A plan beside bare node and what parsing alone takes: `yaml` of the files, JSON of the listing. */
export const planBesideParsing = (size, rounds) =>
  withWorld(size, async ({ cwd, folder, env, service }) => {
    const [bases, commands] = [[], []];
    const parse = [`${import.meta.dirname}/parse-only.mjs`, folder, service.url];
    for (let round = 0; round < rounds; round += 1) {
      const { yaml, json } = (await timed(parse)).told;
      bases.push((await timed(bare)).ms + yaml + json);
      commands.push((await timed([built, 'plan'], { cwd, env })).ms);
    }
    return median(commands) / median(bases);
  });

/** The most memory that a cold plan held, in MiB. */
export const peakMemory = (size, rounds) =>
  withWorld(size, async ({ cwd, env }) => {
    const peaks = [];
    for (let round = 0; round < rounds; round += 1) {
      const args = ['--import', `${import.meta.dirname}/tell-peak.mjs`, built, 'plan'];
      peaks.push((await timed(args, { cwd, env })).told.peakKiB / 1_024);
    }
    return median(peaks);
  });
