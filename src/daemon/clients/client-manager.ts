import { newestWrites, type HistoryQuery, type ShownEntry } from '../../app/history.ts';
import { noPass } from '../../app/passes.ts';
import { UserError } from '../../errors.ts';
import { limit } from '../../lib/limit.ts';
import { matchNames } from '../../model/match-names.ts';
import type { SuspendedTemplate, Suspensions } from '../../model/suspension.ts';
import type { PassResult, Trigger } from '../../result.ts';
import type { Settings } from '../../settings.ts';
import { type ClientProblem, settingsProblem, SettingsError } from '../../settings/problems.ts';
import { watchFiles, type Watcher } from '../../source/watch.ts';
import type { DaemonClient, DaemonContext, Listeners } from '../context.ts';
import { ClientController } from './client-controller.ts';

/** What was asked for. `unknown`: nothing, since patterns match no client; `unsure`: not all passes certainly come. */
export type PassRequests =
  | { readonly kind: 'asked'; readonly passes: readonly { readonly client: string; readonly run: string }[] }
  | { readonly kind: 'unknown'; readonly unknown: readonly string[] }
  | { readonly kind: 'unsure' };

/** All clients of the daemon: those that the settings say should run, and those that run. */
export class ClientManager {
  readonly #context: DaemonContext;
  readonly #listeners: Listeners;
  readonly #passLimit = limit(passesAtOnce);
  readonly #serverLimits = new Map<string, ReturnType<typeof limit>>();
  readonly #historyLimit = limit(1);
  readonly #reloadLimit = limit(1);
  readonly #controllers = new Map<string, ClientController>();
  /** What watches the files of clients. */
  #watcher: Watcher | null = null;
  #retry: NodeJS.Timeout | undefined;
  #nextLook: NodeJS.Timeout | undefined;
  /** The look for suspensions that is under way. */
  #looking: Promise<void> = Promise.resolve();
  #isClosing = false;
  settings: Settings;
  /** What is wrong with the settings: their clients are left out, or keep the settings that they had. */
  problems: readonly ClientProblem[] = [];

  constructor(context: DaemonContext, listeners: Listeners) {
    this.#context = context;
    this.#listeners = listeners;
    this.settings = context.settings;
  }

  get clients(): readonly ClientController[] {
    return [...this.#controllers.values()];
  }

  /** Clients that the last pass could not compare, or none has yet. */
  get uncompared(): readonly ClientProblem[] {
    return this.clients.flatMap(({ state: { client, uncompared: message } }) =>
      message === null ? [] : [{ ...noPass, client, message }],
    );
  }

  /** The latest result of each client that has had a pass. */
  get newest(): readonly PassResult[] {
    return this.clients.flatMap(({ known }) => known.newest ?? []);
  }

  async start(): Promise<void> {
    const { clients, fleet, settings } = this.#context;
    await Promise.all(clients.map((client) => this.#add(client)));
    this.#show(settings.leftOut, true);
    await this.#watchClientFiles();
    await (this.#looking = this.#lookForSuspensions());
    await fleet.start({
      onReport: (client, report) => this.#controllers.get(client)?.adopt(report),
      onChange: this.#listeners.changeFeed.changed,
    });
  }

  /** Waits for writes in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#nextLook);
    await Promise.all([
      this.#context.fleet.close(),
      this.#watcher?.close(),
      this.#looking,
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
    const asked = this.clients.filter(({ name }) => patterns.length === 0 || found.includes(name));
    const runs = await Promise.all(asked.map((controller) => controller.request()));
    const passes = asked.flatMap(({ name: client }, at) => {
      const run = runs[at] ?? null;
      return run === null ? [] : { client, run };
    });
    return passes.length === asked.length ? { kind: 'asked', passes } : { kind: 'unsure' };
  }

  /** The history of writes. One request at a time, so that many of them do not slow passes down. */
  history(query: HistoryQuery): Promise<readonly ShownEntry[]> {
    const clients = this.clients.map(({ client }) => client);
    return this.#historyLimit(() => newestWrites(clients, query, this.#context.redact));
  }

  /** Suspends or resumes a template, for the page. Null if there is no such template. */
  async suspending<T>(
    name: string,
    template: string,
    task: (one: SuspendedTemplate, suspensions: Suspensions) => Promise<T>,
  ): Promise<T | null> {
    const controller = this.#controllers.get(name);
    const known = controller?.known.newest?.templates.find((one) => one.template === template);
    if (!controller || (!known && controller.known.described(template).length === 0)) return null;
    return controller.client.suspending((suspensions) =>
      task({ template, templateId: known?.id ?? null }, suspensions),
    );
  }

  /** Finds what is suspended and resumed in any process, with one statement per store, whatever the number of clients. */
  async #lookForSuspensions(): Promise<void> {
    const writing = this.clients.filter(({ client }) => !client.settings.dryRun);
    // While the store cannot be read, passes fail and say so.
    const found = await this.#context.store
      .suspended(writing.map(({ client }) => client.savedAt))
      .catch(() => []);
    if (this.#isClosing) return;
    for (const [at, suspensions] of found.entries()) writing[at]?.noteSuspended(JSON.stringify(suspensions));
    const again = (): void => void (this.#looking = this.#lookForSuspensions());
    this.#nextLook = setTimeout(again, lookInterval).unref();
  }

  /** Reads the settings again and starts a pass of each client. Invalid settings change nothing. */
  reload(): void {
    this.#reread('all');
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
      onChange: () => this.#reread('client-files'),
      log: this.#context.log,
    });
    this.#reread('client-files');
  }

  #reread(what: Parameters<DaemonContext['reopen']>[0]): void {
    void this.#reloadLimit(async () => {
      if (this.#isClosing) return;
      try {
        await this.#use(this.#context.reopen(what), what === 'all');
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        const lines = error instanceof SettingsError ? error.problems : [error.message];
        const [name = '', ...more] = this.#controllers.keys();
        const client = more.length > 0 ? '' : name;
        const problems = lines.map((line) => settingsProblem(client, this.settings.configFile, line));
        this.#say(problems, 'invalid settings; keeping the previous ones');
        this.trigger('request');
      }
    });
  }

  /**
   * These clients are new, or replace those of their names, and have a pass; those that the settings have no more go.
   * `isAsked`: a person asked for it, for all settings.
   */
  async #use({ settings, clients }: ReturnType<DaemonContext['reopen']>, isAsked: boolean): Promise<void> {
    this.settings = settings;
    if (isAsked) this.#listeners.notifier.configure(settings.notify);
    const names = new Set(settings.clients.map(({ name }) => name));
    const gone = this.clients.filter(({ name }) => !names.has(name));
    for (const { name } of gone) this.#controllers.delete(name);
    for (const client of clients) await this.#replace(client);
    const refused = [...new Set(settings.leftOut.map(({ client }) => client))];
    const fields = {
      event: 'settings.reloaded',
      clients: clients.map((client) => client.settings.name).filter((name) => !refused.includes(name)),
      removed: gone.map(({ name }) => name),
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
    const words = 'invalid client files; these clients keep their previous settings, and new ones wait';
    this.#say(problems, isNew ? words : null);
    clearTimeout(this.#retry);
    if (problems.length > 0)
      this.#retry = setTimeout(() => this.#reread('client-files'), retryInterval).unref();
  }

  /** `words`: for the log; null if it has them. */
  #say(problems: readonly ClientProblem[], words: string | null): void {
    if (words !== null && problems.length > 0)
      this.#context.log.error({ event: 'settings.refused', problems }, words);
    this.problems = problems;
    this.#listeners.changeFeed.changed();
  }

  async #replace(client: DaemonClient): Promise<void> {
    const controller = this.#controllers.get(client.settings.name);
    if (controller?.client.savedAt.scope === client.savedAt.scope) return controller.replace(client);
    // Another base URL is another client of its own state.
    await controller?.close();
    await this.#add(client);
  }

  async #add(client: DaemonClient): Promise<void> {
    const { fleet, log } = this.#context;
    const { name } = client.settings;
    const listeners = this.#listeners;
    listeners.metrics.addClient(name);
    const { host } = new URL(client.settings.baseUrl);
    const inTurn = <T>(task: () => Promise<T>): Promise<T> => this.#inTurn(host, task);
    const controller = new ClientController({ client, fleet, log, listeners, inTurn });
    this.#controllers.set(name, controller);
    await controller.start();
  }

  async #remove(controller: ClientController): Promise<void> {
    const { metrics, day, changeFeed } = this.#listeners;
    await controller.close();
    day.forget(controller.name);
    changeFeed.changed();
    await metrics.removeClient(controller.name);
  }

  /** Those that wait for a server that never answers keep no others waiting. */
  #inTurn<T>(host: string, task: () => Promise<T>): Promise<T> {
    const ofServer = this.#serverLimits.get(host) ?? limit(passesOfServer);
    this.#serverLimits.set(host, ofServer);
    return ofServer(() => this.#passLimit(task));
  }
}

/** Passes of different clients. More at once would need more memory and be no faster. */
const passesAtOnce = 16;
const passesOfServer = 12;

/** Milliseconds between two looks for what is suspended. */
const lookInterval = 2_000;
/** Milliseconds. */
const retryInterval = 30_000;
