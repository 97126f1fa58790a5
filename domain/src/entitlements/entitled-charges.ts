import type { DebitTerms, EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import type { Charge } from '@tollgate/schemas/http/charges'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { chargeKey } from '../plans/charge-key.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { isPrePaid } from '../plans/plan.ts'

/** Returns the limits and debits of a plan's charges, in their order. Undefined for a plan without charges. */
export function entitledCharges(plan: PlanSnapshot): EntitledCharge[] | undefined {
  return plan.terms.charges?.map((charge) => {
    const debit = isPrePaid(plan) ? debitOf(charge) : undefined
    return {
      key: chargeKey(charge),
      meterName: charge.meter,
      cap: capOf(charge),
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
