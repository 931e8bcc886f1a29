/** Types of load.js, which is JavaScript so that packages resolve from its own folder in every runner. */
export function importPeer<T>(name: string): Promise<T>;
export function peerVersion(name: string): string | null;
export function installPeers(): string | null;
