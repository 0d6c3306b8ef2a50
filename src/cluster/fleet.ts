import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type {
  Fleet,
  FleetClient,
  FleetListener,
  FleetOwners,
  Membership,
  PassReport,
} from '../daemon/fleet.ts';
import { messageOf } from '../errors.ts';
import { batched, limit } from '../lib/limit.ts';
import { sleep } from '../lib/sleep.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { FleetSummary } from '../status-page/facts.ts';
import { listenOn, type Listener } from './listen.ts';
import { newsChannel, tell, type News } from './news.ts';
import {
  addClients,
  claimClients,
  differingTokens,
  findLeaving,
  forgetFiles,
  liveProcesses,
  ownersIn,
  noteFiles,
  putRequests,
  releaseClients,
  rememberedIds,
  replaceLostHeads,
  takeRequests,
  unownedClients,
  withHead,
  type FilesVersion,
  type PassRequest,
} from './owners.ts';
import type { Renewed } from './process-lease.ts';
import { reportsOf, type Reports } from './reports.ts';
import { MemoryError } from '../state/memory.ts';
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

interface Member {
  readonly client: FleetClient;
  readonly scope: string;
  /** The files that others know of; null before the first time. */
  noted: FilesVersion | null;
  /** Whether they are those that are in use. */
  hasHead: boolean;
  /** Its token, since that was found to be another one than the owner's; null where it is the same. */
  differing: string | null;
  /** Why it cannot be the client that others know by this name; null if it can. */
  trouble: string | null;
}

class SharedFleet implements Fleet {
  readonly isShared = true;
  summary: FleetSummary | null = null;
  readonly #options: FleetOptions;
  readonly #store: PostgresStore;
  readonly #members = new Map<string, Member>();
  readonly #reports: Reports;
  /** Clients that are being given up, each until it is anybody's. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Clients that a command waits for: given up after the running pass. */
  readonly #wanted = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #trouble: string | null = 'PostgreSQL was not asked yet';
  #told: FleetListener | null = null;
  #listener: Listener | null = null;
  #looking: Promise<void> | null = null;
  #isLookDue = false;
  /** The id under which others know that it stays. */
  #announced: string | null = null;
  #isStarted = false;
  #isClosing = false;
  #saidAt = -Infinity;
  /** When tokens were last found to be the same as those of the owners. */
  #agreedAt = -Infinity;

  readonly #beginInTurn = limit(beginAtOnce);
  readonly #noteSoon = batched<Member>((members) => this.#note([...new Set(members)]), moment);
  readonly #releaseSoon = batched<string>((scopes) => this.#release(scopes), moment);
  readonly #askSoon = batched<PassRequest>((requests) => this.#ask(requests), moment);
  /** What was asked for together, by client. */
  readonly #asked = new Map<string, string>();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#reports = reportsOf({ query: (...what) => this.#store.database().query(...what) }, randomUUID());
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  async owners(): Promise<FleetOwners> {
    return ownersIn(await this.#store.opened());
  }

  join(client: FleetClient): Membership {
    const scope = client.scope();
    const member: Member = { client, scope, noted: null, hasHead: false, differing: null, trouble: null };
    this.#members.set(member.scope, member);
    this.#agreedAt = -Infinity;
    return {
      get trouble() {
        return member.trouble;
      },
      start: () => this.#add(member),
      mayPass: () => this.#mayPass(member),
      passed: (report) => this.#share(member, report),
      request: () => this.#request(member),
      leave: () => this.#leave(member),
    };
  }

  async start(listener: FleetListener): Promise<void> {
    this.#told = listener;
    this.#store.lease.follow({
      onRenewed: (renewed) => this.#renewed(renewed),
      onLost: () => this.#lose(),
      onTrouble: (error) => this.#isInTrouble(error),
    });
    const begin = async (): Promise<void> => {
      await this.#store.lease.join();
      await addClients(
        this.#store.database(),
        [...this.#members.values()].map(({ client, scope }) => ({
          scope,
          name: client.name,
          baseUrl: client.baseUrl(),
        })),
      );
      await this.#note([...this.#members.values()]);
      await this.#takeNews();
      this.#settled();
      this.#isStarted = true;
      // What is asked for at the start comes first.
      this.#later('look', 0, () => this.#look());
    };
    const beginAgain = async (): Promise<void> => {
      try {
        await begin();
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        this.#isInTrouble(error);
        this.#later('begin', retryInterval, () => this.#tried('start', beginAgain).then(() => undefined));
      }
    };
    await beginAgain();
    this.#listen();
    this.#every(reportInterval, 'reports', () => this.#takeNews());
    this.#every(this.#options.leaseDuration / 3, 'files', () => this.#noteChanged());
    this.#every(this.#options.leaseDuration, 'tokens', () => this.#checkTokens());
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

  /** Of a client that is added to a fleet that takes part. */
  async #add(member: Member): Promise<void> {
    if (!this.#isStarted) return;
    const { client, scope } = member;
    await this.#tried('files', async () => {
      const known = { scope, name: client.name, baseUrl: client.baseUrl() };
      await addClients(await this.#store.opened(), [known]);
      await this.#noteSoon(member);
    });
  }

  #isOwned({ scope }: Member): boolean {
    return this.#store.claims.has(scope) && !this.#leaving.has(scope);
  }

  async #filesOf({ client, scope, noted }: Member): Promise<FilesVersion> {
    // What cannot be read now is as it was.
    const files = await client.files().catch(() => noted);
    return { scope, version: files?.version ?? null, commit: files?.commit ?? null };
  }

  /** Makes known which files this process has for these clients. */
  async #note(members: readonly Member[]): Promise<void> {
    const { lease, opened } = this.#store;
    const inTurn = limit(readAtOnce);
    const files = await Promise.all(members.map((member) => inTurn(() => this.#filesOf(member))));
    const changed = members.flatMap((member, at) =>
      isSame(files[at]!, member.noted) ? [] : { member, files: files[at]! },
    );
    if (changed.length === 0) return;
    const database = await opened();
    const process = await lease.join();
    const others = new Set(changed.map(({ member }) => member));
    const kept = [...this.#members.values()].filter((member) => !others.has(member));
    const commits = new Set(
      [...changed.map((one) => one.files.commit), ...kept.map(({ noted }) => noted?.commit ?? null)].filter(
        (commit) => commit !== null,
      ),
    );
    const scopes = changed.map(({ member }) => member.scope);
    await noteFiles(
      database,
      process,
      changed.map((one) => one.files),
      [...commits],
    );
    await replaceLostHeads(database, process, scopes);
    const heads = await withHead(database, process, scopes);
    for (const { member, files: noted } of changed) {
      member.noted = noted;
      member.hasHead = heads.has(member.scope);
    }
    if (this.#isStarted) this.#tell('clients');
  }

  /** The files of clients that this process owns are watched; the others are looked at from time to time. */
  async #noteChanged(): Promise<void> {
    if (!this.#isStarted) return;
    await this.#note([...this.#members.values()].filter((member) => !this.#isOwned(member)));
  }

  /** A token that was rotated is soon the owner's too; one of another account never is. Once a minute while all agree. */
  async #checkTokens(): Promise<void> {
    if (!this.#isStarted || performance.now() - this.#agreedAt < agreedInterval) return;
    const database = await this.#store.opened();
    const others = [...this.#members.values()].filter((member) => !this.#isOwned(member));
    const tokens: { scope: string; token: string }[] = [];
    for (const { scope, client } of others) {
      if (isYieldDue()) await yieldToOthers();
      tokens.push({ scope, token: tokenOf(client) });
    }
    const found = await differingTokens(database, tokens);
    if (found.size === 0) this.#agreedAt = performance.now();
    for (const [at, member] of others.entries()) {
      const before = member.differing;
      member.differing = found.has(member.scope) ? tokens[at]!.token : null;
      if (member.differing === null) member.trouble = null;
      else if (member.differing === before && member.trouble === null) await this.#checkAccount(member);
    }
  }

  async #checkAccount(member: Member): Promise<void> {
    const { client, scope } = member;
    const known = await rememberedIds(this.#store.database(), scope);
    const listed = new Set(await client.listTemplateIds().catch(() => known));
    if (known.size === 0 || [...known].some((id) => listed.has(id))) return;
    member.trouble = `client ${client.name} of this store is another account: name the client, or correct its token`;
    this.#options.log.error({ event: 'fleet.account', client: client.name }, member.trouble);
    this.#told?.onChange();
  }

  #renewed({ nextExpiry }: Renewed): void {
    this.#settled();
    // From the first renewal on others give up what is its share.
    const { id } = this.#store.lease;
    if (id !== this.#announced) this.#tell('clients');
    this.#announced = id;
    this.#later('look', 0, () => this.#look());
    if (nextExpiry !== null) this.#later('expiry', nextExpiry + expiryDelay, () => this.#look());
  }

  /** What is to be given up, taken and done; one look after the other. */
  #look(): Promise<void> {
    this.#isLookDue = true;
    this.#looking ??= this.#lookAgain().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #lookAgain(): Promise<void> {
    while (this.#isLookDue && !this.#isClosing) {
      this.#isLookDue = false;
      await this.#tried('look', () => this.#lookOnce());
    }
  }

  async #lookOnce(): Promise<void> {
    const { lease, opened, claims } = this.#store;
    const { leaseDuration } = this.#options;
    const database = await opened();
    const process = await lease.join();
    await replaceLostHeads(database, process);
    const { leaving, excess } = await findLeaving(database, process);
    let spare = excess - this.#leaving.size;
    this.#wanted.clear();
    for (const { scope, why } of leaving) {
      const member = this.#members.get(scope);
      if (member === undefined || this.#leaving.has(scope)) continue;
      if (why === 'moved') member.hasHead = false;
      const isBusy = member.client.isBusy();
      if (why === 'wanted' && isBusy) this.#wanted.add(scope);
      if (why !== 'moved' && isBusy) continue;
      if (why === 'spare' && (spare -= 1) < 0) continue;
      void this.#giveUp(member);
    }
    const { claimed, left } = await claimClients(database, process, leaseDuration);
    for (const claim of claimed) claims.set(claim.scope, claim);
    this.#counted({ takenOver: claimed.filter(({ isTakenOver }) => isTakenOver).length });
    for (const { scope } of claimed) this.#own(scope);
    if (left > 0) this.#later('left', leftInterval, () => this.#look());
    for (const { scope, run } of await takeRequests(database, process))
      this.#members.get(scope)?.client.request(run);
    const processes = await liveProcesses(database);
    const unowned = await unownedClients(database, process, leaseDuration);
    this.#summarise({ processes, unowned, isHere: process });
  }

  #summarise(summary: FleetSummary): void {
    const before = this.summary;
    this.summary = summary;
    if (shownOf(before) !== shownOf(summary)) this.#told?.onChange();
  }

  #own(scope: string): void {
    const member = this.#members.get(scope);
    if (member === undefined) {
      void this.#tried('release', () => this.#releaseSoon(scope));
      return;
    }
    member.hasHead = true;
    void this.#begin(member);
  }

  async #begin({ scope, client }: Member): Promise<void> {
    // It may have been this process's a moment ago.
    await this.#leaving.get(scope);
    // Thousands of watchers at once would keep the lease from being renewed.
    await this.#beginInTurn(async () => {
      if (this.#store.claims.has(scope) && !this.#isClosing) client.own('startup');
      await yieldToOthers();
    });
  }

  /** At once where no write is in flight, else when its answer is saved. */
  #giveUp(member: Member): Promise<void> {
    const { scope, client } = member;
    const known = this.#leaving.get(scope);
    if (known !== undefined) return known;
    const given = (async (): Promise<void> => {
      await client.disown();
      if (this.#store.claims.delete(scope)) await this.#tried('release', () => this.#releaseSoon(scope));
      this.#leaving.delete(scope);
      this.#counted({});
    })();
    this.#leaving.set(scope, given);
    return given;
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
    this.#later('note', 0, () =>
      this.#tried('files', () => this.#note([...this.#members.values()])).then(() => this.#look()),
    );
  }

  #share(member: Member, report: PassReport): void {
    if (this.#wanted.delete(member.scope)) void this.#giveUp(member);
    void this.#tried('report', async () => {
      const isNew = await this.#reports.save(member.scope, this.#options.redact(report));
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

  async #request({ scope }: Member): Promise<string | null> {
    const isAsked = await this.#tried('request', () => this.#askSoon({ scope, run: randomUUID() }));
    return isAsked ? (this.#asked.get(scope) ?? null) : null;
  }

  async #ask(requests: readonly PassRequest[]): Promise<void> {
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
    await this.#tried('files', () => forgetFiles(database(), id, [member.scope]));
  }

  #listen(): void {
    const { url } = this.#store.database();
    this.#listener = listenOn(url, newsChannel, (said) => {
      if (said === null || said === 'reports')
        this.#later('news', burst, () =>
          this.#tried('reports', () => this.#takeNews()).then(() => undefined),
        );
      if (said !== 'reports') this.#later('look', lookDelay, () => this.#look());
    });
  }

  #tell(what: News): void {
    this.#later(`tell ${what}`, burst, () =>
      this.#tried('tell', () => tell(this.#store.database(), what)).then(() => undefined),
    );
  }

  #counted(change: { readonly takenOver?: number; readonly lost?: number }): void {
    this.#options.onOwned(this.#store.claims.size, change);
  }

  #settled(): void {
    if (this.#trouble !== null && this.#isStarted)
      this.#options.log.info({ event: 'fleet.back' }, 'PostgreSQL can be used again');
    this.#isTroubled(null);
    this.#options.onDatabase(true);
  }

  #isInTrouble(error: unknown): void {
    if (error instanceof NewerSchemaError) this.#options.onOutdated(error);
    const reason = messageOf(error);
    this.#isTroubled(reason);
    this.#options.onDatabase(false);
    this.#complain('lease', reason);
  }

  #isTroubled(reason: string | null): void {
    if (this.#trouble === reason) return;
    this.#trouble = reason;
    this.#told?.onChange();
  }

  /** What PostgreSQL does not take now is made up for later: by the next look, or by whoever takes over. */
  async #tried(what: string, task: () => Promise<unknown>): Promise<boolean> {
    try {
      await task();
      return true;
    } catch (error) {
      this.#complain(what, messageOf(error));
      return false;
    }
  }

  /** At most once a minute: while PostgreSQL is away, everything fails, again and again. */
  #complain(what: string, reason: string): void {
    if (this.#isClosing) return;
    const isNew = performance.now() - this.#saidAt > complaintInterval;
    if (isNew) this.#saidAt = performance.now();
    this.#options.log[isNew ? 'warn' : 'debug'](
      { event: 'fleet.trouble', what, reason },
      'PostgreSQL does not do what processes share clients by; will retry',
    );
  }

  #every(interval: number, what: string, task: () => Promise<unknown>): void {
    this.#later(what, interval * (0.9 + 0.2 * Math.random()), async () => {
      await this.#tried(what, task);
      this.#every(interval, what, task);
    });
  }

  /** Once for all that ask for it until then; an earlier time counts. */
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

const isSame = (one: FilesVersion, other: FilesVersion | null): boolean =>
  other !== null && one.version === other.version && one.commit === other.commit;

/** None where it cannot be read, which its passes will say. */
const tokenOf = (client: FleetClient): string => {
  try {
    return client.token();
  } catch {
    return '';
  }
};

/** All but what each renewal changes. */
const shownOf = (summary: FleetSummary | null): string =>
  JSON.stringify(summary, (key: string, value: unknown) => (key === 'aliveUntil' ? undefined : value));

/** Milliseconds. */
const moment = 10;
const lookDelay = 20;
const burst = 100;
const expiryDelay = 20;
const closePatience = 2_000;
const leftInterval = 1_000;
const retryInterval = 2_000;
const reportInterval = 5_000;
const agreedInterval = 60_000;
const complaintInterval = 60_000;
/** Clients. */
const readAtOnce = 8;
const beginAtOnce = 8;
