/** Opens a store in a process of its own, perhaps under another user, and prints how that went. */
import { SqliteStore } from '../../../src/runtime/store/sqlite/sqlite-store.ts';

try {
  const store = new SqliteStore({ database: process.argv[2] ?? '', phaseLists: [] });
  await store.close();
  console.log(JSON.stringify({ opened: true }));
} catch (error) {
  const { name, code, message } = error as Error & { code?: string };
  console.log(JSON.stringify({ name, code, message }));
}
