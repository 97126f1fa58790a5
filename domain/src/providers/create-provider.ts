import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments } from '@tollgate/schemas/environment'
import { ensureLimitMeter } from '../meters/create-meter.ts'
import { publishMeters } from '../meters/publish-meters.ts'
import type { CycleMode } from '../periods/periods.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { runUnitOfWork } from '../unit-of-work/run-unit-of-work.ts'
import { insertProvider, type Provider } from './repository.ts'

export type NewProvider = {
  readonly name: string
  readonly email: string | null
  readonly defaultCurrency: string
  readonly cycleMode: CycleMode
}

/**
 * The meters of both environments come first, the provider last: a provider that can be seen can be used. A crash on
 * the way leaves meters of a provider that never was, which nothing reads.
 */
export async function createProvider(
  database: Database,
  hotState: HotState,
  fields: NewProvider,
  now: Date,
): Promise<Provider> {
  const provider: Provider = {
    ...fields,
    providerId: drawReference('provider'),
    createdAt: now,
  }
  const { providerId } = provider
  for (const environment of environments) {
    const pool = database.in(environment)
    const operation = { providerId, environment, now, requestId: null, idempotencyKey: null }
    await runUnitOfWork(pool, operation, ensureLimitMeter)
    const targets = [{ providerId, target: '' }]
    await publishMeters(pool, hotState, environment, targets, 'pending')
  }
  await insertProvider(database.control, provider)
  return provider
}
