import { formatAmount, formatCount } from '../formats/amounts.ts'
import { chargeLines } from './describe-charge.ts'
import { fieldNames } from './plan-draft.ts'
import type { Charge, Plan, PlanChanges } from './plan.ts'

export type DiffRow = {
  readonly field: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Returns what the update changes, one row for each field and each charge. */
export function planDiff(plan: Plan, changes: PlanChanges): readonly DiffRow[] {
  const { charges, ...fields } = changes
  // A changed base price is the price of the period. A change of `price` beside it has no effect of its own.
  const shown = Object.entries(fields).filter(
    ([field]) => field !== 'price' || changes.basePrice === undefined,
  )
  const rows = shown.map(([field, after]) => ({
    field: fieldNames[field as keyof typeof fieldNames],
    before: [valueText(field, plan[field as keyof Plan], plan.currency)],
    after: [valueText(field, after, plan.currency)],
  }))
  if (charges === undefined) return rows
  // An answer has every default of a charge, which a request may leave out.
  return [...rows, ...chargeRows(plan.charges ?? [], charges as readonly Charge[], plan.currency)]
}

function chargeRows(
  before: readonly Charge[],
  after: readonly Charge[],
  currency: string,
): readonly DiffRow[] {
  const keyOf = ({ key, meter }: Charge): string => key ?? meter
  const keys = [...new Set([...before, ...after].map(keyOf))]
  return keys.flatMap((key) => {
    const lines = (charges: readonly Charge[]): readonly string[] =>
      charges.filter((each) => keyOf(each) === key).flatMap((each) => chargeLines(each, currency))
    const row = { field: `Charge ${key}`, before: lines(before), after: lines(after) }
    return row.before.join('\n') === row.after.join('\n') ? [] : [row]
  })
}

const moneyFields = new Set(['price', 'basePrice', 'setupFee', 'minimumCommitment'])

function valueText(field: string, value: unknown, currency: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value !== 'number') return JSON.stringify(value)
  return moneyFields.has(field) ? formatAmount(value, currency) : formatCount(value)
}
