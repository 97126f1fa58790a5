import type { NewCorrection } from '@tollgate/domain/usage-corrections/correction'
import { noteBackfill } from '@tollgate/domain/usage-corrections/note-backfill'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { backfillAppendMsMax } from '@tollgate/schemas/http/usage-corrections'
import type { Holding } from './change-terms.ts'
import type { CrashingService } from './crashing-service.ts'

/** Gives a record another value, or takes it away if `units` is 0. The correction is applied by the job. */
export async function requestUnits(
  service: CrashingService,
  { shop, customer }: Holding,
  { id, units }: { readonly id: string; readonly units: number },
): Promise<void> {
  const wanted: NewCorrection = {
    selection: { kind: 'record', id, customerRef: customer.reference },
    action: units === 0 ? 'remove' : 'set',
    valueMicros: units === 0 ? undefined : BigInt(units) * 1_000_000n,
    reason: 'decided',
    author: 'Grace',
    idempotencyKey: null,
  }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    requestCorrection(work, wanted),
  )
}

/** Announces usage of the past as ingest does, before its records are in the log. */
export async function announceBackfill(
  service: CrashingService,
  { shop, customer }: Holding,
  at: Date,
): Promise<void> {
  const operation = service.operation(shop.providerId)
  const usage = {
    customerRef: customer.reference,
    productRef: shop.productRef,
    timestamp: at.getTime(),
  }
  const keptUntil = new Date(operation.now.getTime() + 2 * backfillAppendMsMax)
  await service.parts.commit(operation, (work) => noteBackfill(work, [usage], keptUntil))
}
