/** All cases of the store port, by noun. */
import { blobs } from './blobs.ts';
import { claims } from './claims.ts';
import { deliveries } from './deliveries.ts';
import type { Case } from './harness.ts';
import { jobs } from './jobs.ts';
import { leases } from './leases.ts';
import { logs } from './logs.ts';
import { machines } from './machines.ts';
import { retention } from './retention.ts';
import { transitions } from './transitions.ts';

const nouns: Readonly<Record<string, readonly Case[]>> = {
  jobs,
  claims,
  transitions,
  blobs,
  logs,
  leases,
  deliveries,
  retention,
  machines,
};

export const cases: readonly (Case & { readonly noun: string })[] = Object.entries(nouns).flatMap(([noun, list]) =>
  list.map((one) => ({ ...one, noun })),
);
