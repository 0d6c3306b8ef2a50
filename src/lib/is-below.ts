import path from 'node:path';

export const isBelow = (upper: string, lower: string): boolean => {
  const way = path.relative(upper, lower);
  return way.split(path.sep)[0] !== '..' && !path.isAbsolute(way);
};
