import { listBudgets } from '@tollgate/domain/budgets/repository'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { listProductNames } from '@tollgate/domain/catalog/products-repository'
import { documentNumberText } from '@tollgate/domain/invoices/invoice'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import type { OutboxEvent } from '@tollgate/domain/outbox/outbox-event'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import { eventDefinitions } from '@tollgate/schemas/event-types'
import { shownNameOf } from '../customer-auth/client-metadata.ts'
import type { Amount, EmailFacts, FactsOfEmail } from './email-content.ts'

type Source = {
  readonly sql: Queryable
  readonly providerId: string
  readonly environment: Environment
}

/** The facts of an email, and the invoice that is attached to it. */
export type ReadFacts = { readonly email: FactsOfEmail; readonly invoiceRef: string | null }

/** Reads what an email about the event states. Throws if the event has no email. */
export async function readFacts(source: Source, event: OutboxEvent): Promise<ReadFacts> {
  const { object } = event
  switch (event.type) {
    case 'payment.succeeded':
      return readReceipt(source, eventDefinitions[event.type].object.parse(object))
    case 'purchase.renewal_reminder': {
      const reminder = eventDefinitions[event.type].object.parse(object)
      const renewsAt = instantOf(reminder.nextBillingAt)
      const facts = { ...(await readNames(source, reminder)), amount: amountOf(reminder), renewsAt }
      return withoutInvoice({ kind: 'renewal_upcoming', facts })
    }
    case 'purchase.trial_ending': {
      const trial = eventDefinitions[event.type].object.parse(object)
      const endsAt = instantOf(trial.trialEndsAt)
      const facts = { ...(await readNames(source, trial)), amount: amountOf(trial), endsAt }
      return withoutInvoice({ kind: 'trial_ending', facts })
    }
    case 'purchase.past_due': {
      const pastDue = eventDefinitions[event.type].object.parse(object)
      const retryAt = pastDue.nextRetryAt === null ? null : instantOf(pastDue.nextRetryAt)
      const facts = { of: 'plan', ...(await readNames(source, pastDue)), retryAt } as const
      return withoutInvoice({ kind: 'payment_failed', facts })
    }
    case 'purchase.suspended': {
      const suspended = eventDefinitions[event.type].object.parse(object)
      const facts = { of: 'paused', ...(await readNames(source, suspended)) } as const
      return withoutInvoice({ kind: 'payment_failed', facts })
    }
    case 'customer.credit.auto_topup_failed':
      return withoutInvoice({ kind: 'payment_failed', facts: { of: 'top-up' } })
    case 'purchase.plan_changed': {
      const changed = eventDefinitions[event.type].object.parse(event.object)
      return readChange(source, event, changed, null)
    }
    case 'purchase.plan_change_scheduled': {
      const scheduled = eventDefinitions[event.type].object.parse(event.object)
      const ahead = { from: instantOf(scheduled.effectiveAt), amount: amountOf(scheduled) }
      return readChange(source, event, scheduled, ahead)
    }
    case 'purchase.plan_change_withdrawn': {
      const kept = eventDefinitions[event.type].object.parse(event.object)
      return readChange(source, event, kept, 'withdrawn')
    }
    case 'usage.limit_reached':
      return readBudget(source, eventDefinitions[event.type].object.parse(object))
    case 'customer.credit.expiring': {
      const { credits, expiresAt } = eventDefinitions[event.type].object.parse(object)
      const facts = { credits, expiresAt: instantOf(expiresAt) }
      return withoutInvoice({ kind: 'credits_expiring', facts })
    }
    default:
      throw new Error(`there is no email about ${event.type}`)
  }
}

async function readReceipt(
  { sql, providerId, environment }: Source,
  payment: Named & Priced & { readonly id: string; readonly created: number },
): Promise<ReadFacts> {
  const intent = await findIntent(sql, providerId, payment.id)
  const invoiceRef = intent?.invoiceRef ?? null
  const invoice = invoiceRef === null ? undefined : await findInvoice(sql, providerId, invoiceRef)
  const number = invoice?.number ?? null
  const facts = {
    amount: amountOf(payment),
    paidAt: intent?.succeededAt ?? instantOf(payment.created),
    invoice: number === null ? invoiceRef : documentNumberText('invoice', number, environment),
    ...(await readKnownNames({ sql, providerId }, payment)),
    card: intent?.paidWith ?? null,
  }
  return { email: { kind: 'receipt', facts }, invoiceRef }
}

async function readChange(
  source: Source,
  { previousAttributes }: OutboxEvent,
  changed: Named,
  ahead: EmailFacts['plan_changed']['ahead'],
): Promise<ReadFacts> {
  const definition = eventDefinitions['purchase.plan_changed']
  const { plan: formerRef } = definition.previous.parse(previousAttributes)
  const former = await readKnownNames(source, { product: changed.product, plan: formerRef })
  const isSamePlan = formerRef === changed.plan
  const names = { ...(await readNames(source, changed)), before: former.plan }
  return withoutInvoice({ kind: 'plan_changed', facts: { ...names, isSamePlan, ahead } })
}

async function readBudget(
  source: Source,
  reached: {
    readonly customer: string
    readonly product: string | null
    readonly value: number
    readonly whole: number | null
    readonly currency: string | null
    readonly periodEnd: number | null
  },
): Promise<ReadFacts> {
  const { sql, providerId } = source
  const budgets = await listBudgets(sql, providerId, reached.customer)
  const isStopping = budgets.get(reached.product ?? '')?.action === 'stop'
  const { value, whole, periodEnd } = reached
  const currency = (reached.currency ?? '').toUpperCase()
  const facts = {
    product: (await readNames(source, { product: reached.product, plan: null })).product,
    spent: { minor: BigInt(Math.trunc(value)), currency },
    budget: { minor: BigInt(Math.trunc(whole ?? value)), currency },
    stoppedUntil: isStopping && periodEnd !== null ? instantOf(periodEnd) : null,
  }
  return withoutInvoice({ kind: 'budget_reached', facts })
}

type Named = { readonly product: string | null; readonly plan: string | null }

/** Returns the names of a product and a plan, or null for those that do not exist. */
async function readKnownNames(
  { sql, providerId }: Pick<Source, 'sql' | 'providerId'>,
  { product, plan }: Named,
): Promise<Named> {
  if (product === null || product === '') return { product: null, plan: null }
  const names = await listProductNames(sql, providerId, [product])
  const found = plan === null ? undefined : await findPlan(sql, providerId, product, plan)
  return { product: shownName(names.get(product)), plan: shownName(found?.name) }
}

/** Like `readKnownNames`, with the reference in place of a missing name. */
async function readNames(source: Source, named: Named): Promise<{ product: string; plan: string }> {
  const { product, plan } = await readKnownNames(source, named)
  const shownProduct = product ?? named.product ?? ''
  return { product: shownProduct, plan: plan ?? named.plan ?? shownProduct }
}

function shownName(name: string | undefined): string | null {
  return shownNameOf(name) ?? null
}

type Priced = { readonly amount: number; readonly currency: string }

function amountOf({ amount, currency }: Priced): Amount {
  return { minor: BigInt(amount), currency: currency.toUpperCase() }
}

function instantOf(unixSeconds: number): Date {
  return new Date(unixSeconds * 1_000)
}

function withoutInvoice(email: FactsOfEmail): ReadFacts {
  return { email, invoiceRef: null }
}
