import { publish } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { PeriodOfPurchase } from './period-usage.ts'

export type PublishedParts = {
  readonly publisher: PublisherParts
  readonly hotState: HotState
  readonly partitionCount: (environment: Environment) => number
}

/**
 * Publishes the customer unless hot state counts the period. Counters exist only for published periods, and publishing adds what
 * was counted before.
 */
export async function ensurePublished(
  parts: PublishedParts,
  counted: PeriodOfPurchase,
): Promise<void> {
  if (await isPublished(parts, counted)) return
  const { environment, providerId, entitlement } = counted
  const target = { kind: 'customer', providerId, target: entitlement.customerRef } as const
  await publish(parts.publisher, environment, target, 'always')
}

/** Returns whether every reference of the customer has an entry that counts the period and lists all references. */
async function isPublished(
  { hotState, partitionCount }: PublishedParts,
  period: PeriodOfPurchase,
): Promise<boolean> {
  const { environment, providerId, productRef } = period
  for (const reference of period.entitlement.customerRefs) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, partitionCount(environment))
    const key = { space: environment, partition, subject, scope: productRef }
    const { document } = await hotState.readEntry(key, requestsMeterName)
    if (document === undefined || !coversPeriod(JSON.parse(document) as Entitlement, period))
      return false
  }
  return true
}

function coversPeriod(
  published: Entitlement,
  { entitlement, periodStartSecond }: PeriodOfPurchase,
) {
  return (
    published.purchaseRef === entitlement.purchaseRef &&
    published.periods.some(({ startSecond }) => startSecond === periodStartSecond) &&
    entitlement.customerRefs.every((reference) => published.customerRefs.includes(reference))
  )
}
