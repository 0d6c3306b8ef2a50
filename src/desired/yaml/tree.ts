import type { Diagnostic, Position } from '../diagnostic.ts';

export interface ParsedYaml {
  readonly documents: readonly YamlDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface YamlDocument extends Position {
  /** Null if the document is empty. */
  readonly root: YamlNode | null;
  /** Has a syntax error, so that what follows cannot be trusted. */
  readonly isBroken: boolean;
}

/** The content of a document, every value with its position. Aliases are replaced by copies. */
export type YamlNode = ScalarNode | ListNode | MappingNode | UnreadNode;

export interface ScalarNode extends Position {
  readonly kind: 'scalar';
  /** As written, quotes and escapes undone: `1.10`, `no` and `010` keep their spelling. */
  readonly text: string;
  /** As YAML 1.2 core reads it. */
  readonly value: string | number | boolean | null;
}

export interface ListNode extends Position {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface MappingNode extends Position {
  readonly kind: 'mapping';
  readonly entries: readonly MappingEntry[];
}

/** This value could not be read, which has been reported. */
export interface UnreadNode extends Position {
  readonly kind: 'unread';
}

export interface MappingEntry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

/** Values that the aliases of one document may repeat: far more than people write, far less than does harm. */
export const maxRepeatedValues = 10_000;

/** The anchors of one document. */
export class Anchors {
  /** `null` while the anchor's own node is being read: an alias inside it would be endless. */
  readonly #nodes = new Map<string, YamlNode | null>();
  #repeated = 0;

  open(name: string): void {
    this.#nodes.set(name, null);
  }

  close(name: string, node: YamlNode): void {
    this.#nodes.set(name, node);
  }

  find(name: string): YamlNode | null | undefined {
    return this.#nodes.get(name);
  }

  /** The copy for an alias; null if that exceeds the limit. */
  repeat(target: YamlNode, { line, column }: Position): YamlNode | null {
    const rest = maxRepeatedValues - this.#repeated;
    if (rest >= 0) this.#repeated += sizeOf(target, rest);
    return this.isTooMuch ? null : { ...target, line, column };
  }

  get isTooMuch(): boolean {
    return this.#repeated > maxRepeatedValues;
  }
}

/** The number of values of a node and below it, counted up to the limit. */
const sizeOf = (node: YamlNode, limit: number): number => {
  if (node.kind === 'scalar' || node.kind === 'unread') return 1;
  let size = 1;
  const children = node.kind === 'list' ? node.items : node.entries.map(({ value }) => value);
  for (const child of children) {
    if (size > limit) break;
    size += sizeOf(child, limit - size);
  }
  return size;
};

/** The value of an unquoted text in YAML 1.2 core. */
export const coreValue = (text: string): string | number | boolean | null => {
  if (!/^(?:$|[-+.\dfFnNtT~])/.test(text)) return text;
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
};
