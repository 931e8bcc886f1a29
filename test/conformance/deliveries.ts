/** The outbox: what is owed, who may send it, in which order, and how it ends. */
import { expect } from 'vitest';
import type { JobRecord } from '../../src/actors/vocabulary.ts';
import type { ClaimedDeliveries, DeliveryRequest, NewDelivery } from '../../src/runtime/store/delivery.ts';
import type { Change } from '../../src/runtime/store/port.ts';
import { type Case, type Harness, on, T0 } from './harness.ts';

const ME = 'runtime-1';
const YOU = 'runtime-2';
const A = 'https://a.example';
const B = 'https://b.example';

let serial = 0;

/** The change with one webhook owed for its last transition. */
function owing(change: Change, rest: Partial<NewDelivery> = {}): Change {
  const transition = change.transitions.at(-1)!;
  const event = { type: 'job:cancelled', at: transition.at, job: change.job, transition } as const;
  return { ...change, deliveries: [{ id: `msg_${++serial}`, url: `${A}/hook`, signed: false, event, ...rest }] };
}

/** A job that was cancelled, which owes a webhook. */
async function owed(h: Harness, at = T0, rest: Partial<NewDelivery> = {}): Promise<JobRecord> {
  const job = await h.born();
  const change = owing(h.judge(job, on.cancel(at)), rest);
  await h.commit({ changes: [change] });
  return change.job;
}

/** One more webhook for the same job. */
async function owedToo(h: Harness, id: string, at: number): Promise<void> {
  const job = await h.job(id);
  const event = job.status === 'cancelled' ? on.retry(at) : on.cancel(at);
  await h.commit({ changes: [owing(h.judge(job, event))] });
}

function claim(h: Harness, request: Partial<DeliveryRequest> = {}): Promise<ClaimedDeliveries> {
  const now = request.now ?? T0;
  return h.store.claimDeliveries({
    now,
    owner: ME,
    until: now + 1_000,
    limit: 100,
    signed: true,
    after: '',
    room: () => 100,
    forgetFailedBefore: 0,
    ...request,
  });
}

async function claimedJobs(h: Harness, request: Partial<DeliveryRequest> = {}): Promise<readonly string[]> {
  return (await claim(h, request)).deliveries.map(({ jobId }) => jobId);
}

/** Where claims went to, in order. */
async function origins(h: Harness, request: Partial<DeliveryRequest>): Promise<string> {
  return (await claim(h, request)).deliveries.map(({ origin }) => origin.at('https://'.length)).join('');
}

export const deliveries: readonly Case[] = [
  {
    name: 'a delivery is written with its transition, and says what was true then, the position included',
    async run(h) {
      const job = await owed(h);
      const [delivery] = (await claim(h)).deliveries;
      expect(delivery).toMatchObject({
        jobId: job.id,
        type: 'job:cancelled',
        url: `${A}/hook`,
        origin: A,
        attempts: 0,
      });
      const [, transition] = await h.store.transitions(job.id);
      expect(JSON.parse(delivery!.body)).toEqual({ type: 'job:cancelled', at: T0, job, transition });
    },
  },
  {
    name: 'a change that is refused owes nothing',
    async run(h) {
      const job = await h.born();
      const late = owing(h.judge(job, on.cancel(T0)));
      await h.send(job.id, on.pause(T0));
      expect((await h.commit({ changes: [late] })).stale.size).toBe(1);
      expect(await h.store.deliveries(job.id)).toEqual([]);
      expect(await claim(h)).toEqual({ deliveries: [], nextAt: null });
    },
  },
  {
    name: 'a batch that fails owes nothing',
    async run(h) {
      const job = await h.born();
      const change = owing(h.judge(job, on.cancel(T0)));
      const broken = () => {
        throw new Error('broken');
      };
      await expect(h.commit({ changes: [change], load: [job.id], judge: broken })).rejects.toThrow('broken');
      expect(await h.store.deliveries(job.id)).toEqual([]);
    },
  },
  {
    name: 'a claimed delivery is nobody else’s until its time, and then anybody’s, under a higher fence',
    async run(h) {
      await owed(h);
      const [mine] = (await claim(h)).deliveries;
      expect(await claim(h, { owner: YOU, now: T0 + 999 })).toEqual({ deliveries: [], nextAt: T0 + 1_000 });
      const [yours] = (await claim(h, { owner: YOU, now: T0 + 1_000 })).deliveries;
      expect(yours).toEqual({ ...mine, fence: mine!.fence + 1 });
      expect(await h.store.settleDelivery(mine!, { type: 'arrived' })).toBe(false);
      expect(await h.store.settleDelivery(yours!, { type: 'arrived' })).toBe(true);
      expect(await h.store.settleDelivery(yours!, { type: 'arrived' })).toBe(false);
    },
  },
  {
    name: 'what a runtime was sending is due at once when it is unregistered, and nothing else is',
    async run(h) {
      const mine = await owed(h);
      await claim(h);
      await owed(h);
      await claim(h, { owner: YOU });
      await h.store.unregister(ME);
      expect(await claimedJobs(h, { owner: YOU, now: T0 + 1 })).toEqual([mine.id]);
    },
  },
  {
    name: 'deliveries of one job go out in order, one at a time',
    async run(h) {
      const { id } = await owed(h);
      await owedToo(h, id, T0 + 1);
      await owedToo(h, id, T0 + 2);
      const order: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const { deliveries: now } = await claim(h, { now: T0 + 10 });
        expect(now).toHaveLength(1);
        expect(await claimedJobs(h, { now: T0 + 10 })).toEqual([]);
        order.push(JSON.parse(now[0]!.body).transition.seq);
        await h.store.settleDelivery(now[0]!, { type: 'arrived' });
      }
      expect(order).toEqual([1, 2, 3]);
      expect(await claim(h, { now: T0 + 10 })).toEqual({ deliveries: [], nextAt: null });
    },
  },
  {
    name: 'a delivery that was postponed is due at its time and holds up the job’s later ones, and no other job’s',
    async run(h) {
      const { id } = await owed(h);
      await owedToo(h, id, T0 + 1);
      const [first] = (await claim(h, { now: T0 + 5 })).deliveries;
      const other = await owed(h);
      await h.store.settleDelivery(first!, { type: 'postponed', nextAt: T0 + 50, error: 'busy' });
      expect(await claimedJobs(h, { now: T0 + 49 })).toEqual([other.id]);
      expect(await h.store.deliveries(id)).toMatchObject([
        { id: first!.id, status: 'owed', attempts: 1, nextAttemptAt: T0 + 50, error: 'busy', createdAt: T0 },
        { status: 'owed', attempts: 0, nextAttemptAt: null, error: null, createdAt: T0 + 1 },
      ]);
      const [again] = (await claim(h, { now: T0 + 50 })).deliveries;
      expect(again).toEqual({ ...first, attempts: 1, fence: first!.fence + 1 });
    },
  },
  {
    name: 'a delivery that was given up can be seen, lets the next one go, and is forgotten after its time',
    async run(h) {
      const { id } = await owed(h);
      await owedToo(h, id, T0 + 1);
      const [first] = (await claim(h, { now: T0 + 5 })).deliveries;
      await h.store.settleDelivery(first!, { type: 'failed', at: T0 + 5, error: 'gone' });
      const [second] = (await claim(h, { now: T0 + 5, forgetFailedBefore: T0 + 5 })).deliveries;
      expect(JSON.parse(second!.body).transition.seq).toBe(2);
      expect(await h.store.deliveries(id)).toMatchObject([
        { id: first!.id, status: 'failed', attempts: 1, nextAttemptAt: null, error: 'gone' },
        { id: second!.id, status: 'owed' },
      ]);
      await claim(h, { now: T0 + 6, forgetFailedBefore: T0 + 6 });
      expect(await h.store.deliveries(id)).toMatchObject([{ id: second!.id }]);
    },
  },
  {
    name: 'an arrival and the job’s knowledge of it are one commit',
    async run(h) {
      const job = await owed(h);
      await owedToo(h, job.id, T0 + 1);
      const [delivery] = (await claim(h)).deliveries;
      const stored = await h.job(job.id);
      const change = h.judge(stored, { type: 'webhookDelivered', at: T0 + 9 });
      await h.commit({ changes: [{ ...change, arrived: [delivery!] }] });
      expect(await h.job(job.id)).toEqual({ ...stored, webhookSent: true, updatedAt: T0 + 9 });
      expect(await h.store.deliveries(job.id)).toMatchObject([{ nextAttemptAt: T0 + 1 }]);
    },
  },
  {
    name: 'an arrival under a lost claim is known to the job, and leaves the delivery to its taker',
    async run(h) {
      const job = await owed(h);
      const [mine] = (await claim(h)).deliveries;
      const [yours] = (await claim(h, { owner: YOU, now: T0 + 5_000 })).deliveries;
      const change = h.judge(await h.job(job.id), { type: 'webhookDelivered', at: T0 });
      await h.commit({ changes: [{ ...change, arrived: [mine!] }] });
      expect((await h.job(job.id)).webhookSent).toBe(true);
      expect(await h.store.settleDelivery(yours!, { type: 'arrived' })).toBe(true);
    },
  },
  {
    name: 'a holder that has not heard of an arrival does not take it back',
    async run(h) {
      const held = await h.born({}, on.claimed());
      const step = h.judge(held, on.phaseCompleted(T0 + 2, 'r'));
      await h.send(held.id, { type: 'webhookDelivered', at: T0 + 1 });
      expect((await h.commit({ changes: [step] })).stale.size).toBe(0);
      expect(await h.job(held.id)).toEqual({ ...step.job, webhookSent: true });
    },
  },
  {
    name: 'deliveries outlive their job, and its id is taken as long as they do',
    async run(h) {
      const job = await owed(h);
      await h.send(job.id, on.markStale(T0 + 1), on.delete(T0 + 2));
      await h.store.pruneLog({ olderThan: null, keep: 0 }, 100);
      const again = () => h.commit({ births: [h.birthGroup([{ id: job.id }], [job.id])] });
      expect((await again()).takenIds).toEqual([[job.id]]);
      const [delivery] = (await claim(h)).deliveries;
      expect(JSON.parse(delivery!.body).job).toEqual(job);
      expect(await h.store.settleDelivery(delivery!, { type: 'arrived' })).toBe(true);
      expect((await again()).takenIds).toEqual([[]]);
    },
  },
  {
    name: 'each origin has its own room, and all of them share the limit',
    async run(h) {
      for (let i = 0; i < 4; i++) await owed(h, T0, { url: `${A}/${i}` });
      for (let i = 0; i < 4; i++) await owed(h, T0, { url: `${B}/${i}` });
      const room = (origin: string) => (origin === A ? 1 : 2);
      expect(await origins(h, { room })).toBe('abb');
      expect(await origins(h, { limit: 2 })).toBe('aa');
      expect(await origins(h, { room: () => 0 })).toBe('');
    },
  },
  {
    name: 'an origin that is owed signed and unsigned deliveries has one room for both',
    async run(h) {
      for (const signed of [true, false, true, false]) await owed(h, T0, { signed });
      expect(await origins(h, { room: () => 3 })).toBe('aaa');
    },
  },
  {
    name: 'origins after the last one served come first',
    async run(h) {
      for (const letter of 'abc') await owed(h, T0, { url: `https://${letter}.example/` });
      expect(await origins(h, { limit: 2, after: 'https://a.example' })).toBe('bc');
      expect(await origins(h, { limit: 2, after: 'https://c.example' })).toBe('a');
    },
  },
  {
    name: 'who has no secret is not given what must be signed',
    async run(h) {
      const plain = await owed(h);
      const signed = await owed(h, T0, { signed: true });
      expect(await claimedJobs(h, { signed: false })).toEqual([plain.id]);
      expect(await claimedJobs(h)).toEqual([signed.id]);
    },
  },
  {
    name: 'the next due time is the earliest among origins with room',
    async run(h) {
      await owed(h, T0 + 30);
      await owed(h, T0 + 20, { url: B });
      expect(await claim(h)).toEqual({ deliveries: [], nextAt: T0 + 20 });
      expect((await claim(h, { room: (origin) => (origin === B ? 0 : 1) })).nextAt).toBe(T0 + 30);
      const { deliveries: due, nextAt } = await claim(h, { now: T0 + 20 });
      expect([due.length, nextAt]).toEqual([1, T0 + 30]);
    },
  },
  {
    name: 'what is owed survives the store',
    reopens: true,
    async run(h) {
      const job = await owed(h);
      const before = await h.store.deliveries(job.id);
      await h.reopen();
      expect(await h.store.deliveries(job.id)).toEqual(before);
      expect(await claimedJobs(h)).toEqual([job.id]);
    },
  },
];
