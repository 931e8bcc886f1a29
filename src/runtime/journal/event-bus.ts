/** In-process listeners. Told only after the commit; a listener that throws disturbs nobody but the `error` event. */

type Listener<Event> = (event: Event) => void;

/** A typed emitter whose listeners cannot break each other. Usable alone. */
export class EventBus<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();
  /** What was given to `once`, by the listener made from it, so that `off` finds it. */
  readonly #originals = new WeakMap<Listener<never>, Listener<never>>();
  readonly #onError: (error: unknown, event: keyof Events) => void;

  /** @param onError told of what listeners throw, or of rejections of async ones */
  constructor(onError: (error: unknown, event: keyof Events) => void) {
    this.#onError = onError;
  }

  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener<never>));
    return () => this.off(name, listener);
  }

  once<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const first: Listener<Events[Name]> = (event) => {
      off();
      return listener(event);
    };
    this.#originals.set(first as Listener<never>, listener as Listener<never>);
    const off = this.on(name, first);
    return off;
  }

  off<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): void {
    const listeners = this.#listeners.get(name);
    for (const each of listeners ?? []) {
      if (each === listener || this.#originals.get(each) === listener) listeners?.delete(each);
    }
    if (listeners?.size === 0) this.#listeners.delete(name);
  }

  has(name: keyof Events): boolean {
    return this.#listeners.has(name);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const listeners = this.#listeners.get(name);
    if (!listeners) return;
    for (const listener of [...listeners] as Listener<Events[Name]>[]) {
      try {
        const returned: unknown = listener(event);
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#onError(error, name));
      } catch (error) {
        this.#onError(error, name);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
