import { InFlightLimit } from '@tollgate/ingest/domain/in-flight-limit'
import { LimitChecker } from '@tollgate/ingest/hot-state/limit-checker'
import { createIngestCounts } from '@tollgate/ingest/metrics'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { provisionDefaultPlan } from '@tollgate/domain/purchases/provision-default-plan'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { environment } from '../money/environment.ts'
import type { Stores } from '../money/stores.ts'
import type { Player } from './player.ts'

const checkers = new WeakMap<Stores, LimitChecker>()

function checkerOf(stores: Stores): LimitChecker {
  const known = checkers.get(stores)
  if (known !== undefined) return known
  const { hotState } = stores
  const log = stores.usageLog as unknown as EventLog
  const checker = new LimitChecker({
    log,
    hotState,
    ...createTailParts({ log, hotState }, readSettings(tailSettings, {})),
    inFlight: new InFlightLimit({ countMax: 1_000, bytesMax: 1_000_000 }),
    documents: new EntitlementDocuments(10_000),
    counts: createIngestCounts(createMetrics('test')),
    nowMs: () => stores.clock.now(),
    waitMs: 0,
    tailRecordsMax: 0,
  })
  checkers.set(stores, checker)
  return checker
}

/**
 * Checks the limit as the data plane does. It asks the control plane about unknown customers, which enrolls them in the default
 * plan if allowed. Returns undefined if the customer has no purchase.
 */
export async function checkLimit(player: Player): Promise<LimitsResponse | undefined> {
  const known = await checkPublished(player)
  if (known !== undefined) return known
  const { world, market, customer } = player
  await world.act((service) =>
    service.parts.commit(service.operation(market.providerId), (work) =>
      provisionDefaultPlan(work, customer, market.productRef, 'calendar'),
    ),
  )
  return checkPublished(player)
}

async function checkPublished(player: Player): Promise<LimitsResponse | undefined> {
  const { world, market, customer } = player
  const holder = { providerId: market.providerId, environment } as const
  const request = {
    customerRef: customer.reference,
    productRef: market.productRef,
    includeCheckoutSession: false,
  }
  const decision = await checkerOf(world.stores).check(holder, request)
  if (decision.kind === 'unanswerable') throw new Error('the counters are behind')
  return decision.kind === 'answered' ? decision.response : undefined
}
