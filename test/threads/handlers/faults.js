/** Ways to end badly. */
import { RecoverableError, RetryAfter } from 'millrace/threads';

class ShopClosedError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'ShopClosedError';
    this.code = 'E_CLOSED';
    this.until = { day: 'monday', at: [9, 30] };
  }
}

export const rich = () => {
  throw new ShopClosedError('no bread today', { cause: new RangeError('the oven is cold', { cause: 'no wood' }) });
};
export const text = () => {
  throw 'just a string';
};
export const nothing = () => {
  throw undefined;
};
export const recoverable = (_job, ctx) => {
  if (ctx.attempt < 3) throw new RecoverableError(`attempt ${ctx.attempt}`);
  return `attempt ${ctx.attempt}`;
};
export const retryAfter = () => {
  throw new RetryAfter(7_000);
};
export const exit = () => process.exit(7);
export const uncaught = () =>
  new Promise(() => {
    setTimeout(() => {
      throw new Error('thrown from a timer');
    });
  });
export const unhandled = () =>
  new Promise(() => {
    Promise.reject(new Error('nobody catches this'));
  });
export const hungry = () => {
  const eaten = [];
  for (;;) eaten.push(new Array(10_000).fill(eaten.length));
};
export const buffers = (_job, ctx) => {
  const eaten = [];
  for (;;) {
    eaten.push(new Uint8Array(1024 * 1024).fill(1));
    ctx.checkpoint();
  }
};
export const aFunction = () => ({ run: () => 1 });
export const aDate = () => ({ at: new Date() });
export const tooLong = () => 'x'.repeat(2 * 1024 * 1024);
export const afterwards = () => {
  setTimeout(() => {
    throw new Error('thrown when nobody was looking');
  }, 5);
  return 'done';
};
