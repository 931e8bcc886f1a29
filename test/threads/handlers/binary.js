/** Binary results: made, handed on, checked. */
import { createHash } from 'node:crypto';

const MIB = 1024 * 1024;

export const sum = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** `job.data.mib` MiB of bytes that are not all the same. */
export const make = (job) => {
  const bytes = new Uint8Array(job.data.mib * MIB);
  for (let i = 0; i < bytes.length; i += 4096) bytes[i] = i / 4096;
  return bytes;
};

/** Hands the bytes of the phase before on, after a look at them. */
export const pass = (job, ctx) => {
  const before = job.phases[job.phaseIndex - 1].name;
  const bytes = ctx.phaseResult(before);
  ctx.log(`${before} ${bytes.constructor.name} ${bytes.byteLength}`);
  return bytes;
};

export const digest = (job, ctx) => {
  const names = job.phases.slice(0, job.phaseIndex).map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, sum(ctx.phaseResult(name))]));
};

export const nested = () => {
  const pool = Buffer.from('a small one');
  const whole = new Uint8Array([1, 2, 3]).buffer;
  return { title: 'three', parts: [{ bytes: pool }, { bytes: whole }], empty: new Uint8Array(0), again: pool };
};

export const wrong = () => new Float64Array(2);

export const shared = () => {
  const memory = new SharedArrayBuffer(8);
  new Int32Array(memory)[0] = 41;
  return { memory };
};

export const addOne = (_job, ctx) => {
  const words = new Int32Array(ctx.phaseResult('shared').memory);
  return Atomics.add(words, 0, 1) + 1;
};
