// Part of npm run build: says whose work is in dist/, for people (licences) and for programs (CycloneDX).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `modules` are what was bundled, as rolldown names it. */
export const writeNotices = (root, dir, modules) => {
  const own = read(root, 'package.json');
  const locked = read(root, 'package-lock.json').packages;
  const packageAt = (place) => ({
    ...locked[place],
    name: place.slice(place.lastIndexOf(folder) + folder.length),
  });
  const places = [...new Set(modules.map((id) => placeOf(root, id)))].filter((place) => place !== null);
  const bundled = places
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((place) => ({ ...packageAt(place), texts: licencesIn(path.join(root, place)) }));
  // What is no development dependency stays outside of the bundle.
  const outside = Object.keys(locked).filter((place) => place !== '' && !locked[place].dev);
  writeFileSync(path.join(dir, 'THIRD-PARTY-NOTICES.txt'), noticesOf(own, bundled));
  writeFileSync(path.join(dir, 'sbom.cdx.json'), sbomOf(own, [...bundled, ...outside.map(packageAt)]));
};

const folder = 'node_modules/';

const read = (root, file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

/** The package that a module is from, as the lock file names its place; null for modules of our own. */
const placeOf = (root, id) => {
  if (id.startsWith('\0rolldown/')) return `${folder}rolldown`;
  const [place] = /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path.relative(root, id)) ?? [
    null,
  ];
  return place;
};

const licencesIn = (directory) => {
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length > 0)
    return files.toSorted().map((file) => readFileSync(path.join(directory, file), 'utf8').trim());
  // Some say it at the end of what they tell people first.
  const readme = readFileSync(path.join(directory, 'README.md'), 'utf8');
  const [, licence] = /^#+ *licen[cs]e\n([^#]*copyright[^#]*)$/im.exec(readme) ?? [];
  if (licence === undefined) throw new Error(`${directory} has no licence to go with what is bundled of it`);
  return [licence.trim()];
};

const noticesOf = (own, packages) =>
  [
    `Parts of these packages are in ${own.name} ${own.version}, under their own licences.\n`,
    ...packages.map(
      ({ name, version, license, texts }) =>
        `${rule}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`,
    ),
  ].join('\n');

const rule = '-'.repeat(80);

/** Without a time or a random number: the same source gives the same list. */
const sbomOf = (own, packages) => {
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...identityOf(own) } },
    components: packages.map((one) => ({
      type: 'library',
      ...identityOf(one),
      // Native builds: of each kind of system one is installed.
      scope: one.optional ? 'optional' : 'required',
      hashes: [
        {
          alg: 'SHA-512',
          content: Buffer.from(one.integrity.replace('sha512-', ''), 'base64').toString('hex'),
        },
      ],
    })),
  };
  return `${JSON.stringify(sbom, null, 2)}\n`;
};

const identityOf = ({ name, version, license }) => {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': purl, name, version, purl, licenses: [licenceOf(license)] };
};

const licenceOf = (text) => (/^[\w.+-]+$/.test(text) ? { license: { id: text } } : { expression: text });
