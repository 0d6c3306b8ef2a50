import type { RecordCheck, TemplateCheck } from './check.ts';

const shortest = 60;
const longest = 604_800;

export const unusual = (seconds: number): string | null => {
  if (seconds === 0) return 'a TTL of 0 forbids every cache to keep the answer';
  if (seconds < shortest) return `a TTL of ${seconds} s is very short`;
  return seconds > longest ? `a TTL of ${seconds} s is more than a week` : null;
};

export const ttlUnusual: RecordCheck = {
  id: 'ttl-unusual',
  find: ({ desired: { ttl }, fields }) => {
    const at = fields.get('ttl');
    const message = at === undefined || ttl === null ? null : unusual(ttl);
    return message === null ? [] : [{ at: at!, message }];
  },
};

export const templateTtlUnusual: TemplateCheck = {
  id: 'ttl-unusual',
  find: ({ ttl }) => {
    const message = ttl === null ? null : unusual(ttl.seconds);
    return message === null ? [] : [{ entry: null, at: ttl!, message }];
  },
};
