import { isNameLabel } from '../host.ts';

/**
 * A record type: everything that depends on the type, except the embedded service's own rules. `table.ts` has
 * one definition a type; a missing member does not compile. Contents are in canonical form unless a member
 * says otherwise.
 */
export interface TypeDefinition {
  /** Brings a content to canonical form; an invalid content stays as it is. */
  readonly canonical: (content: string) => string;
  /** The same for the texts of a pattern, as far as possible. */
  readonly canonicalPattern: (text: string) => string;
  /** Whether patterns ignore case. */
  readonly ignoresCase: boolean;
  /** Whether it has a priority, which every add and update then sends (service specification §4.5, §4.6). */
  readonly hasPriority: boolean;
  /**
   * Whether it has to have a name: `required` by the service, in every add and update (§4.5, §4.6), or
   * `below-apex`, since it conflicts with the records that every zone has at the subdomain itself.
   */
  readonly name: 'optional' | 'required' | 'below-apex';
  /** Whether a label of its name is valid, apart from stars. */
  readonly isNameLabel: (label: string) => boolean;
  /** The host that it points at; null for types without a target. */
  readonly target: {
    /** Null if the content is invalid. */
    readonly in: (content: string) => string | null;
    readonly isLabel: (label: string) => boolean;
    /** Whether a lone `.` is allowed, which means that there is none. */
    readonly mayBeRoot: boolean;
    readonly mayBeAlias: boolean;
    /** What an invalid content, as written, probably means; null for most. */
    readonly mistake: (content: string) => string | null;
  } | null;
  /** The keys that may replace `content` in a template file; null if there are none. */
  readonly parts: {
    /** Null if the content is invalid. */
    readonly of: (content: string) => { weight: number; port: number; target: string } | null;
    /** The content to send: the parts joined by single blanks. */
    readonly joined: (content: string) => string;
  } | null;
  /**
   * Checks of this type, besides those of every name, host and priority: the id, the field that it is about, and its
   * message on a record, as written and in canonical form; null if the record is valid.
   */
  readonly checks: readonly {
    readonly id: string;
    readonly at: 'name' | 'content';
    readonly find: (
      record: {
        readonly name: string | null;
        readonly content: string;
        readonly canonical: { readonly name: string; readonly content: string };
      },
      quote: (text: string) => string,
    ) => string | null;
  }[];
  /** The order of writing: addresses 0, independent types 1, types that point at names 2. */
  readonly writePhase: 0 | 1 | 2;
  /** The content of a parked record: valid and inert. */
  readonly inertContent: string;
  /** Which records it conflicts with at its name. */
  readonly conflictKind: (content: string) => ConflictKind;
  /** Set if one name may have contents of several owners; null if all records of a name and type belong together. */
  readonly independent: Independent | null;
}

/** Kinds of records by what they conflict with at their name. A null MX (RFC 7505) is a kind of its own. */
export type ConflictKind = 'CNAME' | 'null MX' | 'MX' | 'other';

/** How to tell contents of several owners at one name from each other. */
export interface Independent {
  /** A name has at most one content of a kind; null: the content has no kind. Both canonical. */
  readonly kindOf: (name: string, content: string) => string | null;
}

/** What most types have in common. */
export const common = {
  ignoresCase: true,
  hasPriority: false,
  name: 'optional',
  isNameLabel,
  target: null,
  parts: null,
  checks: [],
  conflictKind: () => 'other',
  independent: null,
} as const satisfies Partial<TypeDefinition>;
