/** Messages besides the result of a command over several clients: one that concerns many clients is said once. */
export class Warnings {
  readonly #clients = new Map<string, Set<string>>();

  add(client: string, message: string): void {
    const clients = this.#clients.get(message) ?? new Set();
    this.#clients.set(message, clients.add(client));
  }

  /** `all`: the number of clients of the command. */
  lines(all: number): string[] {
    return [...this.#clients].map(([message, names]) => {
      if (names.size === all) return `all ${all} clients: ${message}`;
      const [shown, more] = [[...names].slice(0, maxNamed), names.size - maxNamed];
      return `${shown.join(', ')}${more > 0 ? ` and ${more} more clients` : ''}: ${message}`;
    });
  }
}

const maxNamed = 5;
