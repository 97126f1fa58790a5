import fc from 'fast-check'

/*
 * An independent model of what is returned of one invoice that is paid in full, in part by card. Plain numbers of minor units. Nothing
 * of it fails, so the amounts follow from sums alone.
 */

export type RefundStep =
  | { readonly kind: 'to balance'; readonly amount?: number }
  /** `isKnown`: the processor answers at once that the refund succeeded. Otherwise the outcome stays unknown until `answers`. */
  | { readonly kind: 'to card'; readonly amount?: number; readonly isKnown: boolean }
  | { readonly kind: 'answers' }
  /** A credit note without a refund. */
  | { readonly kind: 'credited'; readonly amount: number }
  /** A refund that is made at the processor, and reported later by a webhook. */
  | { readonly kind: 'at the processor'; readonly amount: number }

const some = fc.integer({ min: 1, max: 6_000 })
const someOrAll = fc.option(some, { nil: undefined })
const withAmount = <Fields extends object>(fields: Fields) =>
  someOrAll.map((amount) => ({ ...fields, ...(amount === undefined ? {} : { amount }) }))

export const refundSteps: fc.Arbitrary<readonly RefundStep[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: withAmount({ kind: 'to balance' as const }) },
    { weight: 3, arbitrary: withAmount({ kind: 'to card' as const, isKnown: true }) },
    { weight: 1, arbitrary: withAmount({ kind: 'to card' as const, isKnown: false }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'answers' as const }) },
    { weight: 2, arbitrary: some.map((amount) => ({ kind: 'credited' as const, amount })) },
    { weight: 3, arbitrary: some.map((amount) => ({ kind: 'at the processor' as const, amount })) },
  ),
  { minLength: 1, maxLength: 8 },
)

export type RefundModel = {
  readonly charged: number
  /** The part that was paid by card. */
  readonly card: number
  /** The part that the customer paid, by card or by other means. A credit paid the rest. */
  readonly paid: number
  /** What was returned of the part that the customer paid. The balance gets this part before what a credit paid. */
  readonly paidBack: number
  /** Refunds that the processor has made. */
  readonly refunded: number
  /** The part of these refunds that was returned to the balance before, and is taken from it again. */
  readonly taken: number
  /** Refunds whose outcome is not known. */
  readonly open: number
  readonly toBalance: number
  readonly credited: number
  /** Whether a refund, to the card or to the balance, has left nothing to return. */
  readonly isEnded: boolean
}

export function startRefundModel(charged: number, card: number, paid: number): RefundModel {
  const nothing = { paidBack: 0, refunded: 0, taken: 0, open: 0, toBalance: 0, credited: 0 }
  return { charged, card, paid, ...nothing, isEnded: false }
}

/** Returns what neither a refund nor a credit has returned. */
function restOf({ charged, refunded, taken, toBalance, credited }: RefundModel): number {
  return charged - (refunded - taken) - toBalance - credited
}

/** Returns what the customer paid and has not got back, without refunds whose outcome is not known. */
function keptOf({ paid, paidBack, open }: RefundModel): number {
  return Math.max(paid - paidBack - open, 0)
}

/** Returns the credit that the customer has for the next invoice. */
export function balanceOf({ taken, toBalance, credited }: RefundModel): number {
  return toBalance + credited - taken
}

/** Returns the amount that a step returns, 0 if it is refused. */
export function amountOf(model: RefundModel, step: RefundStep): number {
  const rest = restOf(model) - model.open
  const onCard = model.card - model.refunded - model.open
  const isOpen = model.open > 0
  const within = (most: number, amount = most) => (amount > 0 && amount <= most ? amount : 0)
  switch (step.kind) {
    case 'to balance':
      return within(rest, step.amount)
    case 'to card':
      return within(Math.min(rest, onCard, keptOf(model)), step.amount)
    case 'credited':
      return isOpen ? 0 : within(rest, step.amount)
    case 'at the processor':
      return within(onCard, step.amount)
    case 'answers':
      return model.open
  }
}

export function refundModel(model: RefundModel, step: RefundStep): RefundModel {
  const amount = amountOf(model, step)
  if (amount === 0) return model
  switch (step.kind) {
    case 'to balance': {
      const paidBack = model.paidBack + Math.min(amount, keptOf(model))
      return ended({ ...model, paidBack, toBalance: model.toBalance + amount })
    }
    case 'to card':
      return step.isKnown ? refunded(model, amount) : { ...model, open: model.open + amount }
    case 'answers':
      return refunded({ ...model, open: 0 }, amount)
    case 'credited':
      return { ...model, credited: model.credited + amount }
    case 'at the processor':
      return refunded(model, amount)
  }
}

function refunded(model: RefundModel, amount: number): RefundModel {
  const returned = Math.min(amount, model.paid - model.paidBack, restOf(model))
  return ended({
    ...model,
    paidBack: model.paidBack + returned,
    refunded: model.refunded + amount,
    taken: model.taken + amount - returned,
  })
}

function ended(model: RefundModel): RefundModel {
  return { ...model, isEnded: model.isEnded || restOf(model) === 0 }
}
