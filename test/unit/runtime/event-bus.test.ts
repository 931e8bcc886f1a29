import { describe, expect, test, vi } from 'vitest';
import { EventBus } from '../../../src/runtime/journal/event-bus.ts';

interface Events {
  a: number;
  b: string;
}

function setUp() {
  const reported: [error: unknown, event: keyof Events][] = [];
  const bus = new EventBus<Events>((error, event) => reported.push([error, event]));
  return { bus, reported };
}

describe('EventBus', () => {
  test('calls the listeners of a name, in order, with the event', () => {
    const { bus } = setUp();
    const heard: string[] = [];
    bus.on('a', (n) => void heard.push(`first ${n}`));
    bus.on('b', (text) => void heard.push(text));
    bus.on('a', (n) => void heard.push(`second ${n}`));
    bus.emit('a', 1);
    expect(heard).toEqual(['first 1', 'second 1']);
  });

  test('knows whether anybody listens', () => {
    const { bus } = setUp();
    expect(bus.has('a')).toBe(false);
    const off = bus.on('a', () => {});
    expect(bus.has('a')).toBe(true);
    off();
    expect(bus.has('a')).toBe(false);
  });

  test('emits to nobody without harm', () => {
    expect(() => setUp().bus.emit('a', 1)).not.toThrow();
  });

  test('forgets everybody when cleared', () => {
    const { bus } = setUp();
    const listener = vi.fn();
    bus.on('a', listener);
    bus.clear();
    bus.emit('a', 1);
    expect(listener).not.toHaveBeenCalled();
  });
});

describe('a listener that fails', () => {
  test('by throwing is reported and disturbs nobody', () => {
    const { bus, reported } = setUp();
    const problem = new Error('listener');
    const after = vi.fn();
    bus.on('a', () => {
      throw problem;
    });
    bus.on('a', after);
    expect(() => bus.emit('a', 1)).not.toThrow();
    expect(after).toHaveBeenCalledExactlyOnceWith(1);
    expect(reported).toEqual([[problem, 'a']]);
  });

  test('by rejecting is reported and disturbs nobody', async () => {
    const { bus, reported } = setUp();
    const problem = new Error('listener');
    const after = vi.fn();
    bus.on('a', async () => {
      throw problem;
    });
    bus.on('a', after);
    bus.emit('a', 1);
    expect(after).toHaveBeenCalledTimes(1);
    await vi.waitFor(() => expect(reported).toEqual([[problem, 'a']]));
  });

  test('goes on listening', () => {
    const { bus, reported } = setUp();
    bus.on('a', (n) => {
      throw n;
    });
    bus.emit('a', 1);
    bus.emit('a', 2);
    expect(reported.map(([error]) => error)).toEqual([1, 2]);
  });

  test('is reported too if it listens once, and hears nothing more', async () => {
    const { bus, reported } = setUp();
    bus.once('a', async (n) => {
      throw n;
    });
    bus.once('b', (text) => {
      throw text;
    });
    bus.emit('a', 1);
    bus.emit('a', 2);
    bus.emit('b', 'x');
    bus.emit('b', 'y');
    await vi.waitFor(() => expect(reported).toHaveLength(2));
    expect(reported).toEqual(
      expect.arrayContaining([
        [1, 'a'],
        ['x', 'b'],
      ]),
    );
  });
});

describe('once', () => {
  test('hears one event', () => {
    const { bus } = setUp();
    const listener = vi.fn();
    bus.once('a', listener);
    bus.emit('a', 1);
    bus.emit('a', 2);
    expect(listener).toHaveBeenCalledExactlyOnceWith(1);
    expect(bus.has('a')).toBe(false);
  });

  test('hears one event even if it emits the next itself', () => {
    const { bus } = setUp();
    const heard: number[] = [];
    bus.once('a', (n) => {
      heard.push(n);
      if (n < 3) bus.emit('a', n + 1);
    });
    bus.emit('a', 1);
    expect(heard).toEqual([1]);
  });

  test('is taken back by the function it answers with', () => {
    const { bus } = setUp();
    const listener = vi.fn();
    bus.once('a', listener)();
    bus.emit('a', 1);
    expect(listener).not.toHaveBeenCalled();
  });

  test('is taken back by off with the same listener', () => {
    const { bus } = setUp();
    const listener = vi.fn();
    bus.once('a', listener);
    bus.off('a', listener);
    bus.emit('a', 1);
    expect(listener).not.toHaveBeenCalled();
  });
});

describe('off', () => {
  test('of a listener that never listened does nothing', () => {
    const { bus } = setUp();
    const listener = vi.fn();
    bus.on('a', listener);
    bus.off('a', () => {});
    bus.off('b', listener as never);
    bus.emit('a', 1);
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test('during an event lets everybody hear that event, and counts from the next', () => {
    const { bus } = setUp();
    const heard: string[] = [];
    const last = () => void heard.push('last');
    const offFirst = bus.on('a', () => {
      heard.push('first');
      offFirst();
      bus.off('a', last);
    });
    bus.on('a', () => void heard.push('middle'));
    bus.on('a', last);
    bus.emit('a', 1);
    expect(heard).toEqual(['first', 'middle', 'last']);
    bus.emit('a', 2);
    expect(heard).toEqual(['first', 'middle', 'last', 'middle']);
  });

  test('is not needed for a listener added during an event to miss it', () => {
    const { bus } = setUp();
    const late = vi.fn();
    const off = bus.on('a', () => {
      bus.on('a', late);
      off();
    });
    bus.emit('a', 1);
    expect(late).not.toHaveBeenCalled();
    bus.emit('a', 2);
    expect(late).toHaveBeenCalledExactlyOnceWith(2);
  });
});
