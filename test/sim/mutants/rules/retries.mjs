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
    file: 'src/reconcile/shell/write.ts',
    from: '      run.hold(holdFor(error, run.pass.clock.now()));\n',
    to: '',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.3 429 says when a fresh pass may try',
    file: 'src/reconcile/core/client-holds.ts',
    from: "retryAfter ?? (kind === 'rate-limited' ? defaultWait : null)",
    to: 'retryAfter',
    tests: ['reconcile/halt'],
  },
  {
    rule: '§3.3 a request to wait is not a refusal of the record',
    file: 'src/reconcile/core/evolve.ts',
    from: "      return withAttempt(state, { ...attempt, state: 'failed', error: event.error, retryAt: event.retryAt });",
    to: '      return refused(state, attempt, event.error, at);',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.3 a request to wait is not an unknown outcome',
    file: 'src/reconcile/core/evolve.ts',
    from: "      return withAttempt(state, { ...attempt, state: 'failed', error: event.error, retryAt: event.retryAt });",
    to: '      return lost(state, attempt, event.error, at);',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.3 of two reasons, a denial is reported',
    file: 'src/reconcile/core/client-holds.ts',
    from: "holds.find(({ cause }) => cause === 'denied') ?? holds[0]",
    to: 'holds[0]',
    tests: ['reconcile/halt'],
    unseen: 'a course does not tell why the writes of a client ended',
  },
];
