import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SeenRequest } from './wire.ts';

/** A request with what is needed to send it on. */
export interface ReceivedRequest {
  readonly seen: SeenRequest;
  /** Tokens and parameters. */
  readonly form: URLSearchParams;
  /** Below the base address, with the query. */
  readonly path: string;
}

/** Reads requests, and numbers those of one caller and kind. */
export const createReader = (): ((incoming: IncomingMessage) => Promise<ReceivedRequest>) => {
  const ordinals = new Map<string, number>();
  return async (incoming) => {
    const { method, url = '' } = incoming;
    const body = await text(incoming);
    const path = url.replace(/^\/api\/v1/, '');
    const form = new URLSearchParams(method === 'PUT' ? body : path.split('?')[1]);
    const { user_token: caller = '', client_token: _, ...parameters } = Object.fromEntries(form);
    const { operation, templateId } = operationOf(method, path);
    const kind = `${caller} ${operation} ${templateId}`;
    const ordinal = ordinals.get(kind) ?? 0;
    ordinals.set(kind, ordinal + 1);
    return { seen: { caller, operation, templateId, parameters, ordinal }, form, path };
  };
};

const operationOf = (
  method: string | undefined,
  path: string,
): Pick<SeenRequest, 'operation' | 'templateId'> => {
  const [, templateId = '0', action] = /^\/dns_templates\/(\d+)\/(add|update)_record$/.exec(path) ?? [];
  if (method === 'PUT' && (action === 'add' || action === 'update'))
    return { operation: action, templateId: Number(templateId) };
  const isList = method === 'GET' && path.startsWith('/dns_templates?');
  return { operation: isList ? 'list' : 'other', templateId: 0 };
};
