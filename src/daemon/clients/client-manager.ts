import { UserError } from '../../errors.ts';
import { limit } from '../../lib/limit.ts';
import type { Suspension, SuspensionRequest } from '../../model/suspension.ts';
import { matchNames } from '../../model/match-names.ts';
import type { Notifier } from '../../notify/notifier.ts';
import type { PassResult, Trigger } from '../../result.ts';
import type { Settings } from '../../settings.ts';
import type { ClientSettings } from '../../settings/client.ts';
import type { WriteEntry } from '../../status-page/facts.ts';
import type { ClientState } from './client-state.ts';
import type { DaemonClient, DaemonContext } from '../context.ts';
import type { HistoryQuery } from '../http/history-query.ts';
import type { PassHistory } from '../passes/pass-history.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ClientController } from './client-controller.ts';
import type { ChangeFeed } from '../passes/change-feed.ts';
import { ClientFilesWatch } from './client-files-watch.ts';
import { type ClientProblem, settingsProblem } from '../../settings/problems.ts';
import { SuspensionWatch } from './suspension-watch.ts';

/** What clients report to while they run. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly notifier: Notifier;
  readonly passHistory: PassHistory;
  readonly changeFeed: ChangeFeed;
}

/** What was asked for. `unknown`: nothing, since patterns match no client; `unsure`: not all passes certainly come. */
export type PassRequests =
  | { readonly kind: 'asked'; readonly passes: readonly { readonly client: string; readonly run: string }[] }
  | { readonly kind: 'unknown'; readonly unknown: readonly string[] }
  | { readonly kind: 'unsure' };

/** What the status page may read of a client. */
export type ManagedClient = Pick<ClientController, 'client' | 'state' | 'newest' | 'templates'>;

/** All clients of the daemon, under the current settings. */
export class ClientManager {
  readonly #context: DaemonContext;
  readonly #listeners: Listeners;
  readonly #passLimit = limit(passesAtOnce);
  readonly #serverLimits = new Map<string, ReturnType<typeof limit>>();
  readonly #historyLimit = limit(1);
  readonly #controllers = new Map<string, ClientController>();
  #settings: Settings;
  #problems: readonly ClientProblem[];
  #reloading: Promise<void> = Promise.resolve();
  readonly #filesWatch: ClientFilesWatch;
  readonly #suspensions: SuspensionWatch;
  #isClosing = false;

  constructor(context: DaemonContext, listeners: Listeners) {
    this.#context = context;
    this.#listeners = listeners;
    this.#settings = context.settings;
    this.#problems = context.settings.leftOut;
    this.#filesWatch = new ClientFilesWatch(() => this.reloadChanged(), context.log);
    this.#suspensions = new SuspensionWatch({
      look: () => this.#suspended(),
      onChange: (client) => this.#controllers.get(client)?.trigger('request'),
    });
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** What is wrong with the settings: their clients are left out, or keep the settings that they had. */
  get problems(): readonly ClientProblem[] {
    return this.#problems;
  }

  /** Clients that the last pass could not compare, or none has yet. */
  get uncompared(): readonly ClientProblem[] {
    return this.states.flatMap(({ client, uncompared: why }) =>
      why === null ? [] : [{ ...noPass, client, message: why }],
    );
  }

  get states(): readonly ClientState[] {
    return [...this.#controllers.values()].map(({ state }) => state);
  }

  /** Each client, for the status page. */
  get clients(): readonly ManagedClient[] {
    return [...this.#controllers.values()];
  }

  /** The latest result of each client that has had a pass. */
  get newest(): readonly PassResult[] {
    return [...this.#controllers.values()].flatMap(({ newest }) => newest ?? []);
  }

  async start(): Promise<void> {
    await Promise.all(this.#context.clients.map((client) => this.#add(client)));
    this.#showProblems(this.#settings.leftOut);
    await this.#filesWatch.follow(this.#settings);
    await this.#suspensions.start();
    await this.#context.fleet.start({
      onReport: (client, report) => this.#controllers.get(client)?.adopt(report),
      onChange: this.#listeners.changeFeed.changed,
    });
  }

  /** One statement per store, whatever the number of clients. */
  async #suspended(): Promise<Map<string, readonly Suspension[]>> {
    const writing = [...this.#controllers.values()].filter(({ client }) => !client.settings.dryRun);
    const found = await this.#context.suspended(writing.map(({ client }) => client.savedAt));
    return new Map(writing.map(({ client }, at) => [client.settings.name, found[at] ?? []]));
  }

  get #clientSettings(): readonly ClientSettings[] {
    return [...this.#controllers.values()].map(({ client }) => client.settings);
  }

  trigger(trigger: Trigger): void {
    for (const controller of this.#controllers.values()) controller.trigger(trigger);
  }

  /** Asks for a pass of these clients, by name or pattern; of all if there are none. */
  async request(patterns: readonly string[]): Promise<PassRequests> {
    const { found, unknown } = matchNames(patterns, this.#controllers.keys());
    if (unknown.length > 0) return { kind: 'unknown', unknown };
    const names = patterns.length === 0 ? [...this.#controllers.keys()] : found;
    const asked = await Promise.all(
      names.map(async (client) => ({ client, run: await this.#controllers.get(client)?.request() })),
    );
    const passes = asked.flatMap(({ client, run }) => (run ? { client, run } : []));
    return passes.length === asked.length ? { kind: 'asked', passes } : { kind: 'unsure' };
  }

  /** The history of writes. One request at a time, so that many of them do not slow passes down. */
  history(query: HistoryQuery, signal?: AbortSignal): Promise<readonly WriteEntry[]> {
    const { sandboxUrl, redact } = this.#context;
    const request = { clients: this.#clientSettings, isSandbox: sandboxUrl !== null, query, redact, signal };
    return this.#historyLimit(() => this.#context.readHistory(request));
  }

  /** Suspends a template, for the page. Returns what was saved; null if there is no such template. */
  readonly suspend = async (
    client: string,
    template: string,
    how: Omit<SuspensionRequest, 'templates'>,
  ): Promise<Suspension | null> => {
    const found = this.#find(client, template);
    const saved = await found?.client.suspending((one) => one.suspend({ ...how, templates: [found.one] }));
    return saved?.[0] ?? null;
  };

  /** Resumes a template, for the page. Returns how many suspensions that ended; null if there is no such template. */
  readonly resume = async (client: string, template: string): Promise<number | null> => {
    const found = this.#find(client, template);
    const ended = await found?.client.suspending((suspensions) => suspensions.resume([found.one]));
    return ended?.length ?? null;
  };

  #find(name: string, template: string) {
    const found = this.#controllers.get(name);
    const known = found?.newest?.templates.find((one) => one.template === template);
    if (!found || (!known && found.templates.described(template).length === 0)) return null;
    return { client: found.client, one: { template, templateId: known?.id ?? null } };
  }

  /** Reads the settings again and starts a pass of each client. Invalid settings change nothing. */
  reload(): void {
    this.#afterReload(async () => {
      const opened = this.#reopen();
      const removed = opened === null ? [] : await this.#replaceClients(opened);
      this.trigger('request');
      await this.#filesWatch.follow(this.#settings);
      await Promise.all(removed.map((controller) => this.#remove(controller)));
    });
  }

  /** Reads the files of clients again, and starts a pass of those that have changed. */
  reloadChanged(): void {
    this.#afterReload(async () => {
      const { settings, clients } = this.#context.reopenChanged();
      this.#settings = settings;
      this.#filesWatch.note(settings);
      const removed = await this.#replaceClients(clients);
      const changed = clients.map((client) => client.settings.name);
      for (const name of changed) this.#controllers.get(name)?.trigger('request');
      const gone = removed.map(({ client }) => client.settings.name);
      if (changed.length + gone.length > 0)
        this.#context.log.info(
          { event: 'settings.reloaded', clients: changed, removed: gone },
          'settings of clients reloaded',
        );
      await Promise.all(removed.map((controller) => this.#remove(controller)));
    });
  }

  #afterReload(task: () => Promise<void>): void {
    this.#reloading = this.#reloading.then(() => (this.#isClosing ? undefined : task()));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([
      this.#context.fleet.close(),
      this.#filesWatch.close(),
      this.#suspensions.close(),
      this.#reloading,
      ...[...this.#controllers.values()].map((controller) => controller.close()),
    ]);
  }

  async #add(client: DaemonClient): Promise<void> {
    const { name } = client.settings;
    const { metrics, notifier, passHistory, changeFeed } = this.#listeners;
    metrics.addClient(name);
    const { log, fleet } = this.#context;
    const controller = new ClientController({
      client,
      fleet,
      log,
      metrics,
      onPass: (passEvent) => {
        this.#suspensions.obeyed(name, passEvent.result?.templates ?? []);
        return notifier.publish(passEvent);
      },
      passHistory,
      changeFeed,
      limit: (of, task) => this.#limited(of, task),
    });
    this.#controllers.set(name, controller);
    await controller.start();
  }

  /** Those that wait for a server that never answers keep no others waiting. */
  #limited<T>({ settings }: DaemonClient, task: () => Promise<T>): Promise<T> {
    const { host } = new URL(settings.baseUrl);
    const ofServer = this.#serverLimits.get(host) ?? limit(passesOfServer);
    this.#serverLimits.set(host, ofServer);
    return ofServer(() => this.#passLimit(task));
  }

  /** Null if the settings are invalid. */
  #reopen(): readonly DaemonClient[] | null {
    const { log } = this.#context;
    try {
      const { settings, clients } = this.#context.reopen();
      if (JSON.stringify(settings.listen) !== JSON.stringify(this.#settings.listen)) {
        log.warn(
          { event: 'settings.unapplied' },
          'listen has changed: the new address takes effect after a restart',
        );
      }
      this.#settings = settings;
      this.#listeners.notifier.configure(settings.notify);
      const names = clients.map((client) => client.settings.name);
      const refused = new Set(settings.leftOut.map(({ client }) => client));
      log.info(
        {
          event: 'settings.reloaded',
          clients: names.filter((name) => !refused.has(name)),
          refused: [...refused],
        },
        'settings reloaded',
      );
      return clients;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      log.error({ event: 'settings.refused', err: error }, 'invalid settings; keeping the previous ones');
      const [first = '', ...others] = error.message.split('\n- ');
      const message = [first, others.join('; ')].join(' ').trimEnd();
      const names = [...this.#controllers.keys()];
      const client = names.length === 1 ? names.join('') : '';
      this.#showProblems([settingsProblem(client, this.#settings.configFile, message)]);
      return null;
    }
  }

  #showProblems(problems: readonly ClientProblem[]): void {
    this.#problems = problems;
    this.#listeners.changeFeed.changed();
  }

  /** Returns the controllers of clients that are no longer configured. */
  async #replaceClients(clients: readonly DaemonClient[]): Promise<readonly ClientController[]> {
    const names = new Set(this.#settings.clients.map(({ name }) => name));
    const removed = [...this.#controllers].filter(([name]) => !names.has(name));
    for (const [name] of removed) this.#controllers.delete(name);
    for (const client of clients) {
      const controller = this.#controllers.get(client.settings.name);
      const isSame = controller?.client.savedAt.scope === client.savedAt.scope;
      // Whose another base URL is, is another question to those that share it.
      if (controller && !isSame && this.#context.fleet.isShared) await controller.close();
      const isKept = controller && (isSame || !this.#context.fleet.isShared);
      await (isKept ? controller.replace(client) : this.#add(client));
    }
    this.#showProblems(this.#settings.leftOut);
    return removed.map(([, controller]) => controller);
  }

  async #remove(controller: ClientController): Promise<void> {
    await controller.close();
    const { metrics, notifier, passHistory, changeFeed } = this.#listeners;
    const { name } = controller.client.settings;
    notifier.forget(name);
    passHistory.forget(name);
    changeFeed.changed();
    await metrics.removeClient(name);
  }
}

/** Passes of different clients. More at once would need more memory and be no faster. */
const passesAtOnce = 16;
const passesOfServer = 12;

const noPass = { severity: 'error', check: 'no-pass', file: null, line: null, column: null } as const;
