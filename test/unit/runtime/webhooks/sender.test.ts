import { describe, expect, test, vi } from 'vitest';
import { Sender, type SenderOptions } from '../../../../src/runtime/background/sender.ts';
import type { ClaimedDelivery, DeliveryRequest } from '../../../../src/runtime/store/delivery.ts';
import type { Store } from '../../../../src/runtime/store/port.ts';
import { parseWebhooks, type WebhookOptions } from '../../../../src/runtime/webhook-options.ts';
import { fakeClock } from '../../../support/fake-clock.ts';

/** A sender whose store has nothing to send, and which counts what is asked of store and clock. */
function idleSender(webhooks: WebhookOptions | undefined, claim = true) {
  const { clock, advance } = fakeClock();
  const alarms: number[] = [];
  const looks: DeliveryRequest[] = [];
  const claimDeliveries = vi.fn(async (request: DeliveryRequest) => {
    looks.push(request);
    return { deliveries: [] as ClaimedDelivery[], nextAt: null };
  });
  const at: typeof clock.at = (time, ring) => {
    alarms.push(time);
    return clock.at(time, ring);
  };
  const sender = new Sender({
    store: { claimDeliveries } as unknown as Store,
    clock: { now: clock.now, at },
    settings: parseWebhooks(webhooks, claim),
    courier: { close() {} } as SenderOptions['courier'],
    owner: 'me',
    post() {},
    tell() {},
    report(error) {
      throw error;
    },
  });
  return { sender, looks, alarms, advance };
}

describe('a queue without webhooks', () => {
  test('looks once at start and sets no timer', async () => {
    const { sender, looks, alarms } = idleSender(undefined);
    sender.start();
    await vi.waitFor(() => expect(looks).toHaveLength(1));
    await new Promise(setImmediate);
    expect(alarms).toEqual([]);
  });

  test('looks again when a job of it owes something', async () => {
    const { sender, looks } = idleSender(undefined);
    sender.start();
    sender.wake();
    await vi.waitFor(() => expect(looks).toHaveLength(2));
  });
});

test('a queue with webhooks looks every few seconds for what other processes owe', async () => {
  const { sender, looks, advance } = idleSender({});
  sender.start();
  for (const count of [1, 2, 3]) {
    await vi.waitFor(() => expect(looks).toHaveLength(count));
    await new Promise(setImmediate);
    advance(5_000);
  }
});

test.each([
  ['claim: false', {}, false],
  ['send: false', { send: false }, true],
])('a queue with %s sends nothing', async (_, webhooks, claim) => {
  const { sender, looks, alarms } = idleSender(webhooks, claim);
  sender.start();
  sender.wake();
  await sender.stop(1_000);
  expect([looks, alarms]).toEqual([[], []]);
});

test('a queue that only enqueues can be told to send', async () => {
  const { sender, looks } = idleSender({ send: true }, false);
  sender.start();
  await vi.waitFor(() => expect(looks).toHaveLength(1));
});

test('shutdown takes a last look, unless it has no time at all', async () => {
  const patient = idleSender(undefined);
  await patient.sender.stop(1_000);
  expect(patient.looks).toHaveLength(1);
  const hurried = idleSender(undefined);
  await hurried.sender.stop(0);
  expect(hurried.looks).toEqual([]);
});
