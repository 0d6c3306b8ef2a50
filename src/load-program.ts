import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import type * as Program from './program.ts';

/**
 * Loads the built program, a single file, with its V8 code cache. Another version of V8 rejects the cache and compiles,
 * which only takes longer.
 */
export const loadProgram = (folder = import.meta.dirname): typeof Program => {
  const file = path.join(folder, 'program.cjs');
  const cachedData = compiled(folder);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form that the build gives it
  const program = script.runInThisContext() as (...scope: unknown[]) => void;
  program(module.exports, late(createRequire(file)), module, file, folder);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what that program exports
  return module.exports as typeof Program;
};

/**
 * The bundle requires all modules of Node.js before it runs anything. Those that take long, and that many commands do
 * not use, are loaded at their first use. That works for imports by name: a default import asks for all keys at once.
 */
const late =
  (require: NodeJS.Require) =>
  (name: string): unknown => {
    if (!slow.has(name.replace('node:', ''))) return require(name);
    let loaded: object | null = null;
    return new Proxy(
      {},
      {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every module of Node.js is an object
        get: (_, key) => Reflect.get((loaded ??= require(name) as object), key),
        ownKeys: () => {
          throw new Error(`${name} is loaded late: import what is needed of it by name`);
        },
      },
    );
  };

const slow = new Set(
  'child_process crypto dgram dns dns/promises fs/promises http http2 https net readline/promises tls v8 worker_threads zlib'.split(
    ' ',
  ),
);

const compiled = (folder: string): Buffer | undefined => {
  try {
    return readFileSync(path.join(folder, 'program.cache'));
  } catch {
    return undefined;
  }
};
