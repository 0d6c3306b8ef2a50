import type { HostingService } from '../hosting/service.ts';
import type { DesiredState } from '../model/template.ts';
import type { Pass } from '../reconcile/pass.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { Clock } from '../lib/clock.ts';

/** The request for one pass. */
export type PassRequest = Pick<Pass, 'run' | 'trigger' | 'templates' | 'signal' | 'onChange'> &
  Partial<
    Pick<Pass, 'ignoreSubdomains' | 'force' | 'retry' | 'acceptLoss' | 'only' | 'isRehearsal' | 'approve'>
  > & {
    readonly dryRun: boolean;
    /** Milliseconds to wait for the lock of another process. */
    readonly lockTimeout: number;
    readonly onWait?: (holder: string) => void;
    /** Called before each wait, with its milliseconds and the reason. */
    readonly onPause?: (milliseconds: number, why: string) => void;
    /** Writes nothing to the service in any mode, but saves what it saw. */
    readonly onlyRemembers?: boolean;
    /** For a dry run without saved state: earlier template files of a client, which stand for it. */
    readonly base?: (client: ClientSettings) => readonly string[];
    /** The only subdomain to compare. */
    readonly subdomain?: string;
    /** Called when the lock is held and the pass begins. */
    readonly onStart?: () => void;
    /** Called with the loaded files before anything else. */
    readonly onDesired?: (desired: DesiredState) => void;
  };

export type PreparedPass = Omit<Pass, 'startedAt' | 'listing' | 'memory' | 'writer' | 'warn'>;

/** What a pass needs, except what is only known when it starts. */
export const passOf = (
  request: PassRequest,
  settings: ClientSettings,
  service: HostingService,
  clock: Clock,
  isSandbox: boolean,
  revisionOf: PreparedPass['revisionOf'],
): PreparedPass => ({
  ignoreSubdomains: false,
  force: false,
  retry: false,
  acceptLoss: false,
  ...request,
  client: settings.name,
  service,
  clock: {
    now: () => clock.now(),
    uptime: () => clock.uptime(),
    sleep: (milliseconds, signal) => {
      request.onPause?.(milliseconds, 'then the service is read once more');
      return clock.sleep(milliseconds, signal);
    },
  },
  revisionOf,
  settle: isSandbox ? 0 : settings.settle,
  unknownPause: settings.unknownPause,
  subdomainGrace: settings.subdomainGrace,
  maxAddsPerPass: settings.limits.maxAddsPerPass,
  concurrency: settings.concurrency,
});
