import type { IntentResult, HistoryEntry, Intent } from './memory.ts';

/** The history entry of a finished write. */
export const historyEntryOf = (intent: Intent, { outcome, recordId, error }: IntentResult): HistoryEntry => {
  const { at, run, templateId, template, action, before, after } = intent;
  return { at, run, templateId, template, action, recordId, before, after, outcome, error };
};
