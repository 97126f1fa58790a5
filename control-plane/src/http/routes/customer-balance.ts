import { z } from 'zod'
import { payOutBalance } from '@tollgate/domain/invoice-decisions/pay-out-balance'
import { findCustomerReference } from '@tollgate/domain/customers/repository'
import {
  listPayouts,
  type BalancePayout,
} from '@tollgate/domain/invoice-decisions/payouts-repository'
import { listBalanceEntries } from '@tollgate/domain/invoices/balance-entries'
import { listBalances } from '@tollgate/domain/invoices/carried-amounts'
import { formatMoney } from '@tollgate/domain/money/currencies'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import {
  listRefundsOfPayout,
  listRefundsOfPayouts,
  type PayoutRefund,
} from '@tollgate/domain/payments/requested-refunds-repository'
import { sendRefund } from '@tollgate/domain/settlement/send-refund'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import {
  balancePayoutSchema,
  balancePayoutsSchema,
  customerBalanceSchema,
  payOutBalanceSchema,
  type BalancePayoutBody,
  type CustomerBalanceBody,
} from '@tollgate/schemas/http/customer-balances'
import { clampPage, pageQuery, requiredReference } from '@tollgate/schemas/http/fields'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = ChangeParts & { readonly payments: PaymentParts }

const tags = ['Invoices']
const params = z.object({ reference: requiredReference })

/** Registers the routes that show a customer's balance, which pays the customer's next invoices, and that pay it out. */
export function registerCustomerBalanceRoutes(app: ApiServer, parts: Parts): void {
  const path = '/v1/ui/customers/:reference/invoice-balance'

  app.get(
    path,
    {
      schema: {
        tags,
        params,
        querystring: z.object(pageQuery),
        response: { 200: customerBalanceSchema },
      },
    },
    async (request): Promise<CustomerBalanceBody> => {
      const caller = callerOf(request)
      const reference = await requireReference(parts, caller, request.params.reference)
      const page = clampPage(request.query)
      const { balances, entries, total } = await read(parts, caller, async (sql) => ({
        balances: await listBalances(sql, caller.providerId, reference),
        ...(await listBalanceEntries(sql, caller.providerId, reference, page)),
      }))
      return {
        balances: balances.map(({ currency, amountMinor, heldMinor }) => ({
          currency,
          amount: Number(amountMinor),
          formattedAmount: formatMoney(amountMinor, currency),
          held: Number(heldMinor),
        })),
        entries: entries.map(({ amountMinor, createdAt, invoiceRef, ...entry }) => ({
          ...entry,
          amount: Number(amountMinor),
          createdAt: createdAt.toISOString(),
          ...definedFields({ invoiceRef }),
        })),
        total,
        ...page,
      }
    },
  )

  registerPayoutList(app, parts, `${path}/payouts`)

  app.post(
    `${path}/payouts`,
    {
      schema: { tags, params, body: payOutBalanceSchema, response: { 201: balancePayoutSchema } },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { currency, amount, to: goesTo, reason } = request.body
      const customerRef = await requireReference(parts, operation, request.params.reference)
      const amountMinor = amount === undefined ? undefined : BigInt(amount)
      const wanted = { customerRef, currency: currency.toUpperCase(), goesTo, reason, amountMinor }
      const outcome = await commit(parts, operation, (work) => payOutBalance(work, wanted))
      switch (outcome.kind) {
        case 'paid-out':
          return reply.status(201).send(await sendPayout(parts, operation, outcome.payout))
        case 'not-found':
          throw refusals.customerNotFound(request.params.reference)
        case 'key-reused':
          throw refusals.idempotencyKeyReused()
        case 'amount':
          throw refusals.balanceAmountTooLarge(outcome.leftMinor)
      }
    },
  )
}

/** Registers the list of payouts, which shows the refunds that failed after the payout. */
function registerPayoutList(app: ApiServer, parts: ReadParts, path: string): void {
  app.get(
    path,
    {
      schema: {
        tags,
        params,
        querystring: z.object(pageQuery),
        response: { 200: balancePayoutsSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const customerRef = await requireReference(parts, caller, request.params.reference)
      const page = clampPage(request.query)
      const { payouts, total, refunds } = await read(parts, caller, async (sql) => {
        const listed = await listPayouts(sql, providerId, customerRef, page)
        const references = listed.payouts.map(({ reference }) => reference)
        return { ...listed, refunds: await listRefundsOfPayouts(sql, providerId, references) }
      })
      return {
        payouts: payouts.map((payout) => payoutToHttp(payout, refunds.get(payout.reference) ?? [])),
        total,
        ...page,
      }
    },
  )
}

/** Returns the customer's own reference. It also finds a deleted customer, because the balance outlives the customer. */
async function requireReference(
  parts: ReadParts,
  caller: Caller,
  anyReference: string,
): Promise<string> {
  const found = await read(parts, caller, (sql) =>
    findCustomerReference(sql, caller.providerId, anyReference),
  )
  if (found === undefined) throw refusals.customerNotFound(anyReference)
  return found
}

/** Sends the refunds of a payout. Those with an unknown outcome are pending, and a job continues them. */
async function sendPayout(
  parts: Parts,
  operation: Operation,
  payout: BalancePayout,
): Promise<BalancePayoutBody> {
  const readRefunds = () =>
    read(parts, operation, (sql) =>
      listRefundsOfPayout(sql, operation.providerId, payout.reference),
    )
  for (const { reference } of await readRefunds()) {
    await sendRefund(parts.payments, operation, reference)
  }
  return payoutToHttp(payout, await readRefunds())
}

function payoutToHttp(
  { amountMinor, goesTo: to, createdAt, ...payout }: BalancePayout,
  refunds: readonly PayoutRefund[],
): BalancePayoutBody {
  return {
    ...payout,
    to,
    amount: Number(amountMinor),
    refunds: refunds.map(({ reference, outcome, processorRefundId, ...refund }) => ({
      reference,
      amount: Number(refund.amountMinor),
      status: outcome,
      ...definedFields({ processorRefund: processorRefundId }),
    })),
    createdAt: createdAt.toISOString(),
  }
}
