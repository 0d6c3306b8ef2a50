// npm run release -- X.Y.Z: makes the commit, the tag and the package of a version, and prints its notes. It pushes nothing.
// npm run release -- notes X.Y.Z: prints the notes of a version from the changelog.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const changelog = '.github/CHANGELOG.md';
const unreleased = '## [Unreleased]';

const run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

const say = (line) => process.stdout.write(`${line}\n`);

const release = (version) => {
  const problems = problemsOf(version);
  if (problems.length > 0) stop(`${version ?? 'this version'} cannot be released`, ...problems);
  try {
    writeVersion(version);
    // Builds first. A package that cannot be made leaves no commit behind.
    run('npm', 'pack');
  } catch (error) {
    run('git', 'checkout', '--', '.');
    stop(`${version} was not released, and the files are as they were`, error.message);
  }
  run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  say(`${notesOf(version)}\n`);
  say(`Made the commit, the tag v${version} and dns-template-sync-${version}.tgz. To publish them:`);
  say(`git push --atomic origin main v${version}`);
};

/** Every reason at once. */
const problemsOf = (version) => {
  if (!isVersion(version)) return ['give the version as X.Y.Z: npm run release -- 1.2.3'];
  const problems = [];
  const branch = run('git', 'branch', '--show-current');
  if (branch !== 'main') problems.push(`this branch is ${branch || 'none'}: git switch main`);
  else {
    run('git', 'fetch', '--quiet', 'origin', 'main');
    if (run('git', 'rev-parse', 'HEAD') !== run('git', 'rev-parse', 'FETCH_HEAD'))
      problems.push('main is not what origin has: pull or push first');
  }
  if (run('git', 'status', '--porcelain') !== '') problems.push('files are not committed: see git status');
  if (run('git', 'tag', '--list', `v${version}`) !== '')
    problems.push(`the tag v${version} is there already`);
  const [newest = null] = releasedVersions();
  // The first release may have the version that the package has had until then.
  const isGreater = newest === null ? compare(version, packageVersion()) >= 0 : compare(version, newest) > 0;
  if (!isGreater) problems.push(`the version is not greater than ${newest ?? packageVersion()}`);
  if (!/^- /m.test(sectionOf(unreleased) ?? ''))
    problems.push(`${changelog} has no entry under ${unreleased}: say there what changes for users`);
  return problems;
};

const isVersion = (text) => /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(text ?? '');

const packageVersion = () => JSON.parse(readFileSync('package.json', 'utf8')).version;

/** Newest first. */
const releasedVersions = () =>
  [...readFileSync(changelog, 'utf8').matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, version]) => version);

const compare = (one, other) => {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : left[at] - right[at];
};

/** What stands below a heading of the changelog, by how the heading begins. */
const sectionOf = (heading) =>
  readFileSync(changelog, 'utf8')
    .split(/^(?=## )/m)
    .find((section) => section.startsWith(heading))
    ?.replace(/^.*\n/, '')
    .trim();

const notesOf = (version) =>
  (isVersion(version) ? sectionOf(`## [${version}]`) : undefined) ??
  stop(`${changelog} has no version ${version ?? '(none given)'}`);

const writeVersion = (version) => {
  const before = packageVersion();
  run('npm', 'version', '--no-git-tag-version', '--allow-same-version', '--ignore-scripts', version);
  const today = new Date().toISOString().slice(0, 10);
  edit(changelog, unreleased, `${unreleased}\n\n## [${version}] - ${today}`);
  // Packages and images that documents and manifests name.
  for (const separator of [':', '-']) {
    const named = `dns-template-sync${separator}${before}`;
    const files = run('git', 'ls-files', '--', 'README.md', '.github').split('\n');
    for (const file of files.filter((one) => one !== changelog && readFileSync(one, 'utf8').includes(named)))
      edit(file, named, `dns-template-sync${separator}${version}`);
  }
};

const edit = (file, from, to) => writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));

const stop = (...lines) => {
  process.stderr.write(`${lines.join('\n  ')}\n`);
  process.exit(1);
};

const [word, ...others] = process.argv.slice(2);
if (word === 'notes') say(notesOf(others[0]));
else release(word);
