import type { FastifyBaseLogger } from 'fastify'
import { findCard, type Card } from '@tollgate/domain/cards/repository'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import { findPaidOnCheckout } from '@tollgate/domain/payments/intents-repository'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { isCreditBased } from '@tollgate/domain/plans/plan'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import {
  findDecidingPurchase,
  findLastOfPlan,
  type Purchase,
} from '@tollgate/domain/purchases/repository'
import { affordableUnits } from '@tollgate/domain/money/whole-credits'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Clock } from '@tollgate/platform/clock/clock'
import { read, type ReadParts } from '../../access/read.ts'
import type { NamedCard } from '../card-name.ts'
import type { Checkout } from './checkout.ts'
import { chargeOfChange, nextChargeOfPurchase, type NextCharge } from './next-charge.ts'
import { taxedCharge } from './taxed-charge.ts'
import type { Wallets } from '../../wallets/wallets.ts'

export type ResultParts = ReadParts & { readonly clock: Clock; readonly wallets: Wallets }

/** A payment that succeeded, with its invoice. */
export type Receipt = { readonly intent: PaymentIntent; readonly invoice: Invoice | undefined }

/** What the customer got from a completed checkout. */
export type CheckoutResult = {
  /** Undefined if nothing was paid. */
  readonly receipt: Receipt | undefined
  /** The saved card that the next charge uses. */
  readonly savedCard: NamedCard | undefined
  /** The next charge for what the customer got. Undefined if there is none. */
  readonly next: NextCharge | undefined
  readonly outcome: CheckoutOutcome
}

export type CheckoutOutcome =
  | {
      readonly kind: 'plan'
      readonly purchase: Purchase
      readonly plan: PlanSnapshot
      /** Whether the plan gives access now. */
      readonly isRunning: boolean
      /** Whether usage is paid from credits that do not cover a single request. Undefined if the balance cannot be read now. */
      readonly needsCredits: boolean | undefined
    }
  /** The plan replaces the one of `from` at a renewal. */
  | {
      readonly kind: 'scheduled'
      readonly from: Purchase
      readonly plan: PlanSnapshot
      readonly at: Date
    }
  | { readonly kind: 'credits'; readonly credits: bigint }
  /** The purchase no longer exists. */
  | { readonly kind: 'nothing' }

export async function readResult(
  pages: ResultParts,
  checkout: Checkout,
  log: FastifyBaseLogger,
): Promise<CheckoutResult> {
  const { caller, session } = checkout
  const { receipt, card, outcome } = await read(pages, caller, async (sql) => {
    const receipt = await readReceipt(
      sql,
      caller.providerId,
      await findPaidOnCheckout(sql, caller.providerId, session),
    )
    const card = await findCard(sql, caller.providerId, session.customerRef)
    return { receipt, card, outcome: await readOutcome(sql, checkout, receipt?.intent) }
  })
  const now = new Date(pages.clock.now())
  const savedCard = chargeable(card)
  const isRunning = outcome.kind === 'plan' && givesAccess(outcome.purchase, now)
  const next = await taxedCharge(pages, checkout, nextChargeOfOutcome(outcome, isRunning), {
    purchaseRef: purchaseRefOf(outcome),
  })
  const result = { receipt, savedCard, next }
  if (outcome.kind !== 'plan') return { ...result, outcome }
  const needsCredits =
    isRunning &&
    isCreditBased(outcome.plan) &&
    (await lacksCredits(pages, checkout, outcome.plan, log))
  return { ...result, outcome: { ...outcome, isRunning, needsCredits } }
}

function nextChargeOfOutcome(outcome: LoadedOutcome, isRunning: boolean): NextCharge | undefined {
  if (outcome.kind === 'scheduled') return chargeOfChange(outcome)
  return outcome.kind === 'plan' && isRunning ? nextChargeOfPurchase(outcome.purchase) : undefined
}

function purchaseRefOf(outcome: LoadedOutcome): string | null {
  if (outcome.kind === 'scheduled') return outcome.from.reference
  return outcome.kind === 'plan' ? outcome.purchase.reference : null
}

/** Returns the saved card if it may be charged without the customer. */
export function chargeable(card: Card | undefined): NamedCard | undefined {
  return card?.reusable === true ? card : undefined
}

export async function readReceipt(
  sql: Queryable,
  providerId: string,
  intent: PaymentIntent | undefined,
): Promise<Receipt | undefined> {
  if (intent === undefined) return undefined
  const { invoiceRef } = intent
  const invoice = invoiceRef === null ? undefined : await findInvoice(sql, providerId, invoiceRef)
  return { intent, invoice }
}

type LoadedOutcome =
  | Exclude<CheckoutOutcome, { kind: 'plan' }>
  | Pick<Extract<CheckoutOutcome, { kind: 'plan' }>, 'kind' | 'purchase' | 'plan'>

async function readOutcome(
  sql: Queryable,
  { caller, session }: Checkout,
  paid: PaymentIntent | undefined,
): Promise<LoadedOutcome> {
  const { customerRef, productRef, planRef } = session
  if (session.purpose === 'credit_topup') {
    const credits = paid?.credits ?? null
    return credits === null ? { kind: 'nothing' } : { kind: 'credits', credits }
  }
  if (productRef === null || planRef === null) return { kind: 'nothing' }
  const held = await findDecidingPurchase(sql, caller.providerId, customerRef, productRef)
  const next = held?.scheduledPlan ?? null
  if (held !== undefined && next?.reference === planRef) {
    const at = held.scheduledPlanAt ?? held.nextBillingDate
    if (at !== null) return { kind: 'scheduled', from: held, plan: next, at }
  }
  const of = { customerRef, productRef, planRef }
  const purchase = await findLastOfPlan(sql, caller.providerId, of)
  const plan = purchase?.planSnapshot ?? null
  return purchase === undefined || plan === null
    ? { kind: 'nothing' }
    : { kind: 'plan', purchase, plan }
}

/** Returns undefined while the balance cannot be read, because the checkout is complete nevertheless. */
async function lacksCredits(
  pages: { readonly wallets: Wallets },
  { caller, session }: Checkout,
  { terms }: PlanSnapshot,
  log: FastifyBaseLogger,
): Promise<boolean | undefined> {
  const { customerRef } = session
  try {
    const micros = await pages.wallets.read({ ...caller, customerRef })
    const { creditsPerUnit = 0 } = terms
    // Charges have several prices, so any credits may be enough.
    return creditsPerUnit > 0 ? affordableUnits(micros, creditsPerUnit) <= 0 : micros <= 0n
  } catch (error) {
    log.error({ err: error }, 'could not read the credits of a completed checkout')
    return undefined
  }
}
