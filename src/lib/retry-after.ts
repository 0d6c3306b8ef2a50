/**
 * Milliseconds, or null if it is invalid: `Retry-After` is whole seconds or an HTTP date (RFC 9110, section
 * 10.2.3).
 */
export const readRetryAfter = (header: string | string[] | undefined): number | null => {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
};
