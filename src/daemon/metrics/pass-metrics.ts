import type { Counter, Histogram } from 'prom-client';
import type { PassResult, Status, Trigger } from '../../result.ts';
import type { MetricMaker } from './metric-maker.ts';
import type { TemplateGauges } from './template-gauges.ts';

/** Metrics of the passes over clients, and of what they wrote. */
export interface PassMetrics {
  /** Creates the series of this client at 0, so that the first event shows as an increase. */
  readonly addClient: (client: string) => void;
  /** Removes the series of a client that is no longer configured. */
  readonly removeClient: (client: string) => Promise<void>;
  readonly countChange: (client: string, change: ChangeFacts) => void;
  /** `latest`: the latest results of the client; null if the pass compared nothing. */
  readonly countPass: (pass: PassFacts, latest: PassResult | null) => void;
  /** The same of a pass that another process has counted. */
  readonly showPass: (pass: ShownPass, latest: PassResult | null) => void;
  /** How long a pass waited after its time had come, in milliseconds, where processes share passes. */
  readonly countLateness: (lateness: number) => void;
}

interface ChangeFacts {
  readonly action: (typeof actions)[number];
  readonly outcome: (typeof outcomes)[number];
}

interface PassFacts {
  readonly client: string;
  readonly trigger: Trigger;
  readonly status: Status;
  /** Whether everything was read, and writing did not stop early. */
  readonly isComplete: boolean;
  readonly durationMs: number;
}

interface ShownPass extends Pick<PassFacts, 'client' | 'status' | 'isComplete'> {
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

export const passMetrics = (make: MetricMaker, templates: TemplateGauges): PassMetrics => {
  const passes = make.counter(
    'passes_total',
    ['client', 'trigger', 'result'],
    'Finished passes, by trigger and by the worst status of their templates.',
  );
  const duration = make.histogram('pass_duration_seconds', [], 'How long passes took.', durations);
  const last = make.gauge('last_pass_timestamp_seconds', ['client'], 'When the last pass ended.');
  const lastSuccess = make.gauge(
    'last_success_timestamp_seconds',
    ['client'],
    'When the last pass without a failure ended; 0 before the first one.',
  );
  const lastComplete = make.gauge(
    'last_complete_pass_timestamp_seconds',
    ['client'],
    'When the last pass ended that read files and service and did not stop early, even if templates failed; 0 before the first one.',
  );
  const changes = make.counter(
    'changes_total',
    ['client', 'action', 'outcome'],
    'Writes sent to the service, by outcome.',
  );
  const filesValid = make.gauge(
    'template_files_valid',
    ['client'],
    'Whether the template files are free of errors: 1 or 0.',
  );
  const showPass: PassMetrics['showPass'] = ({ client, status, isComplete, endedAt }, latest) => {
    last.set({ client }, endedAt / 1_000);
    if (status !== 'failed') lastSuccess.set({ client }, endedAt / 1_000);
    if (isComplete) lastComplete.set({ client }, endedAt / 1_000);
    if (latest === null) return;
    templates.show(client, latest.templates);
    filesValid.set({ client }, latest.problems.some(({ severity }) => severity === 'error') ? 0 : 1);
  };
  return {
    addClient: (client) => {
      for (const gauge of [lastSuccess, lastComplete]) gauge.set({ client }, 0);
      for (const action of actions)
        for (const outcome of outcomes) changes.inc({ client, action, outcome }, 0);
    },
    removeClient: async (client) => {
      templates.show(client, []);
      for (const gauge of [last, lastSuccess, lastComplete, filesValid]) gauge.remove({ client });
      await Promise.all([forget(passes, client), forget(changes, client)]);
    },
    countChange: (client, { action, outcome }) => changes.inc({ client, action, outcome }),
    countPass: ({ client, trigger, status, isComplete, durationMs }, latest) => {
      passes.inc({ client, trigger, result: status });
      duration.observe(durationMs / 1_000);
      showPass({ client, status, isComplete, endedAt: Date.now() }, latest);
    },
    showPass,
    countLateness: latenessCounter(make),
  };
};

/** A metric only where passes are shared. */
const latenessCounter = ({ histogram }: MetricMaker): PassMetrics['countLateness'] => {
  let metric: Histogram | null = null;
  return (lateness) => {
    metric ??= histogram(
      'pass_lateness_seconds',
      [],
      'How long passes waited after their time had come.',
      latenesses,
    );
    metric.observe(lateness / 1_000);
  };
};

const forget = async <Label extends string>(
  counter: Counter<Label | 'client'>,
  client: string,
): Promise<void> => {
  const { values } = await counter.get();
  for (const { labels } of values) if (labels.client === client) counter.remove(labels);
};

const actions = ['add', 'update', 'park'] as const;
const outcomes = ['applied', 'failed', 'unknown'] as const;

/** Seconds. */
const durations = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const latenesses = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600];
