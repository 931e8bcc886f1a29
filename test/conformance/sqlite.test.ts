/** The conformance suite against SQLite: on a file, in memory, and on a connection shared with the application. */
import Database from 'better-sqlite3';
import { describe, onTestFinished, test } from 'vitest';
import { SqliteStore } from '../../src/runtime/store/sqlite/sqlite-store.ts';
import { tempDatabase } from '../support/temp-database.ts';
import { cases } from './cases.ts';
import { Harness } from './harness.ts';

const databases = {
  'on a file': tempDatabase,
  'in memory': () => ':memory:',
  'on a shared connection': () => new Database(':memory:'),
};

for (const [place, make] of Object.entries(databases)) {
  describe(`SqliteStore ${place}`, () => {
    // A database in memory is gone with its store: what is about opening it again says nothing there.
    const applicable = cases.filter(({ reopens }) => !(reopens && place === 'in memory'));
    for (const { noun, name, run } of applicable) {
      test(`${noun}: ${name}`, async () => {
        const database = make();
        const harness = new Harness((phaseLists, onPhasesChanged = 'refuse') => {
          return new SqliteStore({ database, phaseLists, onPhasesChanged });
        });
        onTestFinished(() => harness.store.close());
        await run(harness);
      });
    }
  });
}
