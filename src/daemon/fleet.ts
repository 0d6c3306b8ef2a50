import { UserError } from '../errors.ts';
import { limit } from '../lib/limit.ts';
import type { Notifier } from '../notify/notifier.ts';
import type { PassResult, Trigger } from '../result.ts';
import type { Settings } from '../settings.ts';
import type { WriteEntry } from '../status-page/facts.ts';
import type { ClientState } from './client-state.ts';
import type { DaemonClient, DaemonContext } from './context.ts';
import type { HistoryPage, HistoryQuery } from './history-query.ts';
import type { Journal } from './journal.ts';
import type { Metrics } from './metrics.ts';
import { Runner } from './runner.ts';
import type { Updates } from './updates.ts';

/** What the clients tell of themselves while they run. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly notifier: Notifier;
  readonly journal: Journal;
  readonly updates: Updates;
}

/** What can be seen of a client. */
export type ClientSight = Pick<Runner, 'client' | 'state' | 'newest' | 'templates'>;

/** All clients of the daemon, side by side, under the settings that hold at present. */
export class Fleet {
  readonly #context: DaemonContext;
  readonly #listeners: Listeners;
  readonly #turn = limit(passesAtOnce);
  readonly #historyTurn = limit(1);
  readonly #runners = new Map<string, Runner>();
  #settings: Settings;
  #reloading: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(context: DaemonContext, listeners: Listeners) {
    this.#context = context;
    this.#listeners = listeners;
    this.#settings = context.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get states(): readonly ClientState[] {
    return [...this.#runners.values()].map(({ state }) => state);
  }

  /** Each client, for those who show it. */
  get clients(): readonly ClientSight[] {
    return [...this.#runners.values()];
  }

  /** What is known of the templates of each client that had a pass. */
  get newest(): readonly PassResult[] {
    return [...this.#runners.values()].flatMap(({ newest }) => newest ?? []);
  }

  async start(): Promise<void> {
    await Promise.all(this.#context.clients.map((client) => this.#add(client)));
  }

  trigger(trigger: Trigger): void {
    for (const runner of this.#runners.values()) runner.trigger(trigger);
  }

  /** Writes of the past, for one asker after the other: how many there are takes none of the passes' time. */
  history(query: HistoryQuery, signal?: AbortSignal): Promise<HistoryPage<WriteEntry>> {
    const clients = [...this.#runners.values()].map(({ client }) => client.settings);
    const { sandboxUrl, clean } = this.#context;
    const request = { clients, isSandbox: sandboxUrl !== null, query, clean, signal };
    return this.#historyTurn(() => this.#context.readHistory(request));
  }

  /** Reads the settings again and starts a pass of each client. Settings that cannot work change nothing. */
  reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reload());
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#reloading, ...[...this.#runners.values()].map((runner) => runner.close())]);
  }

  async #add(client: DaemonClient): Promise<void> {
    const { name } = client.settings;
    const { metrics, notifier, journal, updates } = this.#listeners;
    metrics.addClient(name);
    const { log } = this.#context;
    const runner = new Runner({
      client,
      log,
      metrics,
      onSight: (sight) => notifier.take(sight),
      journal,
      updates,
      turn: this.#turn,
    });
    this.#runners.set(name, runner);
    await runner.start();
  }

  async #reload(): Promise<void> {
    if (this.#isClosing) return;
    const clients = this.#reopen();
    const gone = clients === null ? [] : await this.#changeOver(clients);
    this.trigger('request');
    await Promise.all(gone.map((runner) => this.#remove(runner)));
  }

  #reopen(): readonly DaemonClient[] | null {
    const { log } = this.#context;
    try {
      const { settings, clients } = this.#context.reopen();
      if (JSON.stringify(settings.listen) !== JSON.stringify(this.#settings.listen)) {
        log.warn(
          { event: 'settings.unapplied' },
          'listen has changed, which takes a restart: the former address stays',
        );
      }
      this.#settings = settings;
      this.#listeners.notifier.configure(settings.notify);
      log.info(
        { event: 'settings.reloaded', clients: clients.map((client) => client.settings.name) },
        'the settings were read again',
      );
      return clients;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      log.error(
        { event: 'settings.refused', err: error },
        'the settings cannot be used, and the former ones stay',
      );
      return null;
    }
  }

  /** Gives the runners of clients that are configured no more. */
  async #changeOver(clients: readonly DaemonClient[]): Promise<readonly Runner[]> {
    const names = new Set(clients.map(({ settings }) => settings.name));
    const gone = [...this.#runners].filter(([name]) => !names.has(name));
    for (const [name] of gone) this.#runners.delete(name);
    for (const client of clients) {
      const runner = this.#runners.get(client.settings.name);
      await (runner ? runner.replace(client) : this.#add(client));
    }
    return gone.map(([, runner]) => runner);
  }

  async #remove(runner: Runner): Promise<void> {
    await runner.close();
    const { metrics, notifier, journal, updates } = this.#listeners;
    const { name } = runner.client.settings;
    notifier.forget(name);
    journal.forget(name);
    updates.changed();
    await metrics.removeClient(name);
  }
}

/** Passes of different clients. More than that would only take the memory of all for the work of a few. */
const passesAtOnce = 16;
