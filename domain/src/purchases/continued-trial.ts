import { windowId } from '@tollgate/schemas/hot-state/documents'
import type { Customer } from '../customers/repository.ts'
import type { SharedAllowance } from '../entitlements/shared-allowance.ts'
import { periodOf, unixSeconds, wholeSecond } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { cycleOf } from './access.ts'
import { newContinuedTrial } from './new-purchase.ts'
import { findEndOfPrevious } from './purchase-fields-repository.ts'
import type { Purchase } from './repository.ts'
import { allowanceAt } from './share-allowance.ts'

/**
 * Returns the purchase that continues the trial of `held` with other terms, linked to it. A trial whose end has come is replaced at that
 * end, so its end is decided by the new terms. Usage since the start of the trial counts against the new terms.
 */
export async function continuedTrial(
  { sql, providerId, now }: ReadingAt,
  held: Purchase,
  plan: PlanSnapshot,
  customer: Pick<Customer, 'reference' | 'email'>,
): Promise<Purchase> {
  const { productRef, productName, anchor } = held
  const product = { reference: productRef, name: productName }
  const startDate = now < anchor ? wholeSecond(now) : anchor
  const started = newContinuedTrial({ customer, product, plan, now }, held, startDate)
  const allowance =
    startDate < anchor
      ? allowanceAt(held, await findEndOfPrevious(sql, providerId, held), started)
      : firstPeriodOf(held)
  return {
    ...started,
    replaces: held.reference,
    allowance: allowance ?? null,
    windowsTakenIn: held.windowsTakenIn.filter(({ into }) => into === allowance?.window),
  }
}

/** Usage since the end of the trial may have been counted for the old purchase already, in the window of its first period. */
function firstPeriodOf(held: Purchase): SharedAllowance | undefined {
  const cycle = cycleOf(held)
  if (cycle === undefined) return undefined
  const { start, end } = periodOf(cycle, 0)
  return { window: windowId(held.reference, unixSeconds(start)), since: start, until: end }
}
