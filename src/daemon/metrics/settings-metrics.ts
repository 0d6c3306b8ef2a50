import type { ClientProblem } from '../../settings/client-files.ts';
import type { MetricMaker } from './metric-maker.ts';

export interface SettingsMetrics {
  /** The clients in use, and what is wrong with the settings. */
  readonly showSettings: (clients: readonly string[], problems: readonly ClientProblem[]) => void;
}

/** A problem without a client concerns all of them, or some that nobody knows. */
export const settingsMetrics = ({ gauge }: MetricMaker): SettingsMetrics => {
  const valid = gauge(
    'settings_valid',
    ['client'],
    'Whether the settings of a client, as its file has them, are in use: 1 or 0.',
  );
  return {
    showSettings: (clients, problems) => {
      valid.reset();
      for (const client of clients) valid.set({ client }, 1);
      for (const { client } of problems) valid.set({ client }, 0);
    },
  };
};
