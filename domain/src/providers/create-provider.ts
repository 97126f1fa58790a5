import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments } from '@tollgate/schemas/environment'
import { setActor, type Actor } from '../audit/actor.ts'
import { ensureLimitMeter } from '../meters/create-meter.ts'
import { publishMeters } from '../publishing/publish-meters.ts'
import type { CycleMode } from '../periods/periods.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { runUnitOfWork } from '../unit-of-work/run-unit-of-work.ts'
import { insertProvider, type Provider } from './repository.ts'

export type NewProvider = {
  readonly name: string
  readonly email: string | null
  readonly defaultCurrency: string
  readonly cycleMode: CycleMode
  /** Whether the provider is set up for live as well. Default true. */
  readonly isLive?: boolean
}

/**
 * Creates a provider. The meters of both environments are created first and the provider last, so that a visible provider is
 * complete. A crash in between leaves meters without a provider, which are never read.
 */
export async function createProvider(
  database: Database,
  hotState: HotState,
  actor: Actor,
  fields: NewProvider,
  now: Date,
): Promise<Provider> {
  const provider: Provider = {
    isLive: true,
    ...fields,
    providerId: generateReference('provider'),
    createdAt: now,
  }
  const { providerId } = provider
  for (const environment of environments) {
    const operation = { providerId, environment, now, actor, requestId: null, idempotencyKey: null }
    await runUnitOfWork(database, operation, ensureLimitMeter)
    const targets = [{ providerId, target: '' }]
    await publishMeters(database.in(environment), hotState, environment, targets, 'pending')
  }
  await database.of(providerId).control.write((sql) => {
    setActor(sql, actor)
    return insertProvider(sql, provider)
  })
  return provider
}
