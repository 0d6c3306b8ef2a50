import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { built } from './daemon.mjs';
import { octodnsPlan } from './octodns.mjs';
import { median } from './statistics.mjs';
import { withWorld } from './world.mjs';

/** Milliseconds of one process from its start to its end. Throws where it fails. */
const timed = async (args, { env = {}, cwd = process.cwd(), program = process.execPath } = {}) => {
  const started = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let told = '';
  child.stdio[3].on('data', (chunk) => (told += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
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

/**
 * A plan beside bare node and what parsing alone takes: `yaml` of the files, JSON of the listing. And beside octoDNS,
 * where it is installed.
 */
export const planBesideParsing = (size, rounds) =>
  withWorld(size, async ({ cwd, folder, env, service, wanted }) => {
    const times = { nodeMs: [], yamlMs: [], jsonMs: [], commandMs: [], octodnsMs: [] };
    const parse = [`${import.meta.dirname}/parse-only.mjs`, folder, service.url];
    const octodns = await octodnsPlan(cwd, size.templates, wanted);
    for (let round = 0; round < rounds; round += 1) {
      times.nodeMs.push((await timed(bare)).ms);
      const { yaml, json } = (await timed(parse)).told;
      times.yamlMs.push(yaml);
      times.jsonMs.push(json);
      times.commandMs.push((await timed([built, 'plan'], { cwd, env })).ms);
      if (octodns !== null) times.octodnsMs.push((await timed(octodns.args, { cwd, ...octodns })).ms);
    }
    const medians = Object.fromEntries(Object.entries(times).map(([key, values]) => [key, median(values)]));
    const { nodeMs, yamlMs, jsonMs, commandMs, octodnsMs } = medians;
    const value = commandMs / (nodeMs + yamlMs + jsonMs);
    return { value, ...medians, ofOctodns: octodns === null ? null : commandMs / octodnsMs };
  });

/** The most memory that a plan of so much holds, in MiB. */
export const peakOfPlan = (size, rounds) =>
  withWorld(size, async ({ cwd, env }) => {
    const args = ['--import', `${import.meta.dirname}/tell-peak.mjs`, built, 'plan'];
    const peaks = [];
    for (let round = 0; round < rounds; round += 1)
      peaks.push((await timed(args, { cwd, env })).told.peakKiB / 1_024);
    return { value: median(peaks), peaks };
  });
