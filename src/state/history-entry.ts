import { writeIdOf } from '../model/write-id.ts';
import type { IntentResult, HistoryEntry, Intent } from './memory.ts';

/** The history entry of a finished write. */
export const historyEntryOf = (intent: Intent, { outcome, recordId, error }: IntentResult): HistoryEntry => {
  const { at, run, templateId, template, action, before, after, cause, trigger, source, revision } = intent;
  const what = { at, run, write: writeIdOf(intent), templateId, template, action, recordId, before, after };
  return { ...what, outcome, error, cause, ...(trigger === undefined ? {} : { trigger, source, revision }) };
};
