import type { DebitTerms, EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import type { Charge } from '@tollgate/schemas/http/charges'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { isPrePaid } from '../plans/plan.ts'

/** Returns the limits and debits of a plan's charges, in their order. Undefined for a plan without charges. */
export function entitledCharges(
  purchase: ProratedPurchase,
  plan: PlanSnapshot,
): EntitledCharge[] | undefined {
  const { charges } = plan.terms
  if (charges === undefined) return undefined
  const { startDate: start } = purchase
  const first = planOfPeriod(plan, purchase, { start }).terms.charges ?? charges
  return charges.map((charge, index) => {
    const cap = capOf(charge)
    const firstCap = capOf(first[index] ?? charge)
    const debit = isPrePaid(plan) ? debitOf(charge) : undefined
    return {
      key: charge.key ?? charge.meter,
      meterName: charge.meter,
      cap,
      ...(firstCap === cap || firstCap === null ? {} : { firstPeriodCap: firstCap }),
      ...(debit === undefined ? {} : { debit }),
    }
  })
}

/** In plans, 0 and absent mean the same: no cap. */
function capOf({ cap }: Charge): string | null {
  if (cap === undefined || cap === 0) return null
  return String(microsFromNumber(cap)!)
}

function debitOf({ where, rows = [], creditsPerUnit }: Charge): DebitTerms | undefined {
  if (creditsPerUnit === undefined) return undefined
  return {
    ...(where === undefined ? {} : { where }),
    ...(rows.length === 0
      ? {}
      : {
          rows: rows.map((row) => ({ when: row.when, creditsPerUnit: row.creditsPerUnit ?? '0' })),
        }),
    creditsPerUnit,
  }
}
