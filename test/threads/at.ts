/** Where the handlers of these tests are. */
export const at = (name: string): URL => new URL(`./handlers/${name}`, import.meta.url);
