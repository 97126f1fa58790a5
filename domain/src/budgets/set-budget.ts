import { requestCheck } from '../alerts/checks-repository.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Budget } from './budget.ts'
import { deleteBudget, upsertBudget } from './repository.ts'

/**
 * Sets what the customer wants to spend on a product. The publication makes it act at once, compared with the cost that was
 * measured last. The check measures the cost now, which matters for a first budget.
 */
export async function setBudget(
  work: UnitOfWork,
  budget: Omit<Budget, 'updatedAt'>,
): Promise<void> {
  const { sql, providerId, now } = work
  await upsertBudget(sql, providerId, { ...budget, updatedAt: now }, now)
  await requestCheck(work, budget.customerRef)
  await queuePublication(work, 'customer', budget.customerRef)
}

/** Removes a budget, which ends its stop at once. */
export async function removeBudget(
  work: UnitOfWork,
  customerRef: string,
  productRef: string,
): Promise<void> {
  const { sql, providerId } = work
  if (await deleteBudget(sql, providerId, customerRef, productRef)) {
    await queuePublication(work, 'customer', customerRef)
  }
}
