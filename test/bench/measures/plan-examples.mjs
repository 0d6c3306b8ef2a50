import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { besideBareNode } from '../commands.mjs';

export const about = 'plan of the examples against bare node';
export const target = 4;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'flat: of some 120 ms beyond bare node, 25 compile functions of modules of Node.js itself (http, net, streams, crypto), ' +
  '10 load those modules, 10 unpack the program, 12 collect garbage; the rest is code that runs once: settings, ' +
  'YAML, checks, the embedded service and a call to it';

export const measure = async () => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'bench-'));
  try {
    await cp(path.join(import.meta.dirname, '../../../templates'), path.join(cwd, 'templates'), {
      recursive: true,
    });
    return await besideBareNode(['plan', '--sandbox', '--state-dir', '.state'], { cwd }, 21);
  } finally {
    await rm(cwd, { recursive: true });
  }
};
