import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Fleet, FleetClient, FleetListener, FleetOwners, Membership, PassReport } from './membership.ts';
import { messageOf } from '../errors.ts';
import { atMostEvery } from '../lib/at-most-every.ts';
import { batched, limit } from '../lib/limit.ts';
import { sleep } from '../lib/sleep.ts';
import { yieldToOthers } from '../lib/yield.ts';
import { MemoryError } from '../state/memory.ts';
import type { FleetSummary } from '../status-page/facts.ts';
import { checkTokens, type Account } from './accounts.ts';
import type { PostgresDatabase } from './database.ts';
import { listenOn, tell, type Listener, type Topic } from './listen.ts';
import {
  addClients,
  claimClients,
  findLeaving,
  forgetFiles,
  noteFiles,
  ownedBy,
  ownersIn,
  putRequests,
  releaseClients,
  summaryFor,
  removeRequests,
  requestsTo,
  type NotedFiles,
  type AskedPass,
} from './owners.ts';
import { reportsOf, type Reports } from './reports.ts';
import { NewerSchemaError } from './schema.ts';
import type { PostgresStore } from './store.ts';

export interface FleetOptions {
  /** Somebody else closes it. */
  readonly store: PostgresStore;
  /** Milliseconds. */
  readonly leaseDuration: number;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly log: Logger;
  /** How many clients this process owns; `takenOver`: of ones that had not been given up; `lost`: that it did not give up. */
  readonly onOwned: (owned: number, change: { readonly takenOver?: number; readonly lost?: number }) => void;
  /** Called after each attempt to renew the lease. */
  readonly onDatabase: (isUp: boolean) => void;
  /** A newer program uses the database. */
  readonly onOutdated: (error: Error) => void;
}

/** Processes that share a PostgreSQL: each makes the passes of the clients that it owns. */
export const openFleet = (options: FleetOptions): Fleet => new SharedFleet(options);

interface Member extends Account {
  /** The files that others know of; null before the first time. */
  noted: NotedFiles | null;
  /** Whether they are those that are in use. */
  hasHead: boolean;
}

/**
 * Everything that decides whose a client is happens in one look after the other: at each renewal of the lease, at each news
 * of others, when the lease of another process may have run out, and when something fails.
 */
class SharedFleet implements Fleet {
  readonly isShared = true;
  summary: FleetSummary | null = null;
  readonly #options: FleetOptions;
  readonly #store: PostgresStore;
  readonly #members = new Map<string, Member>();
  readonly #reports: Reports;
  /** Clients that are being given up, each until it is anybody's. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #told: FleetListener | null = null;
  #listener: Listener | null = null;
  #looking: Promise<void> | null = null;
  #isLookDue = false;
  /** Why the lease is not renewed, and why nothing is claimed or given up; null if that is done. */
  #leaseTrouble: string | null = 'PostgreSQL was not asked yet';
  #lookTrouble: string | null = null;
  #failedLooks = 0;
  /** The id under which others know that it stays. */
  #announced: string | null = null;
  #isStarted = false;
  #isClosing = false;
  /** When tokens were last found to be the same as those of the owners. */
  #agreedAt = -Infinity;

  readonly #mayComplain = atMostEvery(complaintInterval);
  readonly #beginInTurn = limit(beginAtOnce);
  readonly #noteSoon = batched<Member>((members) => this.#note([...new Set(members)]), moment);
  readonly #releaseSoon = batched<string>((scopes) => this.#release(scopes), moment);
  readonly #askSoon = batched<AskedPass>((requests) => this.#ask(requests), moment);
  /** What was asked for together, by client. */
  readonly #asked = new Map<string, string>();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#reports = reportsOf({ query: (...what) => this.#store.database().query(...what) }, randomUUID());
  }

  get trouble(): string | null {
    return this.#leaseTrouble ?? this.#lookTrouble;
  }

  async owners(): Promise<FleetOwners> {
    return ownersIn(await this.#store.opened());
  }

  join(client: FleetClient): Membership {
    const scope = client.scope();
    const member: Member = { client, scope, noted: null, hasHead: false, differing: null, trouble: null };
    this.#members.set(scope, member);
    this.#agreedAt = -Infinity;
    return {
      get trouble() {
        return member.trouble;
      },
      start: () => (this.#isStarted ? this.#look() : Promise.resolve()),
      mayPass: () => this.#mayPass(member),
      passed: (report) => this.#share(member, report),
      request: async () => {
        const isAsked = await this.#tried('request', () => this.#askSoon({ scope, run: randomUUID() }));
        return isAsked ? (this.#asked.get(scope) ?? null) : null;
      },
      leave: () => this.#leave(member),
    };
  }

  async start(listener: FleetListener): Promise<void> {
    this.#told = listener;
    this.#store.lease.follow({
      onRenewed: (nextExpiry) => this.#renewed(nextExpiry),
      onLost: () => this.#lose(),
      onTrouble: (error) => this.#isInTrouble(error),
    });
    try {
      await this.#introduce();
      this.#isTroubled(null);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      this.#isInTrouble(error);
    }
    this.#isStarted = true;
    // What is asked for at the start comes first.
    this.#later('look', 0, () => this.#look());
    const takeNews = (): Promise<void> => this.#takeNews();
    this.#listener = listenOn(this.#store.database().url, (said) => {
      if (said === null || said === 'reports')
        this.#later('news', burst, () => this.#tried('reports', takeNews));
      if (said !== 'reports') this.#later('look', lookDelay, () => this.#look());
    });
    this.#every(reportInterval, 'reports', takeNews);
    // Those of clients that this process owns are watched.
    const others = (): Member[] => [...this.#members.values()].filter((member) => !this.#isOwned(member));
    this.#every(this.#options.leaseDuration / 3, 'files', () => this.#note(others()));
    this.#every(this.#options.leaseDuration, 'tokens', () => this.#checkTokens(others()));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    // A database that does not answer keeps nobody: what is not given up runs out.
    await Promise.race([this.#looking, sleep(closePatience)]);
    await Promise.all([...this.#members.values()].map((member) => this.#giveUp(member)));
    await this.#listener?.close();
  }

  /** Whether its files are in use, as they are now. Nothing is asked while they do not change. */
  async #mayPass(member: Member): Promise<boolean> {
    const files = await this.#filesOf(member);
    if (!isSame(files, member.noted)) await this.#tried('files', () => this.#noteSoon(member));
    if (!member.hasHead && this.#isOwned(member)) this.#later('look', 0, () => this.#look());
    return member.hasHead && this.#isOwned(member);
  }

  #isOwned({ scope }: Member): boolean {
    return this.#store.claims.has(scope) && !this.#leaving.has(scope);
  }

  async #filesOf({ client, scope, noted }: Member): Promise<NotedFiles> {
    // What cannot be read now is as it was.
    const files = await client.files().catch(() => noted);
    return { scope, version: files?.version ?? null, commit: files?.commit ?? null };
  }

  /** Makes known clients that others may not have heard of, with their files. */
  async #introduce(): Promise<void> {
    const unknown = [...this.#members.values()].filter(({ noted }) => noted === null);
    if (unknown.length === 0) return;
    await this.#makeKnown(unknown);
    await this.#note(unknown);
  }

  async #makeKnown(members: readonly Member[]): Promise<void> {
    await addClients(
      await this.#store.opened(),
      members.map(({ client, scope }) => ({ scope, name: client.name, baseUrl: client.baseUrl() })),
    );
  }

  async #note(members: readonly Member[]): Promise<void> {
    const inTurn = limit(readAtOnce);
    const read = await Promise.all(
      members.map(async (member) => ({ member, files: await inTurn(() => this.#filesOf(member)) })),
    );
    const changed = read.filter(({ member, files }) => !isSame(files, member.noted));
    if (changed.length === 0) return;
    const { lease, opened } = this.#store;
    const process = await lease.join();
    const news = new Map(changed.map(({ member, files }) => [member, files]));
    const commits = [...this.#members.values()].map((one) => (news.get(one) ?? one.noted)?.commit ?? null);
    const heads = await noteFiles(
      await opened(),
      process,
      [...news.values()],
      [...new Set(commits)].filter((commit) => commit !== null),
    );
    for (const [member, files] of news) {
      member.noted = files;
      member.hasHead = heads.has(member.scope);
    }
    this.#tell('clients');
  }

  #renewed(nextExpiry: number | null): void {
    this.#isTroubled(null);
    // From the first renewal on others give up what is its share.
    const { id } = this.#store.lease;
    if (id !== this.#announced) this.#tell('clients');
    this.#announced = id;
    this.#later('look', 0, () => this.#look());
    if (nextExpiry !== null) this.#later('expiry', nextExpiry + lookDelay, () => this.#look());
  }

  /** One after the other. */
  #look(): Promise<void> {
    this.#isLookDue = true;
    const lookAgain = async (): Promise<void> => {
      while (this.#isLookDue && !this.#isClosing) {
        this.#isLookDue = false;
        let reason = '';
        const onFailure = (message: string): void => void (reason = message);
        const hasLooked = await this.#tried('look', () => this.#lookOnce(), onFailure);
        this.#failedLooks = hasLooked ? 0 : this.#failedLooks + 1;
        // One that fails is soon made up for.
        this.#showLook(this.#failedLooks < 2 ? null : reason);
        if (!hasLooked) this.#later('look', retryInterval, () => this.#look());
      }
    };
    this.#looking ??= lookAgain().finally(() => (this.#looking = null));
    return this.#looking;
  }

  /** What is to be made known, given up, taken and done. */
  async #lookOnce(): Promise<void> {
    const { lease, opened, claims } = this.#store;
    const { leaseDuration } = this.#options;
    const database = await opened();
    await this.#introduce();
    const process = await lease.join();
    const { leaving, excess } = await findLeaving(database, process);
    let spare = excess - this.#leaving.size;
    for (const { scope, why } of leaving) {
      const member = this.#members.get(scope);
      if (member === undefined || this.#leaving.has(scope)) continue;
      if (why === 'moved') member.hasHead = false;
      // No pass is ended for the sake of shares.
      if (why === 'spare' && (member.client.isBusy() || (spare -= 1) < 0)) continue;
      void this.#giveUp(member);
    }
    const { claimed, left } = await claimClients(database, process, leaseDuration);
    for (const claim of claimed) claims.set(claim.scope, claim);
    this.#counted({ takenOver: claimed.filter(({ isTakenOver }) => isTakenOver).length });
    for (const { scope } of claimed) void this.#begin(scope);
    const waiting = left + (await this.#takeRequests(database, process));
    if (waiting > 0) this.#later('left', leftInterval, () => this.#look());
    const before = this.summary;
    this.summary = await summaryFor(database, process, leaseDuration);
    if (shownOf(before) !== shownOf(this.summary)) this.#told?.onChange();
    // If the answer to a claim was lost, or a release failed, the database says that a client is ours, and nobody passes over it.
    const count = this.summary.processes.find(({ id }) => id === process)?.clients ?? 0;
    if (count === claims.size) return;
    const owned = new Set(await ownedBy(database, process));
    const strays = [...owned].filter((scope) => !claims.has(scope) && !this.#leaving.has(scope));
    if (strays.length > 0) await this.#release(strays);
    await this.#forget([...claims.keys()].filter((scope) => !owned.has(scope)));
  }

  /** A request stays until its pass comes. Returns how many stay: of clients of which no passes are made here yet. */
  async #takeRequests(database: PostgresDatabase, process: string): Promise<number> {
    const asked = await requestsTo(database, process);
    const taken = asked.filter(({ scope, run }) => this.#members.get(scope)?.client.request(run));
    if (taken.length > 0) await removeRequests(database, taken);
    return asked.length - taken.length;
  }

  async #begin(scope: string): Promise<void> {
    const member = this.#members.get(scope);
    if (member === undefined) {
      await this.#tried('release', () => this.#releaseSoon(scope));
      return;
    }
    member.hasHead = true;
    // It may have been this process's a moment ago.
    await this.#leaving.get(scope);
    // Thousands of watchers at once would keep the lease from being renewed.
    await this.#beginInTurn(async () => {
      if (this.#store.claims.has(scope) && !this.#isClosing) member.client.own('startup');
      await yieldToOthers();
    });
  }

  /** At once where no write is in flight, else when its answer is saved. */
  #giveUp({ scope, client }: Member): Promise<void> {
    const known = this.#leaving.get(scope);
    if (known !== undefined) return known;
    const given = (async (): Promise<void> => {
      await client.disown();
      const isGiven =
        !this.#store.claims.delete(scope) || (await this.#tried('release', () => this.#releaseSoon(scope)));
      this.#leaving.delete(scope);
      if (!isGiven) this.#later('look', retryInterval, () => this.#look());
      this.#counted({});
    })();
    this.#leaving.set(scope, given);
    return given;
  }

  /**
   * The lease holds, and these claims do not: others took the clients over while a renewal was under way, or their rows are
   * gone since another name has their state.
   */
  async #forget(scopes: readonly string[]): Promise<void> {
    if (scopes.length === 0) return;
    const members = scopes.flatMap((scope) => this.#members.get(scope) ?? []);
    await this.#makeKnown(members);
    for (const scope of scopes) this.#store.claims.delete(scope);
    for (const member of members) {
      member.noted = null;
      void this.#giveUp(member);
    }
  }

  async #release(scopes: readonly string[]): Promise<void> {
    const { lease, database } = this.#store;
    // What was lost is not ours to give.
    if (lease.id === null) return;
    await releaseClients(database(), lease.id, scopes);
    await tell(database(), 'clients');
  }

  /** The lease has run out: what this process owned others may have by now. */
  #lose(): void {
    const { claims } = this.#store;
    const lost = claims.size;
    claims.clear();
    for (const member of this.#members.values()) {
      // The files of the new process are unknown, too.
      member.noted = null;
      void this.#giveUp(member);
    }
    if (lost === 0) return;
    this.#options.log.warn(
      { event: 'fleet.lost', clients: lost },
      'the lease of this process ran out: other processes may take over its clients',
    );
    this.#counted({ lost });
  }

  #share({ scope }: Member, report: PassReport): void {
    void this.#tried('report', async () => {
      const isNew = await this.#reports.save(scope, this.#options.redact(report));
      if (isNew) this.#tell('reports');
    });
  }

  async #takeNews(): Promise<void> {
    await this.#store.opened();
    for (const { scope, report } of await this.#reports.news()) {
      const member = this.#members.get(scope);
      if (member && !this.#isOwned(member)) this.#told?.onReport(member.client.name, report);
    }
  }

  async #ask(requests: readonly AskedPass[]): Promise<void> {
    const database = await this.#store.opened();
    for (const { scope, run } of await putRequests(database, requests)) this.#asked.set(scope, run);
    await tell(database, 'requests');
  }

  async #leave(member: Member): Promise<void> {
    await this.#giveUp(member);
    const { lease, database } = this.#store;
    const { id } = lease;
    if (this.#isClosing || id === null) return;
    this.#members.delete(member.scope);
    await this.#tried('files', () => forgetFiles(database(), id, member.scope));
  }

  /** Once a minute while all agree. */
  async #checkTokens(others: readonly Member[]): Promise<void> {
    if (performance.now() - this.#agreedAt < agreedInterval) return;
    const isAgreed = await checkTokens(await this.#store.opened(), others, ({ client, trouble }) => {
      this.#options.log.error({ event: 'fleet.account', client: client.name }, trouble ?? '');
      this.#told?.onChange();
    });
    if (isAgreed) this.#agreedAt = performance.now();
  }

  #tell(what: Topic): void {
    this.#later(`tell ${what}`, burst, () => this.#tried('tell', () => tell(this.#store.database(), what)));
  }

  #counted(change: { readonly takenOver?: number; readonly lost?: number }): void {
    this.#options.onOwned(this.#store.claims.size, change);
  }

  #isInTrouble(error: unknown): void {
    if (error instanceof NewerSchemaError) this.#options.onOutdated(error);
    this.#isTroubled(messageOf(error));
    this.#complain('lease', messageOf(error));
  }

  #isTroubled(reason: string | null): void {
    this.#options.onDatabase(reason === null);
    if (this.#leaseTrouble === reason) return;
    if (reason === null && this.#isStarted)
      this.#options.log.info({ event: 'fleet.back' }, 'PostgreSQL can be used again');
    this.#leaseTrouble = reason;
    this.#told?.onChange();
  }

  #showLook(reason: string | null): void {
    if (this.#lookTrouble === reason) return;
    this.#lookTrouble = reason;
    this.#told?.onChange();
  }

  /** What PostgreSQL does not take now is made up for later: by the next look, or by whoever takes over. */
  async #tried(
    what: string,
    task: () => Promise<unknown>,
    onFailure?: (reason: string) => void,
  ): Promise<boolean> {
    try {
      await task();
      return true;
    } catch (error) {
      this.#complain(what, messageOf(error));
      onFailure?.(messageOf(error));
      return false;
    }
  }

  /** At most once a minute: while PostgreSQL is away, everything fails, again and again. */
  #complain(what: string, reason: string): void {
    if (this.#isClosing || !this.#mayComplain()) return;
    this.#options.log.warn(
      { event: 'fleet.trouble', what, reason },
      'PostgreSQL does not do what processes share clients by; will retry',
    );
  }

  #every(interval: number, what: string, task: () => Promise<void>): void {
    this.#later(what, interval * (0.9 + 0.2 * Math.random()), async () => {
      await this.#tried(what, task);
      this.#every(interval, what, task);
    });
  }

  /** Once for all that ask for it until then. */
  #later(what: string, delay: number, task: () => Promise<unknown>): void {
    if (this.#isClosing || (this.#timers.has(what) && what !== 'expiry')) return;
    clearTimeout(this.#timers.get(what));
    const timer = setTimeout(() => {
      this.#timers.delete(what);
      void task();
    }, delay);
    this.#timers.set(what, timer);
  }
}

const isSame = (one: NotedFiles, other: NotedFiles | null): boolean =>
  other !== null && one.version === other.version && one.commit === other.commit;

/** All but what each renewal changes. */
const shownOf = (summary: FleetSummary | null): string =>
  JSON.stringify(summary, (key: string, value: unknown) => (key === 'aliveUntil' ? undefined : value));

/** Milliseconds. */
const moment = 10;
const lookDelay = 20;
const burst = 100;
const closePatience = 2_000;
const leftInterval = 1_000;
const retryInterval = 2_000;
const reportInterval = 5_000;
const agreedInterval = 60_000;
const complaintInterval = 60_000;
/** Clients. */
const readAtOnce = 8;
const beginAtOnce = 8;
