import type { EmailSettings } from '@tollgate/domain/emails/settings-repository'
import type { Environment } from '@tollgate/schemas/environment'
import type { EmailKind } from '@tollgate/schemas/http/emails'
import type { Sender } from './compose-email.ts'
import { composeEmail } from './compose-email.ts'
import type { Amount, FactsOfEmail } from './email-content.ts'

/** Placeholder in the links of a preview, which lead nowhere. */
const previewToken = '00000000-0000-4000-8000-000000000000'

const accountMs = 30 * 86_400_000

type PreviewInput = {
  readonly kind: EmailKind
  readonly locale: string | null
  readonly sender: Sender
  readonly settings: EmailSettings
  readonly environment: Environment
  readonly hostedUrl: string
}

/** Returns an email about a customer, a product and a plan that do not exist, as the provider's customers would get it. */
export function previewEmail({
  kind,
  locale,
  sender,
  settings,
  environment,
  hostedUrl,
}: PreviewInput) {
  const nowhere = `${hostedUrl}/#${previewToken}`
  return composeEmail({
    facts: sampleFacts[kind],
    sender,
    settings,
    customer: { name: 'Ada Lovelace', locale },
    isSandbox: environment === 'sandbox',
    accountUrl: nowhere,
    accountMs,
    unsubscribeUrl: nowhere,
  })
}

const product = 'Search API'
const plan = 'Pro'
const amount: Amount = { minor: 4_900n, currency: 'USD' }
const date = new Date('2026-03-31T09:30:00Z')

const sampleFacts: { readonly [Kind in EmailKind]: FactsOfEmail & { readonly kind: Kind } } = {
  receipt: {
    kind: 'receipt',
    facts: {
      ...{ amount, paidAt: date, invoice: 'INV-000042', product, plan },
      card: { brand: 'visa', last4: '4242' },
    },
  },
  renewal_upcoming: { kind: 'renewal_upcoming', facts: { product, plan, amount, renewsAt: date } },
  trial_ending: { kind: 'trial_ending', facts: { product, plan, amount, endsAt: date } },
  payment_failed: { kind: 'payment_failed', facts: { of: 'plan', product, plan, retryAt: date } },
  plan_changed: {
    kind: 'plan_changed',
    facts: { product, plan, before: 'Starter', isSamePlan: false, ahead: null },
  },
  budget_reached: {
    kind: 'budget_reached',
    facts: { product, spent: { ...amount, minor: 5_012n }, budget: amount, stoppedUntil: date },
  },
  credits_expiring: { kind: 'credits_expiring', facts: { credits: 2_500, expiresAt: date } },
}
