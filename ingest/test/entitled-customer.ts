import { countingWindows } from '@tollgate/domain/entitlements/counting-windows'
import { offerDocumentKey, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { partitionCount, providerId, type Installation } from './installation.ts'

export const productRef = 'prd_1'

const startSecond = Date.UTC(2026, 0, 1) / 1000
export const periodEndSecond = Date.UTC(2026, 1, 1) / 1000

/** An entitlement to 10 units a month, for a customer whose references are in different partitions. */
export const entitlement: Entitlement = {
  customerRef: 'cus_1',
  purchaseRef: 'pur_1',
  planRef: 'pln_1',
  planType: 'recurring',
  endsAtMs: null,
  cap: '10000000',
  credit: null,
  firstPeriodStartSecond: startSecond,
  periods: [{ startSecond, endSecond: periodEndSecond }],
  customerRefs: ['cus_1', 'user-1', 'user-2', 'user-3'],
}

/** The offer in the response to a denied customer. */
export const offer = {
  product: { reference: productRef, name: 'One' },
  plans: [
    {
      reference: 'pln_1',
      type: 'recurring',
      price: 100,
      currency: 'USD',
      requiresPayment: true,
    },
  ],
}

export function placeOf(
  customerRef: string,
  holder = providerId,
): { subject: string; partition: number } {
  const subject = subjectKey(holder, customerRef)
  return { subject, partition: partitionOf(subject, partitionCount) }
}

/** Publishes the entitlement as the control plane does. */
export async function publishEntitlement(
  { hotState }: Installation,
  changes: Partial<Entitlement> = {},
  holder = providerId,
): Promise<void> {
  const published = { ...entitlement, ...changes }
  const document = JSON.stringify(published)
  for (const customerRef of published.customerRefs.toReversed()) {
    const at = { space: 'sandbox', ...placeOf(customerRef, holder), scope: productRef }
    await hotState.putEntry(at, { version: 1, document, windows: countingWindows(published) })
  }
  const offerKey = offerDocumentKey('sandbox', holder, productRef)
  await hotState.putDocument(offerKey, JSON.stringify(offer))
}

/** Counts all records of the log as the counters projection does, and ends no reservation. */
export async function countUsage(installation: Installation): Promise<void> {
  const { hotState, log } = installation
  for (let partition = 0; partition < partitionCount; partition++) {
    const expectedOffset = await hotState.appliedOffset('sandbox', partition)
    const events = await installation.eventsOf('sandbox', partition, expectedOffset)
    await hotState.apply({
      space: 'sandbox',
      partition,
      expectedOffset,
      nextOffset: await log.head(usageTopic('sandbox'), partition),
      marks: [],
      increments: events.map((event) => ({
        subject: subjectKey(event.providerId, event.customerRef),
        scope: event.productRef ?? '',
        series: event.meterName,
        second: Math.floor(event.timestamp / 1000),
        amount: BigInt(event.value),
      })),
    })
  }
}
