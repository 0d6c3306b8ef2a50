import type { ClientState } from '../daemon/client-state.ts';
import type { HistoryPage, HistoryQuery } from '../daemon/history-query.ts';
import type { Journal } from '../daemon/journal.ts';
import type { Metrics } from '../daemon/metrics.ts';
import type { Updates } from '../daemon/updates.ts';
import { UserError } from '../errors.ts';
import { gate } from '../hosting/gate.ts';
import type { Notifier } from '../notify/notifier.ts';
import type { PassResult, Trigger } from '../result.ts';
import type { Settings } from '../settings.ts';
import type { Client } from './client.ts';
import type { ShownEntry } from './history-entries.ts';
import { readHistoryPage } from './history-pages.ts';
import { Runner } from './runner.ts';
import type { Session } from './session.ts';

/** What the clients tell of themselves while they run. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly notifier: Notifier;
  readonly journal: Journal;
  readonly updates: Updates;
}

/** All clients of the daemon, side by side, under the settings that hold at present. */
export class Fleet {
  readonly #session: Session;
  readonly #listeners: Listeners;
  readonly #turn = gate(passesAtOnce);
  readonly #historyTurn = gate(1);
  readonly #runners = new Map<string, Runner>();
  #settings: Settings;
  #reloading: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(session: Session, listeners: Listeners) {
    this.#session = session;
    this.#listeners = listeners;
    this.#settings = session.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get states(): readonly ClientState[] {
    return [...this.#runners.values()].map(({ state }) => state);
  }

  /** What is known of the templates of each client that had a pass. */
  get newest(): readonly PassResult[] {
    return [...this.#runners.values()].flatMap(({ newest }) => newest ?? []);
  }

  async start(): Promise<void> {
    await Promise.all(this.#session.clients.map((client) => this.#add(client)));
  }

  trigger(trigger: Trigger): void {
    for (const runner of this.#runners.values()) runner.trigger(trigger);
  }

  /** Writes of the past, for one asker after the other: how many there are takes none of the passes' time. */
  history(query: HistoryQuery, signal?: AbortSignal): Promise<HistoryPage<ShownEntry>> {
    const clients = [...this.#runners.values()].map(({ client }) => client.settings);
    const { sandboxUrl, clean } = this.#session;
    const request = { clients, isSandbox: sandboxUrl !== null, query, clean, signal };
    return this.#historyTurn(() => readHistoryPage(request));
  }

  /** Reads the settings again and starts a pass of each client. Settings that cannot work change nothing. */
  reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reload());
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#reloading, ...[...this.#runners.values()].map((runner) => runner.close())]);
  }

  async #add(client: Client): Promise<void> {
    const { name } = client.settings;
    const { metrics, notifier, journal, updates } = this.#listeners;
    metrics.addClient(name);
    const { log } = this.#session;
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

  #reopen(): readonly Client[] | null {
    const { log } = this.#session;
    try {
      const { settings, clients } = this.#session.reopen();
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
  async #changeOver(clients: readonly Client[]): Promise<readonly Runner[]> {
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
