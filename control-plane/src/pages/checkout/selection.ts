import { billingFromForm } from './billing-form.ts'
import type { TypedBilling } from './read-billing.ts'

/** The customer's choices so far. */
export type Selection = {
  readonly planRef: string | undefined
  readonly currency: string | undefined
  /** Amount of the credits, as the customer typed it. */
  readonly amount: string | undefined
  /** The discount code that was refused, as the customer typed it. */
  readonly code: string | undefined
  /** Undefined means that the stored billing details apply. */
  readonly billing: TypedBilling | undefined
}

/** Form fields that contain choices. */
const fieldNames = [
  'plan',
  'currency',
  'amount',
  'code',
  'isBusiness',
  'country',
  'businessName',
  'taxId',
] as const

type Fields = Readonly<Record<string, string>>

/** Returns the fields of a form that are shown again. */
export function selectionFields(form: Fields): Fields {
  return Object.fromEntries(
    fieldNames.flatMap((name) => (form[name] === undefined ? [] : [[name, form[name]]])),
  )
}

/** Reads the choices from a form. `isSent` means that the customer submitted it, so that missing fields are reported. */
export function selectionOf(form: Fields, isSent: boolean): Selection {
  const { plan, currency, amount, code, country } = form
  const billing = { form: billingFromForm(form), isComplete: isSent }
  return {
    planRef: plan,
    currency: currency?.toUpperCase().slice(0, 3),
    amount,
    code,
    billing: country === undefined ? undefined : billing,
  }
}
