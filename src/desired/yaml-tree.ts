import type { Diagnostic, Position } from './diagnostic.ts';

export interface ParsedYaml {
  readonly documents: readonly YamlDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface YamlDocument extends Position {
  /** Null where the document is empty. */
  readonly root: YamlNode | null;
  /** The syntax is wrong, so that what follows the place cannot be trusted. */
  readonly isBroken: boolean;
}

/** What a document holds, every value with its position. An alias stands as a copy of what it names. */
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

/** What stands here could not be read, and that has been said. */
export interface UnreadNode extends Position {
  readonly kind: 'unread';
}

export interface MappingEntry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

/** Values that aliases may repeat in one document, all together: far more than people write, far less than hurts. */
export const maxRepeatedValues = 10_000;

/** What the anchors of one document name. */
export class Anchors {
  /** `null` while the anchor's own node is still being read: an alias in there would never end. */
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

  /** What stands for an alias of it; null where that would be more than aliases may repeat. */
  repeat(target: YamlNode, { line, column }: Position): YamlNode | null {
    const rest = maxRepeatedValues - this.#repeated;
    if (rest >= 0) this.#repeated += sizeOf(target, rest);
    return this.isTooMuch ? null : { ...target, line, column };
  }

  get isTooMuch(): boolean {
    return this.#repeated > maxRepeatedValues;
  }
}

/** Number of values below and with a node, counted no further than it matters. */
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

/** What YAML 1.2 core makes of an unquoted text. */
export const coreValue = (text: string): string | number | boolean | null => {
  if (!/^(?:$|[-+.\dfFnNtT~])/.test(text)) return text;
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
};
