/** Null for what is no URL. Node.js 20 takes some texts with other letters than ASCII for none in `URL.canParse`. */
export const parseUrl = (text: string, base?: string): URL | null => {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
};
