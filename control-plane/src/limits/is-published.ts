import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { PeriodOfPurchase } from './period-usage.ts'

/** Returns whether every reference of the customer has an entry that counts the period and lists all references. */
export async function isPublished(
  parts: {
    readonly hotState: HotState
    readonly partitionCount: (environment: Environment) => number
  },
  period: PeriodOfPurchase,
): Promise<boolean> {
  const { environment, providerId, productRef } = period
  for (const reference of period.entitlement.customerRefs) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, parts.partitionCount(environment))
    const at = { space: environment, partition, subject, scope: productRef }
    const { document } = await parts.hotState.readEntry(at, requestsMeterName)
    if (document === undefined || !covers(JSON.parse(document) as Entitlement, period)) return false
  }
  return true
}

function covers(published: Entitlement, { entitlement, periodStartSecond }: PeriodOfPurchase) {
  return (
    published.purchaseRef === entitlement.purchaseRef &&
    published.periods.some(({ startSecond }) => startSecond === periodStartSecond) &&
    entitlement.customerRefs.every((reference) => published.customerRefs.includes(reference))
  )
}
