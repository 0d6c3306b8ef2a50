import { keepYoungGenerationSmall } from '../../src/lib/own-v8.ts';
import type { RecordData, RecordType } from '../../src/model/record.ts';
import { noMemory } from '../../src/plan/memory.ts';
import type { PlanInput } from '../../src/plan/plan-input.ts';
import { planTemplate } from '../../src/plan/plan.ts';

// As in the program.
keepYoungGenerationSmall();

/** A template with these records on both sides; one of 800 differs. */
export const inputOf = (records: readonly (RecordData & { readonly type: RecordType })[]): PlanInput => {
  const source = { file: 'template.yaml', line: 1, column: 1 };
  return {
    desired: {
      template: 'template',
      id: null,
      source,
      mode: 'enforce',
      surplus: 'report',
      adopt: false,
      limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
      subdomains: [],
      ignore: [],
      records: records.map((record) => ({ ...record, ttl: null, source })),
    },
    actual: {
      id: 1,
      name: 'template',
      publiclyAvailable: false,
      subdomains: null,
      records: records.map((record, index) => ({
        ...record,
        id: index + 1,
        ttl: 3600,
        content: index % 800 === 0 ? '198.51.100.1' : record.content,
      })),
    },
    memory: { ...noMemory, hasBeenRead: true },
  };
};

/** Milliseconds to plan them. All plans are kept until the last one is made, as in a pass. */
export const planAll = (inputs: readonly PlanInput[]): number => {
  const started = performance.now();
  const plans = inputs.map(planTemplate);
  const ended = performance.now();
  if (plans.some(({ steps }) => steps.length === 0)) throw new Error('nothing was planned');
  return ended - started;
};
