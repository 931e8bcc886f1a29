/** A process that runs jobs and serves their events, until it is killed. argv: database, port. */
import { JobQueue, pipeline } from 'millrace';
import { serveEvents } from '../support/event-server.ts';

const [database = '', port = '0'] = process.argv.slice(2);
const work = pipeline('work')
  .phase('first', (_job, ctx) => {
    ctx.progress(50);
    return 1;
  })
  .phase('second', () => 2)
  .options({ retry: { maxAttempts: 20, disposition: 'fatal' } });

const queue = new JobQueue({ database, pipelines: [work] });
await serveEvents(queue, { port: Number(port) });
process.stdout.write('listening\n');
