import { formatMoney } from '@tollgate/domain/money/currencies'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'

/** Returns what a change of plan charges or credits today, without tax. Returns undefined if there is no change within a period. */
export function changeWords(change: PlanSwitch | undefined): string | undefined {
  if (change === undefined) return undefined
  const { lines, currency } = change
  const totalMinor = totalOf(lines)
  if (totalMinor === 0n) return 'Nothing is charged today.'
  if (totalMinor < 0n) {
    return `Nothing is charged today. ${formatMoney(-totalMinor, currency)} is credited to the next invoice.`
  }
  return `${formatMoney(totalMinor, currency)} is charged for the rest of the period.`
}

/** Returns when a plan starts that was chosen for a renewal, and whether the purchase is charged before that. */
export function scheduleWords(
  planName: string,
  { nextBillingDate, planSnapshot }: Purchase,
  at: Date,
  dayOf: (instant: Date) => string,
): string {
  if (nextBillingDate === null || nextBillingDate >= at) {
    return `Nothing is charged today. ${planName} starts on ${dayOf(at)}, with the next renewal.`
  }
  const held = planSnapshot?.name ?? 'The plan before'
  return `Nothing is charged today. The notice for the running period has passed: ${held} still renews on ${dayOf(nextBillingDate)}, and ${planName} starts on ${dayOf(at)}.`
}
