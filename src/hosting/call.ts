import type { z } from 'zod';
import type { Dialect } from '../model/dialect.ts';
import type { Shape } from './elements.ts';
import type { HostingErrorKind, Operation } from './errors.ts';
import type { PageParameters } from './pages.ts';
import type { WireAnswer, WireRequest } from './send-request.ts';

/** One of the operations with its parameters; a parameter that is null or undefined is not sent. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: 'GET' | 'PUT';
  /** Relative to the base URL. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | null | undefined>>;
  /** The schema of the answer; null: it may be anything but an error. */
  readonly answer: z.ZodType<T> | null;
  readonly reader?: BodyReader<T>;
  /** Present if the answer is a list. */
  readonly list?: ListPage;
  /** What asks for a page after the first one. */
  readonly page?: PageParameters;
}

/** Which page of a list, from 1, and how many elements are on those before. */
export interface ListPage {
  readonly number: number;
  readonly before: number;
}

/** A faster parser, for calls whose answers are mostly alike. */
export interface BodyReader<T> {
  /** Null if the schema has to read it and name its errors. */
  readonly read: (body: Buffer) => Promise<T | null>;
  /** The previous body. */
  readonly previous: () => Buffer | null;
}

export interface Tokens {
  readonly userToken: string;
  readonly clientToken: string;
  /** Where the tokens come from, for error messages. */
  readonly places?: string;
}

/** One request for metrics and logs, without secrets. */
export interface RequestTrace {
  readonly operation: Operation;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error?: string;
}

/** The answer, and what asks for the next page of a list; null after the last one. */
export interface Answered<T> {
  readonly value: T;
  readonly next: PageParameters | null;
}

export interface Wire {
  readonly origin: string;
  readonly basePath: string;
  /** The proxy between, for error messages; empty without one. */
  readonly via: string;
  readonly tokens: () => Tokens;
  readonly dialect: Dialect;
  /** The limits of an answer. */
  readonly shape: Shape;
  readonly maxAnswerSize: number;
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onRequest: ((trace: RequestTrace) => void) | undefined;
  /** Whether a read, and whether a write, has succeeded on this connection. */
  readonly proven: Record<'GET' | 'PUT', boolean>;
}

/** The context for reading an answer. */
export interface ResponseReading {
  readonly redact: (text: string) => string;
  readonly wire: Wire;
  readonly tokens: Tokens;
}

export const isWrite = (call: Call<unknown>): boolean => call.method === 'PUT';
export const lostKind = (call: Call<unknown>): HostingErrorKind =>
  isWrite(call) ? 'unknown' : 'unavailable';
export const brokenKind = (call: Call<unknown>): HostingErrorKind =>
  isWrite(call) ? 'unknown' : 'bad-answer';
