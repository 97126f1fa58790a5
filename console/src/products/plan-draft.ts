import { fractionDigitsOf } from '@tollgate/schemas/minor-units'
import { movePoint } from '../formats/decimals.ts'
import { chargeDraftOf, chargeOf, type ChargeDraft } from './charge-draft.ts'
import type { Plan, PlanChanges } from './plan.ts'

/** The terms of a plan as they are typed. Amounts are in whole units of the currency, such as dollars. */
export type PlanDraft = {
  readonly name: string
  readonly status: Plan['status']
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
    price: money(plan.price),
    setupFee: money(plan.setupFee),
    minimumCommitment: money(plan.minimumCommitment),
    creditsPerUnit: number(plan.creditsPerUnit),
    freeUnits: number(plan.freeUnits),
    limit: number(plan.limit),
    charges: (plan.charges ?? []).map((charge) => chargeDraftOf(charge, digits)),
  }
}

export type ReadDraft =
  | { readonly kind: 'changes'; readonly changes: PlanChanges }
  | { readonly kind: 'fault'; readonly message: string }

/** Returns what the draft changes in the plan, as the body of an update. A draft that cannot be read has the reason. */
export function changesOf(plan: Plan, draft: PlanDraft): ReadDraft {
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
    changes[field] = value
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

export const fieldNames = {
  name: 'Name',
  status: 'Status',
  price: 'Price',
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
  if (!/^\d{1,12}(?:\.\d{1,6})?$/.test(text.trim())) return undefined
  const value = Number(movePoint(text, places))
  return places === 0 || Number.isSafeInteger(value) ? value : undefined
}
