import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether an Authorization header bears this token (RFC 6750, section 2.1). Takes the same time for every
 * header, so that timing tells nothing about the token.
 */
export const bears = (header: string | undefined, token: string): boolean => {
  const [, given] = /^Bearer +(.*)$/is.exec(header ?? '') ?? [];
  // Node.js reads headers as Latin-1; this restores the bytes that were sent.
  return given !== undefined && isSame(Buffer.from(given, 'latin1'), token);
};

/** Takes the same time whether they are equal or not. */
export const isSame = (given: Buffer, token: string): boolean =>
  timingSafeEqual(digest(given), digest(Buffer.from(token)));

const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
