import type { EmailKind } from '@tollgate/schemas/http/emails'
import type { NamedCard } from '../pages/card-name.ts'
import { cardName } from '../pages/card-name.ts'
import type { Reader } from '../pages/reader.ts'

/** The words of an email in its customer's language, without the frame that all emails share. */
export type EmailContent = {
  readonly subject: string
  readonly title: string
  readonly paragraphs: readonly string[]
  /** Names and values of a table. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** An amount in minor units of an ISO 4217 code. */
export type Amount = { readonly minor: bigint; readonly currency: string }

/** Names are those of the provider's catalog. */
export type EmailFacts = {
  readonly receipt: {
    readonly amount: Amount
    readonly paidAt: Date
    /** Number of the invoice, or null if none was issued. */
    readonly invoice: string | null
    readonly product: string | null
    readonly plan: string | null
    readonly card: NamedCard | null
  }
  readonly renewal_upcoming: PlanFacts & { readonly amount: Amount; readonly renewsAt: Date }
  readonly trial_ending: PlanFacts & { readonly amount: Amount; readonly endsAt: Date }
  readonly payment_failed:
    | (PlanFacts & { readonly of: 'plan'; readonly retryAt: Date | null })
    | (PlanFacts & { readonly of: 'paused' })
    | { readonly of: 'top-up' }
  readonly plan_changed: PlanFacts & {
    readonly before: string | null
    /** Whether only the terms of the plan change. */
    readonly isSamePlan: boolean
    /** Null if the change has taken effect. `withdrawn`: the customer keeps `plan`. */
    readonly ahead: ChangeAhead | 'withdrawn' | null
  }
  readonly budget_reached: {
    readonly product: string
    readonly spent: Amount
    readonly budget: Amount
    /** End of the period until which usage is refused. Null if usage continues. */
    readonly stoppedUntil: Date | null
  }
  readonly credits_expiring: { readonly credits: number; readonly expiresAt: Date }
}

/** A change of plan that takes effect later, and the price of a period from then on. */
export type ChangeAhead = { readonly from: Date; readonly amount: Amount }

type PlanFacts = { readonly product: string; readonly plan: string }

/** The facts of an event that an email states. */
export type FactsOfEmail = {
  [Kind in EmailKind]: { readonly kind: Kind; readonly facts: EmailFacts[Kind] }
}[EmailKind]

/** Reader of the email, and the name of the provider as customers see it. */
export type EmailReader = Reader & { readonly providerName: string }

export function contentOf(email: FactsOfEmail, reader: EmailReader): EmailContent {
  switch (email.kind) {
    case 'receipt':
      return receiptContent(email.facts, reader)
    case 'renewal_upcoming':
      return renewalContent(email.facts, reader)
    case 'trial_ending':
      return trialContent(email.facts, reader)
    case 'payment_failed':
      return failedContent(email.facts, reader)
    case 'plan_changed':
      return changedContent(email.facts, reader)
    case 'budget_reached':
      return budgetContent(email.facts, reader)
    case 'credits_expiring':
      return expiryContent(email.facts, reader)
  }
}

function receiptContent(facts: EmailFacts['receipt'], reader: EmailReader): EmailContent {
  const { t, formats, providerName } = reader
  const amount = amountText(facts.amount, reader)
  const date = formats.date(facts.paidAt)
  const { invoice, product, plan, card } = facts
  return {
    subject: t('emails:receiptSubject', { name: providerName, amount }),
    title: t('emails:receiptTitle'),
    paragraphs: [
      t('emails:receiptText', { amount, date }),
      ...(invoice === null ? [] : [t('emails:receiptAttached')]),
    ],
    facts: knownFacts([
      [t('emails:receiptInvoice'), invoice],
      [t('emails:product'), product],
      [t('emails:plan'), plan],
      [t('emails:amount'), amount],
      [t('emails:date'), date],
      [t('emails:receiptCard'), card && cardName(card, reader)],
    ]),
  }
}

function renewalContent(facts: EmailFacts['renewal_upcoming'], reader: EmailReader): EmailContent {
  const { t, formats } = reader
  const { product, plan } = facts
  const amount = amountText(facts.amount, reader)
  const date = formats.date(facts.renewsAt)
  return {
    subject: t('emails:renewalSubject', { plan, date }),
    title: t('emails:renewalTitle'),
    paragraphs: [t('emails:renewalText', { plan, date, amount }), t('emails:renewalAction')],
    facts: planFacts({ product, plan, amount, date }, reader),
  }
}

function trialContent(facts: EmailFacts['trial_ending'], reader: EmailReader): EmailContent {
  const { t, formats } = reader
  const { product, plan } = facts
  const date = formats.date(facts.endsAt)
  const isFree = facts.amount.minor === 0n
  const amount = amountText(facts.amount, reader)
  return {
    subject: t('emails:trialSubject', { plan, date }),
    title: t('emails:trialTitle'),
    paragraphs: [
      isFree
        ? t('emails:trialTextFree', { plan, date })
        : t('emails:trialText', { plan, date, amount }),
      ...(isFree ? [] : [t('emails:trialAction')]),
    ],
    facts: planFacts({ product, plan, amount: isFree ? null : amount, date }, reader),
  }
}

function failedContent(facts: EmailFacts['payment_failed'], reader: EmailReader): EmailContent {
  const { t, formats, providerName } = reader
  const frame = {
    subject: t('emails:failedSubject', { name: providerName }),
    title: t('emails:failedTitle'),
  }
  const action = t('emails:failedAction')
  switch (facts.of) {
    case 'plan': {
      const { product, plan, retryAt } = facts
      const retry =
        retryAt === null ? [] : [t('emails:failedRetry', { date: formats.date(retryAt) })]
      const paragraphs = [t('emails:failedText', { plan }), ...retry, action]
      return { ...frame, paragraphs, facts: planFacts({ product, plan }, reader) }
    }
    case 'paused': {
      const { product, plan } = facts
      const paragraphs = [t('emails:failedPaused', { plan }), action]
      return { ...frame, paragraphs, facts: planFacts({ product, plan }, reader) }
    }
    case 'top-up':
      return { ...frame, paragraphs: [t('emails:failedTopUp'), action], facts: [] }
  }
}

function changedContent(facts: EmailFacts['plan_changed'], reader: EmailReader): EmailContent {
  const { t } = reader
  const { product, plan, before, isSamePlan, ahead } = facts
  if (ahead === 'withdrawn') {
    return {
      subject: t('emails:changeWithdrawnSubject', { product }),
      title: t('emails:changeWithdrawnTitle'),
      paragraphs: [t('emails:changeWithdrawnText', { product, plan })],
      facts: [],
    }
  }
  if (ahead !== null) return changeAheadContent(facts, ahead, reader)
  if (isSamePlan) {
    return {
      subject: t('emails:termsSubject', { plan }),
      title: t('emails:termsTitle'),
      paragraphs: [t('emails:termsText', { product, plan }), t('emails:changedAction')],
      facts: [],
    }
  }
  return {
    subject: t('emails:changedSubject', { plan }),
    title: t('emails:changedTitle'),
    paragraphs: [
      before === null
        ? t('emails:changedText', { product, plan })
        : t('emails:changedTextFrom', { product, before, plan }),
      t('emails:changedAction'),
    ],
    facts: [],
  }
}

function changeAheadContent(
  { product, plan, isSamePlan }: EmailFacts['plan_changed'],
  ahead: ChangeAhead,
  reader: EmailReader,
): EmailContent {
  const { t, formats } = reader
  const date = formats.date(ahead.from)
  const amount = amountText(ahead.amount, reader)
  const key = isSamePlan ? 'emails:termsAheadText' : 'emails:changeAheadText'
  return {
    subject: t('emails:changeAheadSubject', { product, date }),
    title: t('emails:changeAheadTitle'),
    paragraphs: [t(key, { product, plan, date }), t('emails:changeAheadAction')],
    facts: planFacts({ product, plan, amount, date }, reader),
  }
}

function budgetContent(facts: EmailFacts['budget_reached'], reader: EmailReader): EmailContent {
  const { t, formats } = reader
  const { product, stoppedUntil } = facts
  const amount = amountText(facts.spent, reader)
  const budget = amountText(facts.budget, reader)
  return {
    subject: t('emails:budgetSubject', { product }),
    title: t('emails:budgetTitle'),
    paragraphs: [
      t('emails:budgetText', { product, amount, budget }),
      stoppedUntil === null
        ? t('emails:budgetWarn')
        : t('emails:budgetStop', { date: formats.date(stoppedUntil) }),
    ],
    facts: [],
  }
}

function expiryContent(facts: EmailFacts['credits_expiring'], reader: EmailReader): EmailContent {
  const { t, formats } = reader
  const count = facts.credits
  const date = formats.date(facts.expiresAt)
  return {
    subject: t('emails:expirySubject', { count, date }),
    title: t('emails:expiryTitle'),
    paragraphs: [t('emails:expiryText', { count, date })],
    facts: [],
  }
}

type ShownPlan = PlanFacts & { readonly amount?: string | null; readonly date?: string }

function planFacts({ product, plan, amount, date }: ShownPlan, { t }: EmailReader) {
  return knownFacts([
    [t('emails:product'), product],
    [t('emails:plan'), plan],
    [t('emails:amount'), amount ?? null],
    [t('emails:date'), date ?? null],
  ])
}

function knownFacts(facts: readonly (readonly [string, string | null])[]): EmailContent['facts'] {
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
}

function amountText({ minor, currency }: Amount, { formats }: EmailReader): string {
  return formats.money(minor, currency)
}
