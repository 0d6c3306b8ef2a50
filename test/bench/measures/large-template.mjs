import { besideParsing } from '../commands.mjs';
import { withWorld } from '../world.mjs';

export const about = 'cold plan of 1 template × 10,000 records against bare node, yaml and JSON.parse';
export const target = 1.5;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'one file is read by one thread: what `yaml` itself does, for places, checks and plan by code that is still cold a ' +
  'third of that again, and some 100 ms until the program can begin';

export const measure = () =>
  withWorld({ templates: 1, records: 10_000 }, ({ cwd, folder, env, service }) =>
    besideParsing(['plan'], { cwd, folder, env, url: service.url }, 9),
  );
