import type { Customer } from '@tollgate/domain/customers/repository'
import { activatePlan, type ActivateOutcome } from '@tollgate/domain/billing/activate-plan'
import { activateFromBalance } from '@tollgate/domain/charging/activate-from-balance'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { reuseOrOpenCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { checkoutPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation, UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'
import {
  activateRequestSchema,
  activateResponseSchema,
  type ActivateRequest,
  type ActivateResponse,
} from '@tollgate/schemas/http/activate'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer, requireProvider } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import type { Wallets } from '../../wallets/wallets.ts'
import { formatMoney } from '@tollgate/domain/money/currencies'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'

type Parts = ChangeParts &
  HostedParts & { readonly wallets: Wallets; readonly payments: PaymentParts }

export function registerActivationRoute(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/activate',
    {
      schema: {
        tags: ['Purchases'],
        body: activateRequestSchema,
        response: { 200: activateResponseSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { customerRef, productRef, planRef } = request.body
      const customer = await requireCustomer(parts, operation, customerRef)
      const { cycleMode, name } = await requireProvider(parts, operation)
      const micros = await readShownCredits(parts, operation, customer, request.body)
      const sold = await sellWithCredit(parts, operation, { customer, productRef, planRef })
      if (sold !== undefined) return sold
      return commit(parts, operation, async (work) => {
        const outcome = await activatePlan(work, {
          ...{ customer, productRef, planRef, cycleMode },
          seller: { name },
        })
        switch (outcome.kind) {
          case 'activated':
            return {
              status: 'activated' as const,
              ...activatedFields(outcome, micros),
              ...definedFields({ message: changeMessage(outcome.change) }),
            }
          case 'scheduled':
            return {
              status: 'activated' as const,
              purchaseRef: outcome.purchase.reference,
              message: scheduleMessage(outcome.plan.name, outcome.purchase, outcome.at),
            }
          case 'already-active':
            return { status: 'already_active' as const, ...alreadyActiveFields(outcome) }
          case 'payment-required':
            return {
              status: 'payment_required' as const,
              ...(await paymentFields(parts, work, customer, outcome, [
                outcome.hasDebts ? debtsMessage : undefined,
                changeMessage(outcome.change),
              ])),
            }
          case 'card-required':
            return {
              status: 'payment_required' as const,
              ...(await paymentFields(parts, work, customer, outcome, [cardMessage])),
            }
          case 'invalid':
            return { status: 'invalid' as const, message: outcome.reason }
        }
      })
    },
  )
}

/**
 * Activates a plan that is paid first if the credit of the customer's balance pays all of it. Returns undefined otherwise. A trial
 * that the checkout offers comes first.
 */
async function sellWithCredit(
  parts: Parts,
  operation: Operation,
  of: Parameters<typeof activateFromBalance>[2],
): Promise<ActivateResponse | undefined> {
  const sale = await activateFromBalance(parts.payments, operation, of)
  if (sale.kind !== 'sold') return undefined
  const { purchaseRef, fromBalanceMinor, currency } = sale.intent
  const message =
    fromBalanceMinor === 0n
      ? 'Discounts leave nothing to pay.'
      : `${formatMoney(fromBalanceMinor, currency)} was paid from the balance of the customer.`
  return { status: 'activated', message, ...definedFields({ purchaseRef }) }
}

const debtsMessage =
  'The customer has unpaid invoices for the product. They are paid at `checkoutUrl` first.'
const cardMessage =
  'The plan starts with a saved card. The customer saves one at `checkoutUrl`, and the plan starts.'
const tooManyOpenMessage =
  'The customer has too many open checkouts for another one. Activate again when one of them has expired.'

type Outcome<Kind> = Extract<ActivateOutcome, { kind: Kind }>

/**
 * Returns the customer's credits in 10^-6 credits, if the response may show them. Reads them before the transaction, because the
 * transaction must not wait for other stores.
 */
async function readShownCredits(
  parts: ReadParts & { readonly wallets: Wallets },
  operation: Operation,
  { reference: customerRef }: Customer,
  { productRef, planRef }: ActivateRequest,
): Promise<bigint> {
  const plan = await read(parts, operation, (sql) =>
    findPlan(sql, operation.providerId, productRef, planRef),
  )
  return plan?.type === 'usage-based' ? parts.wallets.read({ ...operation, customerRef }) : 0n
}

function alreadyActiveFields({
  purchase: { reference: purchaseRef },
  withdrawn,
}: Outcome<'already-active'>): Partial<ActivateResponse> {
  if (withdrawn === null) return { purchaseRef }
  return { purchaseRef, message: `The change to ${withdrawn.name} is withdrawn.` }
}

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}

/** Adds the balance and the units that it pays for, if the plan is usage-based. */
function activatedFields(
  { purchase, plan }: Outcome<'activated'>,
  micros: bigint,
): Partial<ActivateResponse> {
  const { reference: purchaseRef } = purchase
  if (plan.type !== 'usage-based') return { purchaseRef }
  const creditsPerUnit = plan.terms.creditsPerUnit ?? 0
  const creditBalance = wholeCredits(micros)
  return { purchaseRef, creditBalance, creditsPerUnit, currency: plan.currency }
}

/**
 * Adds a checkout in the same transaction, so that every checkout in a response exists. A customer with the maximum number of open
 * checkouts gets one of those, or none.
 */
async function paymentFields(
  parts: HostedParts,
  work: UnitOfWork,
  customer: Customer,
  { product, plan }: Outcome<'payment-required' | 'card-required'>,
  reasons: readonly (string | undefined)[],
): Promise<Partial<ActivateResponse>> {
  const checkout = await reuseOrOpenCheckoutSession(work, parts, {
    customerRef: customer.reference,
    purpose: 'product',
    productRef: product.reference,
    plan,
    returnUrl: null,
    mayChangePlan: true,
  })
  const messages = [...reasons, checkout === undefined ? tooManyOpenMessage : undefined].filter(
    (message) => message !== undefined,
  )
  return {
    ...(messages.length === 0 ? {} : { message: messages.join(' ') }),
    ...(checkout === undefined
      ? {}
      : {
          checkoutUrl: checkoutPageUrl(parts.hostedUrl, checkout.sessionId),
          checkoutSessionId: checkout.sessionId,
        }),
  }
}

/** Returns what a change of plan charges or credits today, without tax. Returns undefined if there is no change within a period. */
function changeMessage(change: PlanSwitch | undefined): string | undefined {
  if (change === undefined) return undefined
  const { lines, currency } = change
  const totalMinor = totalOf(lines)
  if (totalMinor === 0n) return 'Nothing is charged today.'
  if (totalMinor < 0n) {
    return `Nothing is charged today. ${formatMoney(-totalMinor, currency)} is credited to the next invoice.`
  }
  return `${formatMoney(totalMinor, currency)} is charged for the rest of the period.`
}

/** Returns when a plan starts that was chosen for a renewal, and whether the purchase is charged before that. */
function scheduleMessage(
  planName: string,
  { nextBillingDate, planSnapshot }: Purchase,
  at: Date,
): string {
  if (nextBillingDate === null || nextBillingDate >= at) {
    return `Nothing is charged today. ${planName} starts on ${dayOf(at)}, with the next renewal.`
  }
  const held = planSnapshot?.name ?? 'The plan before'
  return `Nothing is charged today. The notice for the running period has passed: ${held} still renews on ${dayOf(nextBillingDate)}, and ${planName} starts on ${dayOf(at)}.`
}
