/** @type {readonly import('../table.mjs').Mutation[]} */
export const retries = [
  {
    rule: '§3.3 a write is sent again only if it never left',
    file: 'src/hosting/retry.ts',
    from: "export const mayRepeatWrite = ({ kind }: HostingError): boolean => kind === 'not-sent';",
    to: "export const mayRepeatWrite = ({ kind }: HostingError): boolean => kind !== 'refused';",
    tests: ['hosting/faults'],
  },
  {
    rule: '§3.3 429 ends the client’s writes for this pass',
    file: 'src/apply/write.ts',
    from: '      haltFor(error, context);\n',
    to: '',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.3 429 says when a fresh pass may try',
    file: 'src/apply/halt.ts',
    from: "error.retryAfter ?? (error.kind === 'rate-limited' ? defaultWait : null)",
    to: 'error.retryAfter',
    tests: ['apply/halt'],
  },
];
