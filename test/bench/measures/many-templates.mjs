import { besideParsing } from '../commands.mjs';
import { withWorld } from '../world.mjs';

export const about = 'cold plan of 1,000 templates × 100 records against bare node, yaml and JSON.parse';
export const target = 0.9;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'two threads on two processors: each warms up its own copy of the parser, and checks cost a third of the parse; ' +
  'some 130 ms until the program can begin, and as much for the listing, on one of them alone';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, folder, env, service }) =>
    besideParsing(['plan'], { cwd, folder, env, url: service.url }, 5),
  );
