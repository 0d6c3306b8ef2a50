import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { besideBareNode } from '../commands.mjs';

export const about = 'plan of the examples against bare node';
export const target = 4;
export const unit = '×';

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
