/** `inspect`: an XState inspector is shown committed transitions, in order, in the shape it knows. */
import { once } from 'node:events';
import { createInspector, createWebSocketInspector } from '@statelyai/inspect';
import Database from 'better-sqlite3';
import { type InspectOption, type JobRecord, pipeline } from 'millrace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { InspectionEvent } from 'xstate';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

const work = pipeline('work')
  .phase('zeta', () => ({ rows: 3 }))
  .phase('alpha', () => 'done');

/** Runs one job to its end. */
async function runOne(inspect: InspectOption, id = 'job-1', database = tempDatabase()): Promise<void> {
  const queue = openQueue({ database, pipelines: [work], inspect });
  await queue.result(await queue.enqueue('work', { n: 1 }, { id }));
}

/** Message type, actor, event and state, as one line each. */
function told(events: readonly InspectionEvent[]): readonly string[] {
  return events.map((event) => {
    const { id } = event.actorRef as unknown as { id: string };
    const what = 'event' in event ? ` ${event.event.type}` : '';
    const state =
      event.type === '@xstate.snapshot'
        ? ` ${JSON.stringify((event.snapshot as never as { value: unknown }).value)}`
        : '';
    return `${event.type} ${id}${what}${state}`;
  });
}

const LIFE = [
  '@xstate.actor supervisor',
  '@xstate.actor job-1',
  '@xstate.event job-1 born',
  '@xstate.snapshot job-1 born "pending"',
  '@xstate.event job-1 claimed',
  '@xstate.snapshot job-1 claimed {"active":"zeta"}',
  '@xstate.event job-1 phaseCompleted',
  '@xstate.snapshot job-1 phaseCompleted {"active":"alpha"}',
  '@xstate.event job-1 phaseCompleted',
  '@xstate.snapshot job-1 phaseCompleted "completed"',
];

describe('an observer', () => {
  it.each(['a function', 'an object with next()'])('that is %s sees the life of a job in order', async (kind) => {
    const events: InspectionEvent[] = [];
    const see = (event: InspectionEvent) => void events.push(event);
    await runOne(kind === 'a function' ? see : { next: see });
    expect(told(events)).toEqual(LIFE);
    const [root] = events;
    expect(new Set(events.map(({ rootId }) => rootId))).toEqual(new Set([root?.actorRef.sessionId]));
    const last = events.at(-1) as unknown as { snapshot: { context: JobRecord; status: string } };
    expect(last.snapshot.context).toMatchObject({
      id: 'job-1',
      status: 'completed',
      phaseResults: { zeta: { rows: 3 } },
    });
  });

  it('is shown nothing that is not in the file', async () => {
    const database = tempDatabase();
    const states: [unknown, unknown][] = [];
    let reader: Database.Database | undefined;
    onTestFinished(() => void reader?.close());
    await runOne(
      (event) => {
        if (event.type !== '@xstate.snapshot') return;
        reader ??= new Database(database, { readonly: true });
        const { seq } = event.event as unknown as { seq: number };
        const entry = reader.prepare('SELECT event FROM millrace_transitions WHERE seq = ?').pluck().get(seq);
        states.push([entry, event.event.type]);
      },
      'job-1',
      database,
    );
    expect(states).toHaveLength(4);
    for (const [stored, shown] of states) expect(stored).toBe(shown);
  });

  it('is shown nothing of a commit that failed', async () => {
    const events: InspectionEvent[] = [];
    let broken = true;
    const queue = openQueue({
      pipelines: [work],
      inspect: (event) => void events.push(event),
      onPoint: (point) => {
        if (broken && point === 'before-commit') throw new Error('the disk is gone');
      },
    });
    await expect(queue.enqueue('work', null, { id: 'lost' })).rejects.toThrow('the disk is gone');
    expect(events).toEqual([]);
    broken = false;
    await queue.result(await queue.enqueue('work', null, { id: 'job-1' }));
    expect(told(events)).toEqual(LIFE);
  });

  it('that throws disturbs nobody but the error event', async () => {
    const queue = openQueue({
      pipelines: [work],
      inspect: () => {
        throw new Error('a broken inspector');
      },
    });
    const reported = nextEvent(queue, 'error');
    const result = queue.result(await queue.enqueue('work', null));
    expect((await reported).error).toMatchObject({ message: 'a broken inspector' });
    expect(await result).toBe('done');
  });

  it('cannot move a job through what it is shown', async () => {
    const refusals: unknown[] = [];
    await runOne(({ actorRef }) => {
      try {
        actorRef.send({ type: 'cancel' });
      } catch (error) {
        refusals.push(error);
      }
    });
    expect(refusals).toHaveLength(LIFE.length);
  });
});

describe('which jobs are shown', () => {
  const shownOf = async (options: Omit<Extract<InspectOption, { observer: unknown }>, 'observer'>, count: number) => {
    const shown = new Map<string, number>();
    const queue = openQueue({
      pipelines: [work],
      inspect: {
        ...options,
        observer: ({ actorRef }) => {
          const { id } = actorRef as unknown as { id: string };
          if (id !== 'supervisor') shown.set(id, (shown.get(id) ?? 0) + 1);
        },
      },
    });
    const ids = await queue.enqueueMany(
      Array.from({ length: count }, (_, n) => ({ name: 'work' as const, data: n, options: { id: `n${n}` } })),
    );
    await Promise.all(ids.map((id) => queue.result(id)));
    return shown;
  };

  it('can be chosen job by job', async () => {
    const shown = await shownOf({ jobs: ({ data }) => data === 3 }, 6);
    expect([...shown]).toEqual([['n3', LIFE.length - 1]]);
  });

  it('can be a share of them, each of which is shown whole', async () => {
    const shown = await shownOf({ sample: 0.25 }, 400);
    expect(shown.size).toBeGreaterThan(60);
    expect(shown.size).toBeLessThan(140);
    expect(new Set(shown.values())).toEqual(new Set([LIFE.length - 1]));
    expect((await shownOf({ sample: 0 }, 20)).size).toBe(0);
  });
});

interface Wire {
  type: string;
  name?: string;
  sessionId: string;
  parentId?: string;
  sourceId?: string;
  rootId: string;
  definition?: string;
  event?: { type: string };
  snapshot?: { value: unknown; status: string };
}

/** What the Stately inspector is sent for the life of one job. */
function expectLife(wire: readonly Wire[]): void {
  const [root, job] = wire;
  expect(wire.map(({ type, event }) => (event ? `${type} ${event.type}` : type))).toEqual(
    LIFE.map((line) =>
      line
        .split(' ')
        .filter((_, index) => index !== 1)
        .slice(0, 2)
        .join(' '),
    ),
  );
  expect(root).toMatchObject({ name: 'supervisor', rootId: root?.sessionId });
  expect(job).toMatchObject({ name: 'job-1', parentId: root?.sessionId, rootId: root?.sessionId });
  // The state it was introduced in, although the package looks only when the job has moved on.
  expect(job?.snapshot).toMatchObject({ value: 'pending', status: 'active' });
  expect(wire.slice(2).every(({ sessionId }) => sessionId === job?.sessionId)).toBe(true);
  expect(wire[2]?.sourceId).toBe(root?.sessionId);
  expect(wire.at(-1)?.snapshot).toMatchObject({ value: 'completed' });
  const { states } = JSON.parse(job?.definition ?? '') as {
    states: { active: { states: Record<string, { order: number }> } };
  };
  const phases = Object.entries(states.active.states).sort(([, a], [, b]) => a.order - b.order);
  expect(phases.map(([name]) => name)).toEqual(['zeta', 'alpha']);
  expect(JSON.stringify(states)).not.toContain('[Object]');
}

describe('the real @statelyai/inspect', () => {
  it('makes its messages from what it is shown', async () => {
    const wire: Wire[] = [];
    const inspector = createInspector({ send: (message) => void wire.push(message as Wire) });
    await runOne(inspector.inspect);
    await expect.poll(() => wire.length).toBe(LIFE.length);
    expectLife(wire);
  });

  it('sends them to a WebSocket server', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const wire: Wire[] = [];
    server.on('connection', (socket) => socket.on('message', (text) => wire.push(JSON.parse(String(text)) as Wire)));
    const { port } = server.address() as { port: number };
    const inspector = createWebSocketInspector({ url: `ws://127.0.0.1:${port}` });
    onTestFinished(() => inspector.stop());
    await runOne(inspector.inspect);
    await expect.poll(() => wire.length).toBe(LIFE.length);
    expectLife(wire);
  });
});
