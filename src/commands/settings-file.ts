import type { ToSet } from '../doctor/finding.ts';
import type { ClientSettings } from '../settings/client.ts';

/** The settings file that has what is set now, and what is to set. Tokens are named, not shown. */
export const settingsFile = (settings: ClientSettings, set: ToSet): string => {
  const given = settings.given().settings;
  const lines = new Map<string, string>([['baseUrl', settings.baseUrl]]);
  for (const [key, { texts }] of Object.entries(given)) lines.set(key, yamlOf(texts));
  for (const [key, value] of Object.entries(set)) lines.set(key, yamlOf([value ?? '']));
  // A proxy's address may have a password.
  if (settings.proxy?.url !== `${settings.proxy?.shown}/`) lines.delete('proxy');
  const { places = '' } = settings.tokens.read();
  const tokens = places.split(', ').filter((one) => one !== '');
  return [
    ...[...lines].map(([key, value]) => `${key}: ${value}`),
    ...tokens.map((one) => tokenLine(one)),
  ].join('\n');
};

const tokenLine = (text: string): string => {
  const [key = '', place = ''] = text.split(': ');
  if (/^[A-Z][A-Z0-9_]*_FILE$/.test(place)) return `${key}: { file: PATH } # that of ${place}`;
  if (/^[A-Z][A-Z0-9_]*$/.test(place)) return `${key}: { env: ${place} }`;
  return `# ${key}: as in ${place}`;
};

const yamlOf = (texts: readonly string[]): string =>
  texts.length === 1 ? scalar(texts[0]!) : `[${texts.map(scalar).join(', ')}]`;

const scalar = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text));
