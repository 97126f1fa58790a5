import { typedBilling } from './billing-form.ts'
import type { TypedBilling } from './read-billing.ts'

/** What the customer has chosen so far. */
export type Asked = {
  readonly planRef: string | undefined
  readonly currency: string | undefined
  /** Of credits, as it was typed. */
  readonly amount: string | undefined
  /** Undefined: as it was told before. */
  readonly billing: TypedBilling | undefined
}

/** The fields that a choice is made with. */
const fieldNames = [
  'plan',
  'currency',
  'amount',
  'isBusiness',
  'country',
  'businessName',
  'taxId',
] as const

type Fields = Readonly<Record<string, string>>

/** Of all that a form holds, what is shown again. */
export function choiceFields(form: Fields): Fields {
  return Object.fromEntries(
    fieldNames.flatMap((name) => (form[name] === undefined ? [] : [[name, form[name]]])),
  )
}

/** `isSent`: the customer is done with the form, so that what is missing in it is complained about. */
export function askedOf(form: Fields, isSent: boolean): Asked {
  const { plan, currency, amount, country } = form
  const billing = { form: typedBilling(form), isComplete: isSent }
  return {
    planRef: plan,
    currency: currency?.toUpperCase().slice(0, 3),
    amount,
    billing: country === undefined ? undefined : billing,
  }
}
