import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { built } from './children.mjs';
import { median } from './statistics.mjs';

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

/** The program's command beside bare node and what parsing alone takes: `yaml` of the files, JSON of the listing. */
export const besideParsing = async (args, { cwd, folder, env, url }, rounds) => {
  const [nodes, commands, yamls, jsons] = [[], [], [], []];
  const parse = [`${import.meta.dirname}/parse-only.mjs`, folder, url];
  for (let round = 0; round < rounds; round += 1) {
    nodes.push((await timed(bare)).ms);
    const { yaml, json } = (await timed(parse)).told;
    yamls.push(yaml);
    jsons.push(json);
    commands.push((await timed([built, ...args], { cwd, env })).ms);
  }
  const [nodeMs, yamlMs, jsonMs, commandMs] = [nodes, yamls, jsons, commands].map(median);
  return { value: commandMs / (nodeMs + yamlMs + jsonMs), nodeMs, yamlMs, jsonMs, commandMs };
};

/** The most memory that the program's command held, in MiB. */
export const peakMemory = async (args, place) => {
  const { told } = await timed(['--import', `${import.meta.dirname}/tell-peak.mjs`, built, ...args], place);
  return told.peakKiB / 1_024;
};
