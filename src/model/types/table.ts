import { a } from './a.ts';
import { aaaa } from './aaaa.ts';
import { cname } from './cname.ts';
import type { TypeDefinition } from './definition.ts';
import { mx } from './mx.ts';
import { ptr } from './ptr.ts';
import { srv } from './srv.ts';
import { txt } from './txt.ts';

/** The types a template record can have (service specification §2, DNS template record). */
export const definitions = {
  A: a,
  AAAA: aaaa,
  CNAME: cname,
  MX: mx,
  PTR: ptr,
  SRV: srv,
  TXT: txt,
} satisfies Readonly<Record<string, TypeDefinition>>;

const byType: ReadonlyMap<string, TypeDefinition> = new Map(Object.entries(definitions));

/** `type` in upper case; undefined for an unknown type. */
export function definitionOf(type: keyof typeof definitions): TypeDefinition;
export function definitionOf(type: string): TypeDefinition | undefined;
export function definitionOf(type: string): TypeDefinition | undefined {
  return byType.get(type);
}
