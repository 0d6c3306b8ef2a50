import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { besideBareNode } from '../commands.mjs';

export const about = 'plan of the examples against bare node';
export const target = 4;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'flat: of some 150 ms beyond bare node, 30 go to modules of Node (http, http2, tls, crypto), 30 to reading and ' +
  'unpacking the program, 15 to schemas, 25 to YAML by code that is still cold, 15 to garbage, 30 to HTTP and SQLite';

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
