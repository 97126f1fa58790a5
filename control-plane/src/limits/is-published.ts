import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { AppParts } from '../http/app-parts.ts'
import type { CountedPeriod } from './read-counters.ts'

/** Whether every reference of the customer has an entry that counts the period and names all the references. */
export async function isPublished(
  parts: Pick<AppParts, 'hotState' | 'partitionCount'>,
  environment: Environment,
  providerId: string,
  period: CountedPeriod,
): Promise<boolean> {
  for (const reference of period.customerRefs) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, parts.partitionCount(environment))
    const at = { space: environment, partition, subject, scope: period.productRef }
    const { document } = await parts.hotState.readEntry(at, requestsMeterName)
    if (document === undefined || !covers(JSON.parse(document) as Entitlement, period)) return false
  }
  return true
}

function covers(entitlement: Entitlement, period: CountedPeriod): boolean {
  return (
    entitlement.purchaseRef === period.purchaseRef &&
    entitlement.periods.some(({ startSecond }) => startSecond === period.periodStartSecond) &&
    period.customerRefs.every((reference) => entitlement.customerRefs.includes(reference))
  )
}
