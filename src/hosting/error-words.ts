/**
 * The words of an error that a JSON answer names. A service may report one with any status, also 200
 * (specification §7: not shown).
 */
export const errorWords = (answer: unknown): string | null => {
  if (!isObject(answer)) return null;
  const said = ['error', 'errors', 'message'].flatMap((key) => textsOf(answer[key], deepest));
  const words = [...new Set(said)].join('; ');
  return words === '' ? null : words;
};

/** Whether an object says that something failed, as in `{"error": …}`, `{"errors": […]}`, `{"success": false}`. */
export const namesError = (answer: unknown): boolean =>
  isObject(answer) &&
  (['error', 'errors'].some((key) => isSaid(answer[key])) ||
    ['success', 'ok'].some((key) => answer[key] === false || answer[key] === 'false') ||
    (typeof answer['status'] === 'string' && /^(?:error|fail|failed|failure)$/i.test(answer['status'])));

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSaid = (value: unknown): boolean =>
  !(value === undefined || value === null || value === false || value === 0 || value === '') &&
  !(typeof value === 'object' && Object.keys(value).length === 0);

/** `{"content": ["is invalid"]}` as `content is invalid`. */
const textsOf = (value: unknown, depth: number): string[] => {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  if (Array.isArray(value)) return value.slice(0, most).flatMap((one) => textsOf(one, depth - 1));
  return Object.entries(value)
    .slice(0, most)
    .flatMap(([key, one]) => textsOf(one, depth - 1).map((text) => `${key} ${text}`));
};

const deepest = 4;
const most = 10;
