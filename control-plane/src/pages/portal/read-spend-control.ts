import { listReached, type ReachedThreshold } from '@tollgate/domain/alerts/firings-repository'
import type { Budget, SpendReading } from '@tollgate/domain/budgets/budget'
import { listBudgets, listSpendReadings } from '@tollgate/domain/budgets/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

/** The reached thresholds and the budget that the page of a purchase shows to its customer. */
export type SpendControl = {
  readonly reached: readonly ReachedThreshold[]
  readonly budget: Budget | undefined
  /** The cost of the running period as it was measured last. */
  readonly reading: SpendReading | undefined
}

export async function readSpendControl(
  pages: ReadParts,
  { caller, customer }: Portal,
  { reference, productRef }: Purchase,
  now: Date,
): Promise<SpendControl> {
  const { providerId } = caller
  const customerRef = customer.reference
  const [all, budgets, readings] = await read(pages, caller, (sql) =>
    Promise.all([
      listReached(sql, providerId, customerRef, now),
      listBudgets(sql, providerId, customerRef),
      listSpendReadings(sql, providerId, customerRef),
    ]),
  )
  const reading = readings.get(productRef)
  const isCurrent = reading?.purchaseRef === reference && now < reading.periodEnd
  return {
    reached: all.filter(({ purchase }) => purchase === reference),
    budget: budgets.get(productRef),
    reading: isCurrent ? reading : undefined,
  }
}
