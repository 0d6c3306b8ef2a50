import { canonicalName, canonicalRecord } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { recordTypes, type RecordData } from '../model/record.ts';
import { groupBy } from '../model/group.ts';
import { isFaulty, serverLabels } from './answers-view.ts';
import type { SubdomainAnswers } from '../result.ts';

/** The records of one name and type in each layer; null if a layer could not be read. */
export interface LayerRow {
  /** Null: the subdomain itself. */
  readonly name: string | null;
  readonly type: string;
  readonly file: readonly RecordData[] | null;
  readonly template: readonly RecordData[] | null;
  readonly service: readonly RecordData[] | null;
  readonly servers: Readonly<Record<string, readonly RecordData[] | null>>;
}

export interface NameLayers {
  readonly file: readonly RecordData[] | null;
  readonly template: readonly RecordData[] | null;
  readonly service: readonly RecordData[] | null;
  readonly answers: SubdomainAnswers;
}

/** All layers of a subdomain by name and type. */
export const layerRows = (
  subdomain: string,
  { file, template, service, answers }: NameLayers,
): LayerRow[] => {
  const apex = canonicalHost(subdomain);
  const ofName = [file, template].map(
    (records) => records?.map((record) => inDomain(record, subdomain)) ?? null,
  );
  const layers = [...ofName, service].map((records) => records && byKey(records, apex));
  const shown = groupBy(answers.differences, ({ name, type }) => `${type} ${relative(name, apex)}`);
  const keys = new Set([...layers.flatMap((layer) => [...(layer?.keys() ?? [])]), ...shown.keys()]);
  const labelOf = serverLabels(answers.servers);
  const labels = [...new Set(answers.servers.map(labelOf))];
  return [...keys].sort(byNameAndType).map((key) => {
    const [type, name] = partsOf(key);
    const [inFile, inTemplate, atService] = layers.map((layer) => layer && (layer.get(key) ?? []));
    const answeredBy = (server: string): LayerRow['service'] => {
      // Name servers are asked only for types that a template can have.
      if (!recordTypes.some((one) => one === type)) return null;
      if (answers.servers.filter((one) => labelOf(one) === server).every(isFaulty)) return null;
      const difference = shown
        .get(key)
        ?.find(({ server: by, address }) => labelOf({ name: by, address }) === server);
      return difference ? difference.current : (atService ?? null);
    };
    return {
      name: name === '' ? null : name,
      type,
      file: inFile ?? null,
      template: inTemplate ?? null,
      service: atService ?? null,
      servers: Object.fromEntries(labels.map((server) => [server, answeredBy(server)])),
    };
  });
};

/** With the placeholder that the service's own templates use. */
const inDomain = <T extends RecordData>(record: T, subdomain: string): T => ({
  ...record,
  name: record.name?.replaceAll('##DOMAIN##', subdomain) ?? null,
  content: record.content.replaceAll('##DOMAIN##', subdomain),
});

/** Whether two layers agree. Placeholders agree with everything: the service replaces them. */
export const areAlike = (one: readonly RecordData[] | null, other: readonly RecordData[] | null): boolean => {
  if (one === null || other === null) return one === other;
  if ([...one, ...other].some(({ content }) => hasPlaceholder(content))) return one.length === other.length;
  const [some, others] = [sorted(one), sorted(other)];
  return (
    some.length === others.length &&
    some.every((record, index) => {
      const like = others[index]!;
      const isSameTtl = record.ttl === null || like.ttl === null || record.ttl === like.ttl;
      return textOf(record) === textOf(like) && isSameTtl;
    })
  );
};

/** A record set as one text. */
export const setText = (records: readonly RecordData[] | null): string => {
  if (records === null) return '?';
  if (records.length === 0) return '-';
  const ttls = [...new Set(records.flatMap(({ ttl }) => ttl ?? []))];
  const texts = sorted(records).map(textOf);
  return [texts.join(', '), ...(ttls.length > 0 ? [`ttl ${ttls.join('/')}`] : [])].join(' ');
};

const textOf = (record: RecordData): string => {
  const { content, priority } = canonicalRecord(record);
  return priority === null ? content : `${priority} ${content}`;
};

/** Removes duplicates: one layer may have two copies of what the next one has once. */
const sorted = (records: readonly RecordData[]): RecordData[] =>
  [...new Map(records.map((record) => [textOf(record), record])).entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, record]) => record);

const byKey = (records: readonly RecordData[], apex: string): ReadonlyMap<string, RecordData[]> =>
  groupBy(
    records.filter(({ type }) => type.toUpperCase() !== 'SOA'),
    ({ name, type }) => `${type.toUpperCase()} ${relative(canonicalName(name), apex)}`,
  );

const relative = (name: string, apex: string): string => {
  const plain = canonicalHost(name);
  return plain === apex ? '' : plain.endsWith(`.${apex}`) ? plain.slice(0, -apex.length - 1) : plain;
};

/** The subdomain itself first; types in the order of the model. */
const byNameAndType = (one: string, other: string): number => {
  const [[type, name], [otherType, otherName]] = [partsOf(one), partsOf(other)];
  if (name !== otherName) return name < otherName ? -1 : 1;
  return places.indexOf(type) - places.indexOf(otherType);
};

/** A type has no blank in it; a name may. */
const partsOf = (key: string): [type: string, name: string] => {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
};

const places: readonly string[] = recordTypes;
