import { fractionDigitsOf } from '@tollgate/schemas/minor-units'
import { isNumberText, movePoint } from '../formats/decimals.ts'
import { chargeDraftOf, chargeFault, chargeOf, type ChargeDraft } from './charge-draft.ts'
import { periodPriceOf, priceFieldOf } from './period-price.ts'
import type { Plan, PlanChanges } from './plan.ts'

/** The terms of a plan as they are typed. Amounts are in whole units of the currency, such as dollars. */
export type PlanDraft = {
  readonly name: string
  readonly status: Plan['status']
  /** The price of a period. */
  readonly price: string
  readonly setupFee: string
  readonly minimumCommitment: string
  readonly creditsPerUnit: string
  readonly freeUnits: string
  readonly limit: string
  readonly charges: readonly ChargeDraft[]
}

/** Fields of money in minor units, and fields of plain numbers. */
const moneyFields = ['price', 'setupFee', 'minimumCommitment'] as const
const numberFields = ['creditsPerUnit', 'freeUnits', 'limit'] as const

export function planDraftOf(plan: Plan): PlanDraft {
  const digits = fractionDigitsOf(plan.currency)
  const money = (minor: number | undefined): string =>
    minor === undefined ? '' : movePoint(String(minor), -digits)
  const number = (value: number | undefined): string => (value === undefined ? '' : String(value))
  return {
    ...{ name: plan.name, status: plan.status },
    price: money(periodPriceOf(plan)),
    setupFee: money(plan.setupFee),
    minimumCommitment: money(plan.minimumCommitment),
    creditsPerUnit: number(plan.creditsPerUnit),
    freeUnits: number(plan.freeUnits),
    limit: number(plan.limit),
    charges: (plan.charges ?? []).map((charge) => chargeDraftOf(charge, digits)),
  }
}

/** A draft, and the plan from which it began. */
export type BegunDraft = { readonly plan: Plan; readonly draft: PlanDraft }

export function beginDraft(plan: Plan): BegunDraft {
  return { plan, draft: planDraftOf(plan) }
}

/** Returns whether the plan was saved again after it was read. */
export function isOutdated(read: Plan, latest: Plan): boolean {
  return latest.updatedAt !== read.updatedAt
}

export type ReadDraft =
  | { readonly kind: 'changes'; readonly changes: PlanChanges }
  | { readonly kind: 'fault'; readonly message: string }

/** Returns what the draft changes in the plan, as the body of an update. A draft that cannot be read has the reason. */
export function changesOf({ plan, draft }: BegunDraft): ReadDraft {
  const digits = fractionDigitsOf(plan.currency)
  const before = planDraftOf(plan)
  const changes: Record<string, unknown> = {}
  if (draft.name !== before.name) changes['name'] = draft.name
  if (draft.status !== before.status) changes['status'] = draft.status
  for (const field of [...moneyFields, ...numberFields]) {
    if (draft[field].trim() === before[field]) continue
    const isMoney = moneyFields.some((each) => each === field)
    const value = numberOf(draft[field], isMoney ? digits : 0)
    if (value === undefined)
      return { kind: 'fault', message: `${fieldNames[field]}: ${faultText(isMoney, digits)}` }
    Object.assign(changes, field === 'price' ? priceChange(plan, value) : { [field]: value })
  }
  for (const [index, charge] of draft.charges.entries()) {
    const fault = chargeFault(charge)
    if (fault !== undefined) return { kind: 'fault', message: `Charge ${index + 1}, ${fault}` }
  }
  const charges = draft.charges.map((charge) => chargeOf(charge, digits))
  if (
    JSON.stringify(charges) !== JSON.stringify(before.charges.map((each) => chargeOf(each, digits)))
  ) {
    changes['charges'] = charges
  }
  // The API reads the changes strictly, and is asked to preview them before they are saved.
  return { kind: 'changes', changes }
}

/** A hybrid plan may have its base price in `price` too. The API refuses two different prices of a period. */
function priceChange(plan: Plan, value: number): Pick<PlanChanges, 'price' | 'basePrice'> {
  if (priceFieldOf(plan) === 'price') return { price: value }
  return plan.price === 0 ? { basePrice: value } : { price: value, basePrice: value }
}

export const fieldNames = {
  name: 'Name',
  status: 'Status',
  price: 'Price',
  basePrice: 'Price',
  setupFee: 'Set-up fee',
  minimumCommitment: 'Minimum of a period',
  creditsPerUnit: 'Credits per request',
  freeUnits: 'Free requests of a period',
  limit: 'Limit of requests in a period',
  charges: 'Charges',
} as const

function faultText(isMoney: boolean, digits: number): string {
  return isMoney ? `use a number with at most ${digits} decimals` : 'use a number'
}

/** Returns the typed number with its point moved, or undefined. Nothing typed is 0, which is no price and no limit. */
function numberOf(text: string, places: number): number | undefined {
  if (text.trim() === '') return 0
  if (!isNumberText(text)) return undefined
  const value = Number(movePoint(text, places))
  return places === 0 || Number.isSafeInteger(value) ? value : undefined
}
