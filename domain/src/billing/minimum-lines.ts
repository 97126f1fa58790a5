import { unixSeconds, periodAt } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import {
  invoiceLine,
  totalOf,
  type ChargedPeriod,
  type InvoiceLine,
} from '../pricing/invoice-line.ts'
import type { MinimumCharge } from '../pricing/line-inputs.ts'
import { cycleOf } from '../purchases/access.ts'
import { planAt } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'

/** The periods that a bill charges, and whether it is made within the running one. */
type PeriodsOfBill = Pick<UsageToBill, 'period' | 'continued' | 'leastMinor' | 'earlier'>

/**
 * Returns the lines that charge the difference between the price of a period's usage and the minimum of the plan, if the usage costs
 * less. A period that was billed before has a line if its usage has changed: the price of late usage is subtracted from the minimum that
 * was charged. So all lines of a period add up to the price of its usage or to the minimum, whichever is more. A bill within a period
 * has no line for that period. `usage` contains the usage lines of the bill.
 */
export function minimumLines(
  purchase: Purchase,
  plan: PlanSnapshot,
  bill: PeriodsOfBill,
  usage: readonly InvoiceLine[],
  now: Date,
): InvoiceLine[] {
  // A plan with a minimum is sold in its own currency alone. A plan without one has none in any period.
  if ((plan.terms.minimumCommitment ?? 0) === 0 || purchase.currency !== plan.currency) return []
  return periodsOf(bill).flatMap((period) => {
    const { minimumCommitment = 0 } = planAt(purchase, plan, period.start).terms
    if (minimumCommitment === 0) return []
    const counted = usage.filter((line) => line.period?.start.getTime() === period.start.getTime())
    const before = bill.earlier.find(({ start }) => start.getTime() === period.start.getTime())
    const countedMinor = billedUsageMinor(before) + totalOf(counted)
    const amounts = { countedMinor, billedMinor: before?.minimumMinor ?? 0n }
    return minimumLine(purchase, plan, BigInt(minimumCommitment), period, amounts, now)
  })
}

/** Returns the periods that have ended with this bill, oldest first. */
function periodsOf({ period, continued, leastMinor, earlier }: PeriodsOfBill): ChargedPeriod[] {
  const running = period ?? continued
  const ended = earlier.filter(({ start }) => start.getTime() !== running?.start.getTime())
  return [
    ...ended.toReversed(),
    ...(running === undefined || leastMinor !== undefined ? [] : [running]),
  ]
}

function billedUsageMinor(before: UsageToBill['earlier'][number] | undefined): bigint {
  const charges = [...(before?.billed.values() ?? [])]
  return charges.reduce((sum, { amountMinor = 0n }) => sum + amountMinor, 0n)
}

function minimumLine(
  purchase: Purchase,
  plan: PlanSnapshot,
  minimumMinor: bigint,
  { start, end }: ChargedPeriod,
  { countedMinor, billedMinor }: { readonly countedMinor: bigint; readonly billedMinor: bigint },
  now: Date,
): InvoiceLine[] {
  const cycle = cycleOf(purchase)
  // A customer who leaves is billed before the end of the period, and owes the minimum until then.
  const until = end < now ? end : now
  if (cycle === undefined || until <= start) return []
  const whole = periodAt(cycle, start)
  const inputs: MinimumCharge = {
    kind: 'minimum',
    minimumMinor: minimumMinor.toString(),
    secondsCharged: unixSeconds(until) - unixSeconds(start),
    secondsInPeriod: unixSeconds(whole.end) - unixSeconds(whole.start),
    countedMinor: countedMinor.toString(),
    billedMinor: billedMinor.toString(),
  }
  const line = invoiceLine(inputs, `${plan.name}, minimum`, { start, end: until })
  return line.amountMinor === 0n ? [] : [line]
}
