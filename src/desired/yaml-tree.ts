import type { CheckId } from './check-id.ts';
import { quote } from './problem.ts';

/** The documents of a file as far as they could be read, and what is wrong. */
export interface Yaml {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly YamlProblem[];
}

export interface YamlDocument {
  readonly root: YamlNode;
  /** Has a syntax error, so that what follows it cannot be trusted. */
  readonly isBroken: boolean;
}

export interface YamlProblem {
  readonly check: CheckId;
  readonly at: number;
  readonly message: string;
}

/** A value and the offset at which it stands. Every scalar is text; what it means is for the field to say. */
export type YamlNode = ScalarNode | ListNode | MappingNode | UnreadNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  /** Quotes and escapes undone; null if it is left out, or a plain `null` or `~`. */
  readonly text: string | null;
  readonly at: number;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
  readonly at: number;
}

export interface MappingNode {
  readonly kind: 'mapping';
  readonly entries: readonly MappingEntry[];
  readonly at: number;
}

/** This value could not be read, which has been reported. */
export interface UnreadNode {
  readonly kind: 'unread';
  readonly at: number;
}

export interface MappingEntry {
  readonly key: string;
  readonly at: number;
  readonly value: YamlNode;
}

/** A template needs six levels. */
export const maxDepth = 64;

/** A document that is being read. */
export interface Tree {
  /** Null while an anchor's own node is being read. */
  readonly anchors: Map<string, YamlNode | null>;
  readonly problems: YamlProblem[];
}

/** What a plain text means nothing by. */
export const nulls: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);

export const wrongVersion = (version: string, at: number): YamlProblem => ({
  check: 'yaml-version',
  at: Math.max(at, 0),
  message: `these files are YAML 1.2, where \`no\` and \`010\` are text and number, not ${quote(version)}: remove the line`,
});

/** `!` is YAML's non-specific tag. The core tags change nothing, since the field decides. */
export const knownTag = /^(?:!|(?:!!|!?<?tag:yaml\.org,2002:)(?:str|int|float|bool|null|map|seq)>?)$/;

export const unknownTag = (tag: string): string =>
  `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} is not supported; remove it, or quote the whole text if the \`!\` belongs to it`;

/** What an alias stands for, at the place of the alias. */
export const aliased = (name: string, at: number, { anchors, problems }: Tree): YamlNode => {
  const target = anchors.get(name);
  if (target) return { ...target, at };
  problems.push({ check: 'yaml-alias', at, message: target === null ? ownAlias(name) : noAnchor(name) });
  return { kind: 'unread', at };
};

const ownAlias = (name: string): string => `the alias \`*${name}\` is inside the value that it refers to`;

const noAnchor = (name: string): string =>
  `unquoted, ${quote(`*${name}`)} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;

/** None if the key is no text. */
export const entryOf = (key: YamlNode, value: YamlNode, problems: YamlProblem[]): readonly MappingEntry[] => {
  if (key.kind === 'scalar') return [{ key: key.text ?? '', at: key.at, value }];
  if (key.kind !== 'unread') problems.push({ check: 'wrong-type', at: key.at, message: noKey });
  return [];
};

const noKey = 'a key is one word, not a list or a mapping; a variable is written `${name}`';
