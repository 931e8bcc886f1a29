import { describe, expect, test, vi } from 'vitest';
import { Loop, type Round } from '../../../src/runtime/service.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { gate } from '../../support/open-queue.ts';

const EVERY = 1_000;

function setUp(round: Round, everyMs = EVERY) {
  const time = fakeClock(0);
  const errors: unknown[] = [];
  const counted = vi.fn(round);
  const loop = new Loop(counted, { clock: time.clock, everyMs, onError: (error) => errors.push(error) });
  /** Moves time on and lets whatever rang come to an end. */
  const pass = async (ms: number) => {
    time.advance(ms);
    await settled();
  };
  return { loop, round: counted, errors, pass, now: () => time.clock.now() };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

describe('a loop', () => {
  test('runs a first round at once and another after every pause', async () => {
    const { loop, round, pass } = setUp(async () => null);
    loop.start();
    await settled();
    expect(round).toHaveBeenCalledTimes(1);
    await pass(EVERY - 1);
    expect(round).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(round).toHaveBeenCalledTimes(2);
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(3);
  });

  test('without a usual pause runs only when it is asked to', async () => {
    const { loop, round, pass, now } = setUp(async () => null, Number.POSITIVE_INFINITY);
    loop.start();
    await pass(1_000 * EVERY);
    expect(round).toHaveBeenCalledTimes(1);
    loop.notLaterThan(now() + 10);
    await pass(10);
    expect(round).toHaveBeenCalledTimes(2);
  });

  test('that is asked for as its round ends does not miss it', async () => {
    for (let turns = 0; turns < 8; turns++) {
      const { loop, round, now } = setUp(async () => null);
      loop.start();
      for (let i = 0; i < turns; i++) await null;
      loop.notLaterThan(now());
      await settled();
      expect(round).toHaveBeenCalledTimes(2);
    }
  });

  test('counts the pause from the end of a round', async () => {
    const hold = gate<null>();
    const { loop, round, pass } = setUp(() => hold.opened);
    loop.start();
    await pass(10 * EVERY);
    hold.open(null);
    await settled();
    expect(round).toHaveBeenCalledTimes(1);
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(2);
  });

  test('comes back earlier if a round asks for it, but never later than usual', async () => {
    const wishes = [100, 50 * EVERY];
    const { loop, round, pass } = setUp(async () => wishes.shift() ?? null);
    loop.start();
    await settled();
    await pass(100);
    expect(round).toHaveBeenCalledTimes(2);
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(3);
  });

  test('never runs two rounds at a time', async () => {
    let running = 0;
    let most = 0;
    let hold = gate<null>();
    const { loop, round, pass, now } = setUp(async () => {
      most = Math.max(most, ++running);
      await hold.opened;
      running--;
      return null;
    });
    loop.start();
    const both = [loop.runOnce(), loop.runOnce()];
    loop.notLaterThan(now() + 5);
    await pass(10);
    await pass(5 * EVERY);
    loop.start();
    expect(round).toHaveBeenCalledTimes(1);
    const before = hold;
    hold = gate<null>();
    before.open(null);
    await Promise.all(both);
    await settled();
    expect(most).toBe(1);
    expect(round).toHaveBeenCalledTimes(2);
    hold.open(null);
  });

  test('reports an error and goes on', async () => {
    const problem = new Error('round');
    const { loop, round, errors, pass } = setUp(() => Promise.reject(problem));
    loop.start();
    await settled();
    expect(errors).toEqual([problem]);
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(2);
    expect(errors).toEqual([problem, problem]);
  });

  test('goes on after a round that throws before it is asynchronous', async () => {
    const { loop, round, errors, pass } = setUp(() => {
      throw new Error('round');
    });
    loop.start();
    await settled();
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(2);
    expect(errors).toHaveLength(2);
  });
});

describe('notLaterThan', () => {
  test('brings the next round forward', async () => {
    const { loop, round, pass } = setUp(async () => null);
    loop.start();
    await settled();
    loop.notLaterThan(300);
    await pass(299);
    expect(round).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(round).toHaveBeenCalledTimes(2);
    await pass(EVERY - 1);
    expect(round).toHaveBeenCalledTimes(2);
  });

  test('does not put it off', async () => {
    const { loop, round, pass } = setUp(async () => null);
    loop.start();
    await settled();
    loop.notLaterThan(300);
    loop.notLaterThan(600);
    await pass(300);
    expect(round).toHaveBeenCalledTimes(2);
  });

  test('during a round counts for the next one', async () => {
    const hold = gate<null>();
    const { loop, round, pass } = setUp(() => hold.opened);
    loop.start();
    loop.notLaterThan(300);
    hold.open(null);
    await settled();
    expect(round).toHaveBeenCalledTimes(1);
    await pass(300);
    expect(round).toHaveBeenCalledTimes(2);
  });

  test('that is reached during a round has the next one follow at once', async () => {
    let hold = gate<null>();
    const { loop, round, pass } = setUp(() => hold.opened);
    loop.start();
    loop.notLaterThan(300);
    await pass(400);
    expect(round).toHaveBeenCalledTimes(1);
    const before = hold;
    hold = gate<null>();
    before.open(null);
    await settled();
    expect(round).toHaveBeenCalledTimes(2);
    hold.open(null);
  });

  test('does nothing after stop', async () => {
    const { loop, round, pass } = setUp(async () => null);
    loop.start();
    await loop.stop();
    loop.notLaterThan(5);
    await pass(EVERY);
    expect(round).toHaveBeenCalledTimes(1);
  });
});

describe('stop', () => {
  test('waits for the round under way, and no other follows', async () => {
    const hold = gate<null>();
    const { loop, round, pass } = setUp(() => hold.opened);
    loop.start();
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    await settled();
    expect(stopped).toBe(false);
    hold.open(null);
    await stopping;
    await pass(10 * EVERY);
    expect(round).toHaveBeenCalledTimes(1);
  });

  test('waits for a round that fails, too', async () => {
    const hold = gate();
    const { loop, errors } = setUp(async () => {
      await hold.opened;
      throw new Error('late');
    });
    loop.start();
    const stopping = loop.stop();
    hold.open();
    await stopping;
    expect(errors).toHaveLength(1);
  });

  test('ends a loop that waits for its next round', async () => {
    const { loop, round, pass } = setUp(async () => null);
    loop.start();
    await settled();
    await loop.stop();
    await pass(10 * EVERY);
    expect(round).toHaveBeenCalledTimes(1);
  });

  test('of a loop that never started, and twice, does no harm', async () => {
    const { loop, round } = setUp(async () => null);
    await loop.stop();
    await loop.stop();
    expect(round).not.toHaveBeenCalled();
  });
});
