import { besideParsing } from '../commands.mjs';
import { withWorld } from '../world.mjs';

export const about = 'cold plan of 1 template × 100,000 records against bare node, yaml and JSON.parse';
export const target = 0.4;
export const unit = '×';

export const measure = () =>
  withWorld({ templates: 1, records: 100_000 }, ({ cwd, folder, env, service }) =>
    besideParsing(['plan'], { cwd, folder, env, url: service.url }, 3),
  );
