import { jobActor } from '../audit/actor.ts'
import type { Operation } from './unit-of-work.ts'

/** Returns the operation of a job, which no client requested. */
export function jobOperation(
  job: string,
  { providerId, environment }: Pick<Operation, 'providerId' | 'environment'>,
  now: Date,
): Operation {
  return {
    providerId,
    environment,
    now,
    actor: jobActor(job),
    requestId: null,
    idempotencyKey: null,
  }
}
