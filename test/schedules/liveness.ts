import { satisfies, shown } from '../sim/records.ts';
import type { Round } from '../sim/round.ts';
import { templateIn } from '../sim/witness.ts';
import type { Director } from './explore.ts';
import type { SmallWorld } from './worlds.ts';

/** Where nothing has gone wrong, each pass leaves what the file says. */
export const notInTime = (round: Round, { open }: SmallWorld, { faults }: Director): string[] =>
  open !== undefined || faults.length > 0
    ? []
    : missing(round).map((what) => `nothing went wrong, and it has not written ${what}`);

/** After one fault, the file's records are there in the end without a person’s help, unless it was somebody else’s deed. */
export const notInTheEnd = (round: Round, { open }: SmallWorld, { faults }: Director): string[] =>
  open !== undefined || faults.length > 1 || faults.some((fault) => fault.startsWith('somebody else'))
    ? []
    : missing(round).map((what) => `never writes ${what} by itself`);

const missing = ({ files, service }: Round): string[] =>
  files.templates.flatMap(({ templateId, desired }) => {
    const records = templateIn(service.templates(), templateId)?.records ?? [];
    return desired.records
      .filter((record) => !records.some((actual) => satisfies(actual, record)))
      .map((record) => shown(record));
  });
