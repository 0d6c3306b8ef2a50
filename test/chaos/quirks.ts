import type { SeenRequest, WireTemplate } from './wire.ts';

/** A constant peculiarity of one service. */
export interface Quirk {
  /** Parameters of a write as the service takes them. */
  readonly store?: (request: SeenRequest, before: WireTemplate | undefined) => Record<string, string>;
  /** Parameters of an update that have no effect. */
  readonly ignores?: readonly string[];
  readonly refuses?: (request: SeenRequest, before: WireTemplate | undefined) => boolean;
  /** What a write changes besides its own record. */
  readonly alsoChanges?: (request: SeenRequest, after: WireTemplate) => readonly RecordEdit[];
  /** A template as the service shows it. */
  readonly show?: (
    template: WireTemplate,
    where: 'listing' | 'answer',
    before?: WireTemplate,
  ) => WireTemplate;
}

interface RecordEdit {
  readonly record_id: number;
  readonly ttl: number;
}
