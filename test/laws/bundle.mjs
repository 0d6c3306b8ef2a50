import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

/** Makes one file of worker.ts and all that it uses; `code`: of the file `broken`, in place of its own. */
export const bundleTo = async (file, broken = null, code = '') => {
  const made = await rolldown({
    input: path.join(import.meta.dirname, 'worker.ts'),
    platform: 'node',
    external: [/^node:/, 'libsql'],
    logLevel: 'silent',
    plugins: [{ name: 'mutation', load: (id) => (id === broken ? { code, moduleType: 'ts' } : null) }],
  });
  await made.write({ file, format: 'esm' });
};

/** What a bundle says to a task of worker.ts, in a process of its own. */
export const answerOf = async (bundle, task, options = {}) =>
  (await promisify(execFile)(process.execPath, [bundle, ...task], { maxBuffer: Infinity, ...options }))
    .stdout;
