import { jobActor } from '@tollgate/domain/audit/actor'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { environment } from './environment.ts'

/** Returns an operation of the provider at the time. */
export function operationIn(providerId: string, now: Date): Operation {
  const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
  return { ...by, providerId, environment, now }
}
