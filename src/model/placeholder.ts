/**
 * A name that something fills in later: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. What it will be, nobody
 * here knows.
 */
export const hasPlaceholder = (text: string): boolean => /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/.test(text);
