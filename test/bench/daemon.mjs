import { eventLine, startProgram } from './children.mjs';
import { triggerToken } from './world.mjs';

/** The daemon, for the time of `task`, which begins when it has started. */
export const withDaemon = async (args, place, task) => {
  const program = startProgram(
    ['run', '--listen', '127.0.0.1:0', '--schedule', '0 0 29 2 *', ...args],
    place,
  );
  try {
    const { listen } = await program.line(eventLine('daemon.started'));
    return await task({
      listen,
      child: program.child,
      /** Resolves when a pass with this trigger has ended; with the clock at that moment. */
      passed: (trigger) => program.line(passedBy(trigger)),
      request: () =>
        fetch(`${listen}/api/reconcile`, {
          method: 'POST',
          headers: { authorization: `Bearer ${triggerToken}` },
        }),
    });
  } finally {
    program.end();
    await program.ended;
  }
};

/** Most lines are of no interest, and reading them takes time that would be counted. */
const passedBy = (trigger) => (text) =>
  text.includes('"event":"pass.finished"') && text.includes(`"trigger":"${trigger}"`)
    ? { at: performance.now(), ...JSON.parse(text) }
    : null;
