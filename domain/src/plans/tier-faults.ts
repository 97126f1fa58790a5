import { fieldFault } from './field-fault.ts'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { PlanTerms } from './plan.ts'

type Tiers = NonNullable<PlanTerms['usageTiers']>

/**
 * Returns a fault for each gap, overlap or wrong end in the tiers. Published plans use whole units ("501" after "500"), so a tier starts
 * where the one before ends, or at most one unit later. Units after the last tier cost the last tier's price.
 */
export function tierFaults(tiers: Tiers): ValidationIssue[] {
  return tiers.flatMap((tier, index) => {
    const end = index === 0 ? 0 : tiers[index - 1]!.maxUsage
    // A missing end is reported for the tier that misses it.
    if (end === undefined || end === null) return openEndFaults(tiers, index)
    const faults = openEndFaults(tiers, index)
    if (tier.minUsage < end || tier.minUsage > end + 1) {
      const message =
        index === 0
          ? 'The first tier must start at 0 or 1.'
          : `This tier must start where the one before it ends, at ${end} or ${end + 1}.`
      faults.push(fault(index, 'minUsage', message))
    }
    const { minUsage, maxUsage } = tier
    if (typeof maxUsage === 'number' && (maxUsage <= end || maxUsage < minUsage)) {
      faults.push(fault(index, 'maxUsage', 'A tier must end behind its start.'))
    }
    return faults
  })
}

function openEndFaults(tiers: Tiers, index: number): ValidationIssue[] {
  const isOpen = typeof tiers[index]!.maxUsage !== 'number'
  if (!isOpen || index === tiers.length - 1) return []
  return [fault(index, 'maxUsage', 'Only the last tier may have no end.')]
}

function fault(index: number, field: string, message: string): ValidationIssue {
  return fieldFault(['usageTiers', index, field], message)
}
