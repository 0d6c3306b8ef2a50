import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Settings } from '../../settings.ts';

/** A request that was refused. */
export interface PageRefusal {
  readonly token: 'trigger' | 'page';
  /** `foreign`: a form that another site has sent. */
  readonly reason: 'missing' | 'wrong' | 'foreign';
  /** The address of the client. */
  readonly address: string;
}

/** The address of the client. */
export const peerOf = (c: Context): string => getConnInfo(c).remote.address ?? '';

/** `act`: asks for passes, suspends and resumes, and sees the page too; `read`: sees the page. */
type Role = 'read' | 'act';

/**
 * `pageToken`: who may see the page; without it, everybody. `triggerToken`: who may act; without it, nobody. One sign-in, by form or as a bearer (RFC 6750, section 2.1): the token decides what somebody may do. A session is a
 * cookie, signed with its token: it survives a restart, and ends with the token. Signing out ends it for every copy.
 */
export const signIn = (settings: () => Pick<Settings, 'pageToken' | 'triggerToken' | 'publicUrl'>) => {
  const tokens = () => {
    const read = settings().pageToken?.read() ?? null;
    const trigger = settings().triggerToken?.read() ?? null;
    // If both are the same, whoever may see the page could act.
    return { read, trigger, act: trigger === read ? null : trigger };
  };
  /** When each session that was ended would have ended by itself, by its id. */
  const ended = new Map<string, number>();
  const roleOf = (given: Buffer): Role | null => roles.find((role) => isSame(given, tokens()[role])) ?? null;
  const session = async (c: Context) => {
    for (const role of roles) {
      const token = tokens()[role];
      const value = token !== null && (await getSignedCookie(c, token, cookie));
      const [, of, id = '', ends = '', name = ''] = format.exec(value || '') ?? [];
      if (of === role && Number(ends) > Date.now() && !ended.has(id))
        return { role, id, ends: Number(ends), name };
    }
    return null;
  };
  return {
    /** `act` is null where nobody may act, `read` where everybody may see the page. */
    tokens,
    /** What the token of a form allows. */
    roleOf: (token: string): Role | null => roleOf(Buffer.from(token)),
    /** What an `Authorization` header allows. */
    bearer: (header: string | undefined): Role | null => roleOf(bearerIn(header)),
    /** Whether it has the trigger token, whatever else that is. */
    triggers: (header: string | undefined): boolean => isSame(bearerIn(header), tokens().trigger),
    /** Who has signed in: their role, and what they called themselves; empty if they did not say. */
    session,
    start: (c: Context, role: Role, name: string): Promise<void> => {
      const ends = Date.now() + lengths[role];
      return setSignedCookie(c, cookie, `${role}.${randomUUID()}.${ends}.${name}`, tokens()[role] ?? '', {
        ...attributes(c, settings().publicUrl),
        maxAge: lengths[role] / 1_000,
      });
    },
    end: async (c: Context): Promise<void> => {
      const known = await session(c);
      for (const [id, ends] of ended) if (ends <= Date.now()) ended.delete(id);
      if (known !== null) ended.set(known.id, known.ends);
      deleteCookie(c, cookie, attributes(c, settings().publicUrl));
    },
  };
};

export type SignIn = ReturnType<typeof signIn>;

const roles: readonly Role[] = ['act', 'read'];
const cookie = 'dns-template-sync';
const format = /^(act|read)\.([\w-]+)\.(\d+)\.(.*)$/;

/** Milliseconds. */
const lengths: Readonly<Record<Role, number>> = { act: 12 * 3_600_000, read: 7 * 86_400_000 };

/** Without a path, a browser sends it to the folder of the page alone, also under a path of a proxy. */
const attributes = (c: Context, publicUrl: string | null) =>
  ({
    httpOnly: true,
    sameSite: 'Strict',
    path: '',
    // A proxy terminates TLS.
    secure: publicUrl?.startsWith('https:') === true || c.req.header('x-forwarded-proto') === 'https',
  }) as const;

/** Node.js reads headers as Latin-1; this restores the bytes that were sent. Empty, as no token is, if there is none. */
const bearerIn = (header: string | undefined): Buffer =>
  Buffer.from(/^Bearer +(.*)$/is.exec(header ?? '')?.[1] ?? '', 'latin1');

/** Takes the same time whether they are equal or not, so that timing tells nothing about the token. */
const isSame = (given: Buffer, token: string | null): boolean =>
  timingSafeEqual(digest(given), digest(Buffer.from(token ?? randomUUID())));

const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
