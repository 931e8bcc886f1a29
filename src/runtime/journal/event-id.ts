/**
 * The `id:` of an event: the position of its log entry. One entry may be told under two names; then the first is
 * given the position before and how many names were told since ("16.1" of entry 17), so that a client which
 * drops between the two gets the second, and only that. Ids rise; read as a number, one never skips anything.
 */

/** How much of the log a client has. */
export interface Place {
  /** Everything up to here. */
  readonly position: number;
  /** And this many names of the entry after it. */
  readonly told: number;
}

/** The id of an event; `told` is how many names of its entry were told with it, `whole` whether it is the last one. */
export function eventId(position: number, told: number, whole: boolean): string {
  return whole ? String(position) : `${position - 1}.${told}`;
}

/** The id under which a stream at this place goes on. */
export function idOf({ position, told }: Place): string {
  return told === 0 ? String(position) : `${position}.${told}`;
}

/** The place an id speaks of; `null` if it cannot be one of ours. */
export function placeOf(id: string): Place | null {
  // No entry has more than two names, so that one is the most that can be told of it and not be all.
  const [, position, told = '0'] = /^(\d{1,15})(?:\.(1))?$/.exec(id) ?? [];
  return position === undefined ? null : { position: Number(position), told: Number(told) };
}
