/** A placeholder in a name that the service replaces: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. */
export const hasPlaceholder = (text: string): boolean => /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/.test(text);
