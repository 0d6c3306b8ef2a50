/**
 * What a record type is: all that is decided by type, but for the embedded service's own rules. The table beside this
 * file holds one definition a type; a member left out does not compile. A content is in canonical form unless a
 * member says otherwise.
 */
export interface TypeDefinition {
  /** Brings a content to canonical form; a content that has none stays as it is. */
  readonly canonical: (content: string) => string;
  /** The same for a text with gaps, which a pattern over contents is, as far as that can be. */
  readonly canonicalPattern: (text: string) => string;
  /** Whether a pattern takes upper and lower case for one. */
  readonly ignoresCase: boolean;
  /** Whether it has a priority, which every add and update then carries (service specification §4.5, §4.6). */
  readonly hasPriority: boolean;
  /**
   * Whether it has to have a name: `required` by the service, in every add and update (§4.5, §4.6), or `below-apex`, as
   * it cannot stand beside the records that every zone has at the subdomain itself.
   */
  readonly name: 'optional' | 'required' | 'below-apex';
  /** Whether a label of its name, stars apart, is in order. */
  readonly isNameLabel: (label: string) => boolean;
  /** The host that it points at; null of a type that points at none. */
  readonly target: Target | null;
  /** The keys that a template file may spread its content over; null where there is `content` alone. */
  readonly parts: Parts | null;
  /** What a template file may get wrong in it, beyond what holds for every name, host and priority. */
  readonly checks: readonly TypeCheck[];
  /** Why no content holds a text that a pattern asks for, of which `isWhole` says that it is all of the content. */
  readonly whyNotIn: (text: string, isWhole: boolean) => string | null;
  /** Earlier ones are written first: addresses 0, what nothing else refers to 1, what points at names 2. */
  readonly writePhase: 0 | 1 | 2;
  /** What a parked record says: well formed, and of use to nobody. */
  readonly inertContent: string;
  /** What it suffers beside it at its name. */
  readonly conflictKind: (content: string) => ConflictKind;
  /** Where one name holds contents of several owners; null where all records of a name and type belong together. */
  readonly independent: Independent | null;
}

/** Records by what they suffer beside them at their name: a null MX (RFC 7505) is a kind of its own. */
export type ConflictKind = 'CNAME' | 'null MX' | 'MX' | 'other';

/** How to tell contents of several owners at one name from each other. */
export interface Independent {
  /** A name holds one content of a kind at most; null for a content of no kind. */
  readonly kindOf: (content: string) => string | null;
  /** Whether the second is the first as a service may have spelled it. */
  readonly isRespelled: (sent: string, stored: string) => boolean;
}

export interface Target {
  /** Null where the content is not in order. */
  readonly in: (content: string) => string | null;
  readonly isLabel: (label: string) => boolean;
  /** Whether a lone `.` means something: that there is none. */
  readonly mayBeRoot: boolean;
  readonly mayBeAlias: boolean;
  /** What is probably meant by a content, as it is written, that is no host; null for most. */
  readonly mistake: (content: string) => string | null;
}

/** A content that can be written in three keys. */
export interface Parts {
  /** Null where the content is not in order. */
  readonly of: (content: string) => { weight: number; port: number; target: string } | null;
  /** A content as it is sent: the parts joined by single blanks. */
  readonly joined: (content: string) => string;
}

/** A check of template files: its id, where in the record it points, and what it says; null where all is well. */
export interface TypeCheck {
  readonly id: string;
  readonly at: 'name' | 'content';
  readonly find: (record: CheckedRecord, quote: (text: string) => string) => string | null;
}

/** As it is written, and in canonical form. */
export interface CheckedRecord {
  readonly name: string | null;
  readonly content: string;
  readonly canonical: { readonly name: string; readonly content: string };
}
