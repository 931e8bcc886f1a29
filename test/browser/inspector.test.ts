/** The inspector's page in a real browser: it shows, follows, steps back, comes back, and speaks to nobody else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, RecoverableError } from 'millrace';
import { type InspectedQueue, serveInspector } from 'millrace/inspector';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CHROMIUM_FLAGS, chromiumPath } from '../support/chromium.ts';
import { gate, openQueue } from '../support/open-queue.ts';

/** Phases end when the test says so. */
function gatedPipeline() {
  const doors = { fetch: gate(), crunch: gate(), store: gate() };
  const work = pipeline('reports')
    .input<unknown>()
    .phase('fetch', async (_job, ctx) => {
      ctx.progress(40, 'four of ten');
      await doors.fetch.opened;
      return { rows: 3 };
    })
    .phase('crunch', async (_job, ctx) => {
      await doors.crunch.opened;
      if (ctx.attempt === 1) throw new RecoverableError('the source is away');
      return { sum: 6 };
    })
    .phase('store', () => doors.store.opened)
    .options({ retry: { maxAttempts: 3, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 1 } } });
  return { work, doors };
}

describe.skipIf(!chromiumPath())('the inspector page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath() as string, args: CHROMIUM_FLAGS });
  });
  afterAll(() => browser?.close());

  /** Opens the page of a queue; fails the test if the page complains or asks anybody else for anything. */
  async function visit(queue: InspectedQueue, path = '', stately = '') {
    const server = await serveInspector(queue, { port: 0, stately: stately || false });
    onTestFinished(() => server.close());
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const strays: string[] = [];
    const complaints: string[] = [];
    await context.route('**/*', (route) => {
      const { origin } = new URL(route.request().url());
      if (`${origin}/` === server.url || stately.startsWith(origin)) return route.continue();
      strays.push(route.request().url());
      return route.abort();
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|ERR_CONNECTION/.test(message.text()))
        complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    onTestFinished(() => {
      expect(strays).toEqual([]);
      expect(complaints).toEqual([]);
    });
    await page.goto(server.url + path);
    return { page, server };
  }

  const lit = (page: Page) => page.locator('.chart .lit').getAttribute('data-state');
  const log = (page: Page) => page.locator('#log .event').allTextContents();

  it('shows a running job and lights the next state when it moves', async () => {
    const { work, doors } = gatedPipeline();
    const queue = openQueue({ pipelines: [work] });
    await queue.enqueue('reports', { month: 'March' }, { id: 'march' });
    const { page } = await visit(queue);
    await page.locator('.lit[data-state="active.fetch"]').waitFor();
    expect(await page.locator('#list [aria-current="true"] .id').textContent()).toBe('march');
    expect(await page.locator('.around').getAttribute('data-state')).toBe('active');
    await expect.poll(() => page.locator('#phases .detail').textContent()).toBe('four of ten');
    expect(await page.locator('#context').textContent()).toContain('"March"');

    doors.fetch.open();
    await page.locator('.lit[data-state="active.crunch"]').waitFor();
    expect(await log(page)).toEqual(['born', 'claimed', 'phaseCompleted']);
    await expect.poll(() => page.locator('#context').textContent()).toContain('rows');

    doors.crunch.open();
    await page.locator('.lit[data-state="active.store"]').waitFor();
    expect(await page.locator('.arrow.taken').count()).toBe(6);
    expect(await page.locator('.arrow.last').getAttribute('data-moves')).toContain(
      'active.crunch:phaseCompleted:active.store',
    );
    expect(await page.locator('#log .error').textContent()).toContain('the source is away');

    doors.store.open();
    await page.locator('.lit[data-state="completed"]').waitFor();
    expect(await page.locator('#job-status').textContent()).toBe('completed');
  });

  it('steps back and forth through a finished job, which says what it was', async () => {
    const { work, doors } = gatedPipeline();
    for (const door of Object.values(doors)) door.open();
    const queue = openQueue({ pipelines: [work] });
    await queue.result(await queue.enqueue('reports', null, { id: 'done' }));
    const { page } = await visit(queue, '#job=done');
    await page.locator('.lit[data-state="completed"]').waitFor();
    const path: (string | null)[] = [];
    for (let step = 5; step >= 0; step--) {
      await page.locator('#back').click();
      await page.locator('#moment', { hasText: `step ${step} of 6` }).waitFor();
      path.push(await lit(page));
    }
    expect(await page.locator('#back').isDisabled()).toBe(true);
    expect(path).toEqual(['active.store', 'active.crunch', 'retrying', 'active.crunch', 'active.fetch', 'pending']);
    expect(await page.locator('#context').textContent()).toContain('"pending"');

    for (let steps = 0; steps < 3; steps++) await page.keyboard.press('ArrowRight');
    await expect.poll(() => lit(page)).toBe('retrying');
    expect(await page.locator('#context-note').textContent()).toBe('as the log tells it');
    expect(
      await page.locator('#phases li').evaluateAll((items) => items.map((item) => item.getAttribute('data-status'))),
    ).toEqual(['completed', 'failed', 'pending']);
    const context = await page.locator('#context').textContent();
    expect(context).toContain('rows');
    expect(context).not.toContain('sum');
    expect(context).not.toContain('leaseOwner');

    await page.locator('#log button').nth(1).click();
    await expect.poll(() => lit(page)).toBe('active.fetch');
    await page.locator('#now').click();
    await expect.poll(() => lit(page)).toBe('completed');
  });

  it('stays in the past while the job moves on, until told to follow', async () => {
    const { work, doors } = gatedPipeline();
    doors.fetch.open();
    const queue = openQueue({ pipelines: [work] });
    await queue.enqueue('reports', null, { id: 'moving' });
    const { page } = await visit(queue);
    await page.locator('.lit[data-state="active.crunch"]').waitFor();
    await page.locator('#first').click();
    await expect.poll(() => lit(page)).toBe('pending');
    doors.crunch.open();
    await expect.poll(() => page.locator('#log li').count()).toBe(6);
    expect(await lit(page)).toBe('pending');
    await page.keyboard.press('End');
    await expect.poll(() => lit(page)).toBe('active.store');
  });

  it('survives a server that goes away and comes back, and catches up', async () => {
    const { work, doors } = gatedPipeline();
    const queue = openQueue({ pipelines: [work] });
    await queue.enqueue('reports', null, { id: 'long' });
    const { page, server } = await visit(queue);
    await page.locator('.lit[data-state="active.fetch"]').waitFor();
    await server.close();
    await page.locator('#connection[data-state="away"]').waitFor();
    for (const door of Object.values(doors)) door.open();
    await queue.result('long');
    const again = await serveInspector(queue, { port: server.port });
    onTestFinished(() => again.close());
    await page.locator('#connection[data-state="live"]').waitFor();
    await page.locator('.lit[data-state="completed"]').waitFor();
    expect(await log(page)).toEqual((await queue.transitions('long')).map(({ event }) => event));
    await queue.enqueue('reports', null, { id: 'later' });
    await page.locator('#list .id', { hasText: 'later' }).waitFor();
  });

  it('shows hostile ids, data and errors as text', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const bad = pipeline('bad')
      .input<unknown>()
      .phase('fail', () => {
        throw new Error(hostile);
      });
    const queue = openQueue({ pipelines: [bad] });
    await queue.enqueue('bad', { [hostile]: hostile, __proto__: hostile }, { id: `../${hostile}#?&%2f` });
    await queue.enqueue('bad', hostile, { id: 'javascript:alert(3)' });
    const { page } = await visit(queue);
    for (const id of [`../${hostile}#?&%2f`, 'javascript:alert(3)']) {
      await page.locator(`#list button[title=${JSON.stringify(id)}]`).click();
      await expect.poll(() => page.locator('#job-id').textContent()).toBe(id);
      await page.locator('.lit[data-state="failed"]').waitFor();
      expect(await page.locator('#log .error').textContent()).toContain(hostile);
      expect(await page.locator('#context').textContent()).toContain('<script>');
    }
    expect(await page.locator('body img:not([src="/icon.svg"]), body script').count()).toBe(0);
  });

  it.each([1280, 800, 390])('fits a window %i pixels wide, and moves no more of it than the chart', async (width) => {
    const { work, doors } = gatedPipeline();
    const queue = openQueue({ pipelines: [work] });
    await queue.enqueue('reports', { long: 'x'.repeat(500) }, { id: `long-${'x'.repeat(60)}` });
    const { page } = await visit(queue);
    await page.setViewportSize({ width, height: 800 });
    await page.locator('.lit[data-state="active.fetch"]').waitFor();
    const foot = (part: string) => page.locator(part).evaluate((element) => element.getBoundingClientRect().bottom);
    const head = (part: string) => page.locator(part).evaluate((element) => element.getBoundingClientRect().top);
    expect(await foot('#phases')).toBeLessThanOrEqual(await head('#log'));
    expect(await foot('#log')).toBeLessThanOrEqual(await head('#context'));
    for (const part of ['#list', '#job-id', '#chart', '#now', '#log', '#context']) {
      const box = await page.locator(part).boundingBox();
      const { x = -1, width: wide = 0, height = 0 } = box ?? {};
      expect([part, x >= 0 && x + wide <= width && wide > 40 && height > 15]).toEqual([part, true]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    for (const door of Object.values(doors)) door.open();
    await page.locator('.lit[data-state="completed"]').waitFor();
    expect(await page.evaluate('document.documentElement.scrollTop')).toBe(0);
  });

  it('finds jobs by status, pipeline and id', async () => {
    const fine = pipeline('fine').phase('run', () => 1);
    const broken = pipeline('broken').phase('run', () => Promise.reject(new Error('no')));
    const queue = openQueue({ pipelines: [fine, broken] });
    await queue.result(await queue.enqueue('fine', null, { id: 'a' }));
    await queue.result(await queue.enqueue('broken', null, { id: 'b' })).catch(() => {});
    await queue.enqueue('fine', null, { id: 'c', delayMs: 60_000 });
    const { page } = await visit(queue);
    const ids = () => page.locator('#list .id').allTextContents();
    await expect.poll(ids).toEqual(['c', 'b', 'a']);
    await page.locator('#statuses button', { hasText: 'failed' }).click();
    await expect.poll(ids).toEqual(['b']);
    await page.locator('#statuses button', { hasText: 'failed' }).click();
    await page.locator('#pipeline').selectOption('fine');
    await expect.poll(ids).toEqual(['c', 'a']);
    await page.locator('#search').fill('b');
    await page.locator('#search').press('Enter');
    await page.locator('.lit[data-state="failed"]').waitFor();
    await page.locator('#search').fill('nobody');
    await page.locator('#search').press('Enter');
    await expect.poll(() => page.locator('#chart').textContent()).toContain('There is no job "nobody"');
  });

  it('shows a job in another inspector, its past first, in the messages such inspectors know', async () => {
    const { work, doors } = gatedPipeline();
    doors.fetch.open();
    const queue = openQueue({ pipelines: [work] });
    await queue.enqueue('reports', null, { id: 'shown' });
    const hosted = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(HOSTED));
    await new Promise<void>((resolve) => hosted.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void hosted.close());
    const { page } = await visit(queue, '', `http://127.0.0.1:${(hosted.address() as AddressInfo).port}/inspect`);
    await page.locator('.lit[data-state="active.crunch"]').waitFor();
    const popup = page.waitForEvent('popup');
    await page.locator('#stately').click();
    const bridge = await popup;
    const received = () => bridge.frameLocator('iframe').locator('li').allTextContents();
    const past = ['@xstate.actor supervisor', '@xstate.actor shown', 'born pending', 'claimed active.fetch'];
    await expect.poll(received).toEqual([...past, 'phaseCompleted active.crunch']);
    doors.crunch.open();
    await expect
      .poll(received)
      .toEqual([
        ...past,
        'phaseCompleted active.crunch',
        'phaseFailed retrying',
        'claimed active.crunch',
        'phaseCompleted active.store',
      ]);
  });
});

/** Stands for the hosted inspector: says that it is there, and lists what it is sent. */
const HOSTED = `<!doctype html><ul></ul><script>
  addEventListener('message', ({ data }) => {
    if (typeof data._version !== 'string' || data.type === '@xstate.event') return;
    const state = (value) => (typeof value === 'string' ? value : Object.entries(value)[0].join('.'));
    const item = document.createElement('li');
    item.textContent = data.type === '@xstate.actor'
      ? data.type + ' ' + data.name + (JSON.parse(data.definition).id ? '' : ' without a definition')
      : data.event.type + ' ' + state(data.snapshot.value);
    document.querySelector('ul').append(item);
  });
  parent.postMessage({ type: '@statelyai.connected' }, '*');
</script>`;
