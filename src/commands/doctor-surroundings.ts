import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { findingsAbout, type Found } from '../doctor/finding.ts';
import { messageOf } from '../errors.ts';
import { createRevisions } from '../git/revision.ts';
import { plural } from '../lib/plural.ts';
import type { DesiredState } from '../model/template.ts';
import { sizeText } from '../model/size.ts';
import { storeFileIn } from '../state/store-location.ts';
import type { Client } from '../app/client.ts';

/** What is around the program: settings, template files and their checkout, saved state, name servers. */
export const examineSurroundings = async (
  client: Client,
  desired: DesiredState,
  { isUnderstood, isStateShared }: { readonly isUnderstood: boolean; readonly isStateShared: boolean },
): Promise<Found[]> => [
  examineSettings(client),
  examineFiles(client, desired),
  isStateShared ? sharedState() : await examineState(client.settings.stateDir),
  // They are compared with what the service shows.
  ...(isUnderstood ? [await examineNameServers(client, desired)] : []),
];

const examineSettings = ({ settings }: Client): Found => {
  const { all, ok } = findingsAbout('settings');
  const { places } = settings.tokens.read();
  const given = Object.entries(settings.given().settings).map(([key, { place }]) => `${key}: ${place}`);
  ok([...given, ...(places === undefined ? [] : [places])].join(', '));
  return { findings: all };
};

const examineFiles = (client: Client, { files, templates, problems }: DesiredState): Found => {
  const { all, ok, note, problem } = findingsAbout('template files');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (files === 0) {
    note(`none yet: ${errors.map(({ message }) => message).join('; ')}`);
    return { findings: all };
  }
  const [first] = templates;
  const commit = first ? createRevisions()(path.resolve(client.settings.cwd, first.source.file)) : null;
  const where = commit === null ? 'outside of git' : `at commit ${commit.slice(0, 12)}`;
  (first ? ok : note)(`${plural(templates.length, 'template')} in ${plural(files, 'file')}, ${where}`);
  if (errors.length > 0) problem(`${plural(errors.length, 'error')}: see validate`);
  return { findings: all };
};

const sharedState = (): Found => {
  const { all, ok } = findingsAbout('state');
  ok('in PostgreSQL: see store status');
  return { findings: all };
};

const examineState = async (stateDir: string): Promise<Found> => {
  const { all, ok, note, problem } = findingsAbout('state');
  const there = await nearestThere(stateDir);
  try {
    await access(there, constants.W_OK | constants.X_OK);
    const known = await stat(storeFileIn(stateDir)).catch(() => null);
    if (known === null) note(`nothing saved yet in ${stateDir}: the first write waits for a second listing`);
    else ok(`${stateDir}, ${sizeText(known.size)}`);
  } catch (error) {
    problem(`${there} cannot be written: ${messageOf(error)}`);
  }
  return { findings: all };
};

const nearestThere = async (directory: string): Promise<string> => {
  const parent = path.dirname(directory);
  if (parent === directory) return directory;
  return (await stat(directory).catch(() => null)) ? directory : nearestThere(parent);
};

const examineNameServers = async (client: Client, { templates }: DesiredState): Promise<Found> => {
  const { all, ok, note } = findingsAbout('name servers');
  const subdomains = templates.flatMap((template) => template.subdomains).slice(0, mostAsked);
  if (subdomains.length === 0) return { findings: all };
  const { signal } = new AbortController();
  const request = { templates: [], isCommand: true, subdomains, signal, previous: new Map() };
  const answers = [...(await client.askNameServers(request)).values()];
  for (const [index, { status, servers }] of answers.entries()) {
    const failed = servers.find((server) => server.message !== null);
    const asked = `${subdomains[index]}: ${plural(servers.length, 'server')} asked, ${status}`;
    (status === 'failed' ? note : ok)(failed ? `${asked} (${failed.message})` : asked);
  }
  return { findings: all };
};

const mostAsked = 3;
