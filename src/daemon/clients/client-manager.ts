import { UserError } from '../../errors.ts';
import { limit } from '../../lib/limit.ts';
import type { SuspendedTemplate, Suspension, Suspensions } from '../../model/suspension.ts';
import { matchNames } from '../../model/match-names.ts';
import type { Notifier } from '../../notify/notifier.ts';
import type { PassResult, Trigger } from '../../result.ts';
import type { Settings } from '../../settings.ts';
import { watchFiles, type Watcher } from '../../source/watch.ts';
import type { WriteEntry } from '../../status-page/facts.ts';
import type { ClientState } from './client-state.ts';
import type { DaemonClient, DaemonContext, HistoryQuery } from '../context.ts';
import type { ChangeFeed } from '../http/events.ts';
import type { Day } from '../passes/day.ts';
import type { Metrics } from '../metrics.ts';
import { ClientController } from './client-controller.ts';
import { type ClientProblem, settingsProblem, SettingsError } from '../../settings/problems.ts';
import { watchSuspensions } from './suspension-watch.ts';

/** What clients report to while they run. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly notifier: Notifier;
  readonly day: Day;
  readonly changeFeed: ChangeFeed;
}

/** What was asked for. `unknown`: nothing, since patterns match no client; `unsure`: not all passes certainly come. */
export type PassRequests =
  | { readonly kind: 'asked'; readonly passes: readonly { readonly client: string; readonly run: string }[] }
  | { readonly kind: 'unknown'; readonly unknown: readonly string[] }
  | { readonly kind: 'unsure' };

/** All clients of the daemon, under the current settings. */
export class ClientManager {
  readonly #context: DaemonContext;
  readonly #listeners: Listeners;
  readonly #passLimit = limit(passesAtOnce);
  readonly #serverLimits = new Map<string, ReturnType<typeof limit>>();
  readonly #historyLimit = limit(1);
  readonly #controllers = new Map<string, ClientController>();
  readonly #reloadLimit = limit(1);
  /** What watches the files of clients. */
  #watcher: Watcher | null = null;
  #retry: NodeJS.Timeout | undefined;
  /** What was begun by `start`, for `close`. */
  #suspensions: { readonly close: () => Promise<void> } | null = null;
  #isClosing = false;
  settings: Settings;
  /** What is wrong with the settings: their clients are left out, or keep the settings that they had. */
  problems: readonly ClientProblem[];

  constructor(context: DaemonContext, listeners: Listeners) {
    this.#context = context;
    this.#listeners = listeners;
    this.settings = context.settings;
    this.problems = context.settings.leftOut;
  }

  get clients(): readonly ClientController[] {
    return [...this.#controllers.values()];
  }

  get states(): readonly ClientState[] {
    return this.clients.map(({ state }) => state);
  }

  /** Clients that the last pass could not compare, or none has yet. */
  get uncompared(): readonly ClientProblem[] {
    return this.states.flatMap(({ client, uncompared: why }) =>
      why === null ? [] : [{ ...noPass, client, message: why }],
    );
  }

  /** The latest result of each client that has had a pass. */
  get newest(): readonly PassResult[] {
    return this.clients.flatMap(({ newest }) => newest ?? []);
  }

  async start(): Promise<void> {
    const { clients, fleet } = this.#context;
    await Promise.all(clients.map((client) => this.#add(client)));
    this.#show(this.problems, true);
    await this.#watchClientFiles();
    this.#suspensions = await watchSuspensions(
      () => this.#suspended(),
      (client) => this.#controllers.get(client)?.trigger('request'),
    );
    await fleet.start({
      onReport: (client, report) => this.#controllers.get(client)?.adopt(report),
      onChange: this.#listeners.changeFeed.changed,
    });
  }

  /** Waits for writes in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    await Promise.all([
      this.#context.fleet.close(),
      this.#watcher?.close(),
      this.#suspensions?.close(),
      this.#reloadLimit(() => Promise.resolve()),
      ...this.clients.map((controller) => controller.close()),
    ]);
  }

  trigger(trigger: Trigger): void {
    for (const controller of this.clients) controller.trigger(trigger);
  }

  /** Asks for a pass of these clients, by name or pattern; of all if there are none. */
  async request(patterns: readonly string[]): Promise<PassRequests> {
    const { found, unknown } = matchNames(patterns, this.#controllers.keys());
    if (unknown.length > 0) return { kind: 'unknown', unknown };
    const asked = await Promise.all(
      [...this.#controllers].map(async ([client, controller]) => {
        if (patterns.length > 0 && !found.includes(client)) return [];
        return [{ client, run: await controller.request() }];
      }),
    );
    const passes = asked.flat().flatMap(({ client, run }) => (run === null ? [] : { client, run }));
    return passes.length === asked.flat().length ? { kind: 'asked', passes } : { kind: 'unsure' };
  }

  /** The history of writes. One request at a time, so that many of them do not slow passes down. */
  history(query: HistoryQuery): Promise<readonly WriteEntry[]> {
    const { sandboxUrl, redact, readHistory } = this.#context;
    const clients = this.clients.map(({ client }) => client.settings);
    const isSandbox = sandboxUrl !== null;
    return this.#historyLimit(() => readHistory({ clients, isSandbox, query, redact }));
  }

  /** Suspends or resumes a template, for the page. Null if there is no such template. */
  async suspending<T>(
    name: string,
    template: string,
    task: (one: SuspendedTemplate, suspensions: Suspensions) => Promise<T>,
  ): Promise<T | null> {
    const controller = this.#controllers.get(name);
    const known = controller?.newest?.templates.find((one) => one.template === template);
    if (!controller || (!known && controller.results.described(template).length === 0)) return null;
    return controller.client.suspending((suspensions) =>
      task({ template, templateId: known?.id ?? null }, suspensions),
    );
  }

  /** One statement per store, whatever the number of clients. */
  async #suspended(): Promise<Map<string, readonly Suspension[]>> {
    const writing = this.clients.map(({ client }) => client).filter(({ settings }) => !settings.dryRun);
    const found = await this.#context.suspended(writing.map(({ savedAt }) => savedAt));
    return new Map(writing.map(({ settings }, at) => [settings.name, found[at] ?? []]));
  }

  /** Reads the settings again and starts a pass of each client. Invalid settings change nothing. */
  reload(): void {
    this.#reread(() => this.#context.reopen(), true);
  }

  /** Has the files of clients, which may have changed since they were read, read again when they change. */
  async #watchClientFiles(): Promise<void> {
    await this.#watcher?.close();
    this.#watcher = null;
    const { clientFiles } = this.settings;
    if (clientFiles === null || this.#isClosing) return;
    this.#watcher = watchFiles({
      paths: clientFiles.directories,
      look: () => Promise.resolve(clientFiles.look()),
      onChange: () => this.#rereadClientFiles(),
      log: this.#context.log,
    });
    this.#rereadClientFiles();
  }

  #rereadClientFiles(): void {
    this.#reread(() => this.#context.reopenChanged(), false);
  }

  /** `isAsked`: a person asked for it, for all settings. */
  #reread(open: () => Pick<DaemonContext, 'settings' | 'clients'>, isAsked: boolean): void {
    void this.#reloadLimit(async () => {
      if (this.#isClosing) return;
      try {
        const opened = open();
        if (isAsked) this.#takeProgramSettings(opened.settings);
        await this.#use(opened, isAsked);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        this.#refuse(error);
      }
    });
  }

  #takeProgramSettings({ listen, notify }: Settings): void {
    if (JSON.stringify(listen) !== JSON.stringify(this.settings.listen))
      this.#context.log.warn(
        { event: 'settings.unapplied' },
        'listen has changed: the new address takes effect after a restart',
      );
    this.#listeners.notifier.configure(notify);
  }

  #refuse(error: UserError): void {
    this.#context.log.error(
      { event: 'settings.refused', err: error },
      'invalid settings; keeping the previous ones',
    );
    const lines = error instanceof SettingsError ? error.problems : [error.message];
    const [name = '', ...more] = this.#controllers.keys();
    const client = more.length > 0 ? '' : name;
    this.problems = lines.map((line) => settingsProblem(client, this.settings.configFile, line));
    this.#listeners.changeFeed.changed();
    this.trigger('request');
  }

  /** These clients replace those of their names or are new, and have a pass; those that the settings have no more go. */
  async #use(
    { settings, clients }: Pick<DaemonContext, 'settings' | 'clients'>,
    isAsked: boolean,
  ): Promise<void> {
    this.settings = settings;
    const names = new Set(settings.clients.map(({ name }) => name));
    const gone = this.clients.filter(({ client }) => !names.has(client.settings.name));
    for (const { client } of gone) this.#controllers.delete(client.settings.name);
    for (const client of clients) await this.#replace(client);
    const refused = [...new Set(settings.leftOut.map(({ client }) => client))];
    const fields = {
      event: 'settings.reloaded',
      clients: clients.map((client) => client.settings.name).filter((name) => !refused.includes(name)),
      removed: gone.map(({ client }) => client.settings.name),
      refused,
    };
    if (isAsked || clients.length + gone.length > 0) this.#context.log.info(fields, 'settings reloaded');
    this.#show(settings.leftOut, isAsked);
    for (const client of clients) this.#controllers.get(client.settings.name)?.trigger('request');
    await Promise.all(gone.map((controller) => this.#remove(controller)));
    if (isAsked) await this.#watchClientFiles();
  }

  /** Errors of the files of clients, said if they are new. A missing file may appear later, such as a token file. */
  #show(problems: readonly ClientProblem[], isAsked: boolean): void {
    const isNew = isAsked || JSON.stringify(problems) !== JSON.stringify(this.problems);
    if (isNew && problems.length > 0)
      this.#context.log.error(
        { event: 'settings.refused', problems },
        'invalid client files; these clients keep their previous settings, and new ones wait',
      );
    this.problems = problems;
    this.#listeners.changeFeed.changed();
    clearTimeout(this.#retry);
    if (problems.length > 0) this.#retry = setTimeout(() => this.#rereadClientFiles(), retryInterval).unref();
  }

  async #replace(client: DaemonClient): Promise<void> {
    const controller = this.#controllers.get(client.settings.name);
    const isSame = controller?.client.savedAt.scope === client.savedAt.scope;
    if (controller && (isSame || !this.#context.fleet.isShared)) return controller.replace(client);
    // Whose another base URL is, is another question to those that share it.
    await controller?.close();
    await this.#add(client);
  }

  async #add(client: DaemonClient): Promise<void> {
    const { metrics, notifier, day, changeFeed } = this.#listeners;
    const { log, fleet } = this.#context;
    const { name } = client.settings;
    metrics.addClient(name);
    const controller = new ClientController({
      client,
      fleet,
      log,
      metrics,
      onChange: changeFeed.changed,
      onPass: (event) => notifier.publish(event),
      onEntry: (entry) => day.add(entry),
      limit: (of, task) => this.#limited(of, task),
    });
    this.#controllers.set(name, controller);
    await controller.start();
  }

  async #remove(controller: ClientController): Promise<void> {
    await controller.close();
    const { metrics, day, changeFeed } = this.#listeners;
    const { name } = controller.client.settings;
    day.forget(name);
    changeFeed.changed();
    await metrics.removeClient(name);
  }

  /** Those that wait for a server that never answers keep no others waiting. */
  #limited<T>({ settings }: DaemonClient, task: () => Promise<T>): Promise<T> {
    const { host } = new URL(settings.baseUrl);
    const ofServer = this.#serverLimits.get(host) ?? limit(passesOfServer);
    this.#serverLimits.set(host, ofServer);
    return ofServer(() => this.#passLimit(task));
  }
}

/** Passes of different clients. More at once would need more memory and be no faster. */
const passesAtOnce = 16;
const passesOfServer = 12;

/** Milliseconds. */
const retryInterval = 30_000;

const noPass = { severity: 'error', check: 'no-pass', file: null, line: null, column: null } as const;
