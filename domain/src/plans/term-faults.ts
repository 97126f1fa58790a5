import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { countMax } from '@tollgate/schemas/limits'
import { fieldFault } from './field-fault.ts'
import { renews, type Plan } from './plan.ts'

type Termed = Pick<Plan, 'type' | 'terms'>

/**
 * Returns faults of terms that promise what is not enforced, by the fields of the request. Zero and absent are the same: no promise
 * (see docs/decisions/plans.md, Quantity and notice are enforced).
 */
export function termFaults(plan: Termed): ValidationIssue[] {
  return [...userFaults(plan), ...quantityFaults(plan), ...noticeFaults(plan)]
}

/** Returns all values on which these rules depend. */
export function enforcedTermsOf({ type, terms }: Termed): readonly unknown[] {
  const { maxActiveUsers, availability, cancellationNoticeDays, autoRenew } = terms
  return [type, maxActiveUsers, availability?.['maxQuantity'], cancellationNoticeDays, autoRenew]
}

/** Neither a user nor the consequence of too many users is defined. */
function userFaults({ terms }: Termed): ValidationIssue[] {
  if ((terms.maxActiveUsers ?? 0) === 0) return []
  const message =
    '`maxActiveUsers` is not enforced. Use `limit` to limit usage, or `availability.maxQuantity` of a one-time plan to limit sales.'
  return [fieldFault(['maxActiveUsers'], message)]
}

function quantityFaults({ type, terms }: Termed): ValidationIssue[] {
  const quantity = terms.availability?.['maxQuantity'] ?? null
  if (quantity === null) return []
  const path = ['availability', 'maxQuantity']
  if (type !== 'one-time') {
    return [
      fieldFault(
        path,
        'Only one-time plans have a quantity. Leave out `availability.maxQuantity`.',
      ),
    ]
  }
  const isCount =
    typeof quantity === 'number' &&
    Number.isSafeInteger(quantity) &&
    quantity >= 1 &&
    quantity <= countMax
  return isCount ? [] : [fieldFault(path, `Use a whole number from 1 to ${countMax}.`)]
}

function noticeFaults(plan: Termed): ValidationIssue[] {
  if ((plan.terms.cancellationNoticeDays ?? 0) === 0) return []
  if (plan.type === 'recurring' && renews(plan)) return []
  const message =
    'Only recurring plans that renew have a notice. Leave out `cancellationNoticeDays`.'
  return [fieldFault(['cancellationNoticeDays'], message)]
}
