import { canonicalName, canonicalRecord } from '../model/canonical.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { recordTypes, type RecordData } from '../model/record.ts';
import { isFaulty, serverLabels } from '../report/answers.ts';
import type { SubdomainAnswers } from '../result.ts';

/** Records in one layer: file, template, service, or a name server; null if it could not be read. */
export type Layer = readonly RecordData[] | null;

/** The records of one name and type in each layer. */
export type LayerRow = ReturnType<typeof layerRows>[number];

/** All layers of a subdomain by name and type: itself first, types in the order of the model. */
export const layerRows = (
  subdomain: string,
  layers: {
    readonly desired: { readonly records: readonly RecordData[] } | null;
    readonly template: { readonly records: readonly RecordData[] } | undefined;
    readonly service: readonly RecordData[];
    readonly answers: SubdomainAnswers;
  },
) => {
  const apex = canonicalHost(subdomain);
  const { servers, differences } = layers.answers;
  // A type has no blank in it; a name may.
  const keyOf = (type: string, name: string): string => {
    const plain = canonicalHost(name);
    if (plain === apex) return `${type} `;
    return `${type} ${plain.endsWith(`.${apex}`) ? plain.slice(0, -apex.length - 1) : plain}`;
  };
  // The service's own templates have a placeholder.
  const named = (text: string): string => text.replaceAll('##DOMAIN##', subdomain);
  const [file, template, service] = [layers.desired?.records, layers.template?.records, layers.service].map(
    (records) => {
      const shown = records
        ?.filter(({ type }) => type.toUpperCase() !== 'SOA')
        .map((record) => ({
          ...record,
          name: record.name === null ? null : named(record.name),
          content: named(record.content),
        }));
      return shown && groupBy(shown, ({ type, name }) => keyOf(type.toUpperCase(), canonicalName(name)));
    },
  );
  const wrong = groupBy(differences, ({ type, name }) => keyOf(type, name));
  const keys = new Set([file, template, service, wrong].flatMap((sets) => [...(sets?.keys() ?? [])]));
  const labelOf = serverLabels(servers);
  const rows = [...keys].map((key) => {
    const [type, name] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];
    const recordsIn = (sets: typeof file): Layer => (sets ? (sets.get(key) ?? []) : null);
    const answeredBy = (label: string): Layer => {
      const isSilent = servers.filter((one) => labelOf(one) === label).every(isFaulty);
      // Name servers are asked only for types that a template can have.
      if (isSilent || !types.includes(type)) return null;
      const answer = wrong.get(key)?.find((one) => labelOf({ ...one, name: one.server }) === label);
      return answer?.current ?? recordsIn(service);
    };
    return {
      /** Null: the subdomain itself. */
      name: name === '' ? null : name,
      type,
      file: recordsIn(file),
      template: recordsIn(template),
      service: recordsIn(service),
      servers: Object.fromEntries(servers.map(labelOf).map((label) => [label, answeredBy(label)])),
    };
  });
  const orderOf = ({ name, type }: (typeof rows)[number]): string =>
    `${name ?? ''} ${String(types.indexOf(type) + 1).padStart(3)}`;
  return rows.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
};

const types: readonly string[] = recordTypes;

/** Whether two layers agree. Placeholders agree with everything: the service replaces them. */
export const areAlike = (one: Layer, other: Layer): boolean => {
  if (one === null || other === null) return one === other;
  if ([...one, ...other].some(({ content }) => hasPlaceholder(content))) return one.length === other.length;
  const [some, others] = [distinct(one), distinct(other)];
  const isAlike = ([text, { ttl }]: readonly [string, RecordData], index: number): boolean => {
    const [otherText, { ttl: otherTtl }] = others[index]!;
    return text === otherText && (ttl === null || otherTtl === null || ttl === otherTtl);
  };
  return some.length === others.length && some.every(isAlike);
};

/** A record set as one text. */
export const setText = (records: Layer): string => {
  if (records === null) return '?';
  if (records.length === 0) return '-';
  const ttls = [...new Set(records.flatMap(({ ttl }) => ttl ?? []))];
  const texts = distinct(records).map(([text]) => text);
  return [texts.join(', '), ttls.length === 0 ? [] : `ttl ${ttls.join('/')}`].flat().join(' ');
};

/** By their texts: one layer may have two copies of what the next one has once. */
const distinct = (records: readonly RecordData[]): (readonly [string, RecordData])[] => {
  const textOf = (record: RecordData): string => {
    const { content, priority } = canonicalRecord(record);
    return [priority ?? [], content].flat().join(' ');
  };
  const byText = new Map(records.map((record) => [textOf(record), record]));
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1));
};
