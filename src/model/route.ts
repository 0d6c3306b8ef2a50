/** An HTTP proxy between this program and others. */
export interface Proxy {
  /** With user and password, if it wants some. */
  readonly url: string;
  /** Without them. */
  readonly shown: string;
  /** The setting or variable that names it. */
  readonly place: string;
}

/** Certificates of authorities to trust beside the usual ones. */
export interface Authorities {
  readonly pem: () => string;
  /** Reads their file again, after a failure; whether it has others now. */
  readonly readAgain: () => boolean;
}

/** How others are reached over HTTP. */
export interface Route {
  readonly proxy: Proxy | null;
  readonly ca: Authorities | null;
}

/** `USER:PASSWORD` of an address, decoded; empty if it has neither. */
export const credentialsIn = (url: string): string => {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return '';
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return `${username}:${password}`;
  }
};
