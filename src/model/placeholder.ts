const pattern = /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/;

/** A placeholder in a name that the service replaces: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. */
export const hasPlaceholder = (text: string): boolean => pattern.test(text);

const alone = new RegExp(`^(?:${pattern.source})$`);

/** One placeholder and nothing else. */
export const isPlaceholder = (text: string): boolean => alone.test(text);

/** One behind a name, or instead of one, with or without a final dot. */
export const finalPlaceholder = new RegExp(`(?:^|\\.)(?:${pattern.source})\\.?$`);
