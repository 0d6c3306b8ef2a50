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
  /** Whether every add and update carries a name (§4.5, §4.6). */
  readonly needsName: boolean;
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
