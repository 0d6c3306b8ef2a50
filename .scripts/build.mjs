// npm run build: makes dist/. The program becomes one file with what V8 made of it beside it, so that a command
// starts at once. What package.json has as a dependency stays outside (SQLite, for it is native); all else is taken in.
// What speaks to PostgreSQL becomes a file of its own, which is loaded only where that is used.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { rolldown } from 'rolldown';
import { writeNotices } from './notices.mjs';

const root = path.join(import.meta.dirname, '..');
const source = (file) => path.join(root, 'src', file);

/** On a terminal somebody waits for it: npm is silent meanwhile. */
const say = (what) => {
  if (process.stderr.isTTY) process.stderr.write(`building: ${what} …\n`);
};

/** Checks the types, and writes down those of every module. */
const checkTypes = (dir) => {
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      'tsconfig.json',
      '--declaration',
      '--emitDeclarationOnly',
      '--outDir',
      dir,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
};

const build = async () => {
  // The program that is there stays whole until the new one is.
  const made = path.join(root, `dist-${process.pid}`);
  const types = path.join(made, 'all-types');
  try {
    say('types');
    checkTypes(types);
    keepTypes(types, path.join(made, 'types'));
    rmSync(types, { recursive: true });
    say('bundles');
    const bundles = [
      await bundleStart(made),
      await bundleProgram(made),
      await bundleBeside(made, 'pg'),
      await bundleLibrary(made),
    ];
    await bundleForTests(path.join(made, 'tests'));
    writeNotices(
      root,
      made,
      bundles.flat().flatMap(({ moduleIds = [] }) => moduleIds),
    );
    say('what V8 makes of them');
    compile(path.join(made, 'program.cjs'));
    chmodSync(path.join(made, 'main.js'), 0o755);
    const dist = path.join(root, 'dist');
    rmSync(dist, { recursive: true, force: true });
    renameSync(made, dist);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
};

/** Takes over the types that a program sees which imports the library, and those that they are made of. */
const keepTypes = (from, to) => {
  const found = new Set();
  const keep = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(path.join(from, file), 'utf8');
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
    writeFileSync(path.join(to, file), text);
    for (const [, other] of text.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g)) {
      if (!other.startsWith('.')) throw new Error(`the types of the library need ${other}: ${file}`);
      keep(path.join(path.dirname(file), other.replace(/\.ts$/, '.d.ts')));
    }
  };
  keep('index.d.ts');
  writeFileSync(path.join(to, 'package.json'), '{ "type": "module" }\n');
};

const { dependencies = {} } = createRequire(import.meta.filename)('../package.json');

const common = {
  cwd: root,
  platform: 'node',
  external: Object.keys(dependencies),
};

// Every command reads the whole text, and keeps it: comments and blanks are left out, names stay for stack traces.
const dense = {
  comments: { legal: true, jsdoc: false, annotation: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
};

// Each of these gives what went into it.

/** CommonJS, which Node.js starts sooner; `.js`, the name by which people start it. */
const bundleStart = async (dir) => {
  const bundle = await rolldown({ ...common, input: { main: source('start.ts') } });
  const { output } = await bundle.write({ dir, format: 'cjs', ...dense });
  writeFileSync(path.join(dir, 'package.json'), '{ "type": "commonjs" }\n');
  return output;
};

/** One function expression, as `load-program.ts` runs it. */
const bundleProgram = async (dir) => {
  const bundle = await rolldown({
    ...common,
    plugins: [besides('pg', './pg.cjs'), withoutHttp2],
    input: { program: source('program.ts') },
  });
  const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false, ...dense });
  const text = `(function (exports, require, module, __filename, __dirname) {${inAscii(output[0].code)}\n})`;
  writeFileSync(path.join(dir, 'program.cjs'), text);
  return output;
};

/** Loads a package from a file beside the program. */
const besides = (name, file) => ({
  name: 'besides',
  transform: (code) => code.replace(`(import.meta.url)('${name}')`, `(import.meta.url)('${file}')`),
});

/** It takes 6 ms to load, and undici does without where there is none. */
const withoutHttp2 = {
  name: 'without-http2',
  transform: (code, id) =>
    id.endsWith('undici/lib/dispatcher/client-h2.js')
      ? code.replace("require('node:http2')", '{ constants: {} }')
      : null,
};

const bundleBeside = async (dir, name) => {
  // The first is a native build, which nobody has asked for; the second is for another runtime.
  const external = ['pg-native', 'pg-cloudflare'];
  const input = { [name]: createRequire(import.meta.filename).resolve(name) };
  const bundle = await rolldown({ ...common, external, input });
  const { output } = await bundle.write({
    dir,
    format: 'cjs',
    codeSplitting: false,
    entryFileNames: '[name].cjs',
    ...dense,
  });
  return output;
};

/** Read as Latin-1 in no time; one character beyond it would make V8 keep all of them in two bytes each. */
const inAscii = (code) =>
  code.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const bundleLibrary = async (dir) => {
  const bundle = await rolldown({ ...common, input: { index: source('package.ts') } });
  const { output } = await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs', ...dense });
  return output;
};

/** Modules that tests load in processes of their own. The package and the image leave them out. */
const bundleForTests = async (dir) => {
  const input = {
    log: source('log.ts'),
    'state/lock': source('state/lock.ts'),
    'lib/clock': source('lib/clock.ts'),
    'state/client-memory': source('state/client-memory.ts'),
    'state/state-file': source('state/state-file.ts'),
    'state/store-location': source('state/store-location.ts'),
    'state/store': source('state/store.ts'),
    'state/store-handle': source('state/store-handle.ts'),
  };
  const bundle = await rolldown({ ...common, input });
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    ...dense,
  });
};

/** Notes what V8 compiles for a plan of the examples, or of what people have in their place: files of their own, with mistakes. */
const compile = (file) => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'build-'));
  const ends = (...command) =>
    spawnSync(process.execPath, [import.meta.filename, file, ...command, '--sandbox', '--state-dir', cwd], {
      cwd,
      env: {},
      stdio: ['ignore', 'ignore', 'inherit'],
    }).status;
  try {
    if (ends('get', 'dns-templates') !== 0) throw new Error('the program that was built does not run');
    ends('plan', '--templates', path.join(root, 'templates'));
  } finally {
    rmSync(cwd, { recursive: true });
  }
};

const runAndNote = async (file, command) => {
  const script = new Script(readFileSync(file, 'latin1'), { filename: file });
  // What V8 notes holds for the flags with which a program starts, so none is set meanwhile (own-v8.ts would).
  v8.setFlagsFromString = () => undefined;
  process.on('exit', () => writeFileSync(file.replace('.cjs', '.cache'), script.createCachedData()));
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));
  // The help too, which has to be there at once.
  for (const words of [['--help'], command]) {
    process.exitCode = undefined;
    process.argv.splice(1, process.argv.length, file, ...words);
    await module.exports.runProcess();
  }
};

const [file, ...command] = process.argv.slice(2);
if (file === undefined) await build();
else await runAndNote(file, command);
