import { listReached, type ReachedThreshold } from '@tollgate/domain/alerts/firings-repository'
import type { Budget, SpendReading } from '@tollgate/domain/budgets/budget'
import { listBudgets, listSpendReadings } from '@tollgate/domain/budgets/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

/** What a customer sees of alerts and of the own budget on the page of a purchase. */
export type SpendControl = {
  readonly reached: readonly ReachedThreshold[]
  readonly budget: Budget | undefined
  /** What was measured last in the running period. */
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
