import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { addBillingCommands } from '@tollgate/billing-runner/cli/program'
import { createCommandLine } from '@tollgate/platform/cli/command-line'
import { reconcileNow } from '@tollgate/billing-runner/cli/reconcile-command'
import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { createLogger } from '@tollgate/platform/observability/logger'
import { startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import type { Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { ReconciliationBody } from '@tollgate/schemas/http/reconciliations'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { afterAll, expect, test } from 'vitest'
import { issueSample } from '../../../control-plane/test/printed-invoice.ts'
import { PaymentStack } from './payment-stack.ts'

/*
 * Reconciliation with other systems by the operator's command. One difference of each kind is created and must be found. Payments
 * in progress are not reported.
 */

const usage = await startTestUsageStore()
await migrateUsageTables(usage.connection)
// There are no webhooks and no reads of the event list, so everything is learned by reading single payments.
const payments = await PaymentStack.start({
  settings: { TOLLGATE_PROCESSOR_POLL_SECONDS: '86400' },
})
payments.stack.clock.set(new Date().toISOString())
const planRef = await payments.createPlan({ price: 1900 })
afterAll(async () => {
  await payments.stop()
  await usage.stop()
})

const sql = () => payments.sql

async function pass(minutes: number): Promise<void> {
  await payments.simulate('clock', { advanceSeconds: minutes * 60 })
  const nowMs = payments.stack.clock.now()
  payments.stack.clock.set(new Date(nowMs + minutes * 60_000).toISOString())
}

type Printed = { readonly lines: string[]; readonly failure: string | undefined }

async function reconcile(...parameters: string[]): Promise<Printed> {
  const config = readBillingRunnerConfig(payments.serviceSettings)
  const { clock, database, hotState, eventLog } = payments.stack
  const logger = createLogger('billing-runner', 'silent')
  const lines: string[] = []
  const { program, output } = createCommandLine('tollgate', (line) => lines.push(line))
  const surroundings = {
    output,
    stopping: new AbortController().signal,
    parts: { clock, database, hotState, eventLog, usageStore: usage.store, logger },
  }
  addBillingCommands(program, {
    run: () => Promise.reject(new Error('not asked for')),
    reconcile: (request) => reconcileNow(config, request, surroundings),
    restoreUsage: () => Promise.reject(new Error('not asked for')),
  })
  const words = ['node', 'tollgate', 'reconcile', '--environment', 'sandbox', ...parameters]
  const failure = await program.parseAsync(words).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return { lines, failure }
}

async function paid(card = 'pm_card_bypassPending'): Promise<string> {
  const customerRef = await payments.createCustomer()
  const request = { customerRef, productRef: payments.productRef, planRef }
  const { body } = await payments.createIntent(`reconcile-${customerRef}`, request)
  await payments.confirm(body.processorPaymentId, card)
  const processed = await payments.process<ProcessedPaymentBody>(
    body.processorPaymentId,
    customerRef,
  )
  expect(processed.body.status).toBe('succeeded')
  return body.processorPaymentId
}

async function refunded(paymentId: string, amount: string): Promise<string> {
  const request = { payment_intent: paymentId, amount }
  return (await payments.stripe('POST', 'refunds', request)).body.id
}

test('finds nothing in a busy installation', async () => {
  await Promise.all(Array.from({ length: 5 }, () => paid()))
  const begun = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const customerRef = await payments.createCustomer()
      const request = { customerRef, productRef: payments.productRef, planRef }
      return (await payments.createIntent(`open-${customerRef}`, request)).body.processorPaymentId
    }),
  )
  await pass(60)
  // The payment is paid and refunded during the comparison, without a webhook.
  const [first] = begun
  await payments.confirm(first!)
  await refunded(first!, '100')
  const { lines, failure } = await reconcile()
  expect(lines).toEqual([
    expect.stringMatching(/compared 8 payment, .*5 posting.*; 0 found, 0 of them repaired$/),
  ])
  expect(failure).toBeUndefined()
})

/** Changes rows as the owner of the database, because other roles are not allowed to. */
async function tamper(act: (sql: Queryable) => Promise<unknown>): Promise<void> {
  const owner = createPostgresDatabase({
    url: payments.stack.databaseUrl,
    isOwner: true,
    poolMax: 1,
  })
  try {
    await owner.in('sandbox').begin(async (sql) => {
      await sql`set local session_replication_role = replica`
      await act(sql)
    })
  } finally {
    await owner.close()
  }
}

async function referencesOf(processorIds: readonly string[]): Promise<string[]> {
  return Promise.all(
    processorIds.map(async (id) => {
      const [row] = await sql()<{ reference: string }[]>`
        select reference from payment_intents where processor_payment_id = ${id}`
      return row!.reference
    }),
  )
}

/** Creates a payment that the customer has paid, and that the service will not read soon. */
async function paidUnnoticed(): Promise<string> {
  const customerRef = await payments.createCustomer()
  const request = { customerRef, productRef: payments.productRef, planRef }
  const { body } = await payments.createIntent(`unnoticed-${customerRef}`, request)
  await sql()`
    update payment_intents set next_look_at = null
    where processor_payment_id = ${body.processorPaymentId}`
  await payments.confirm(body.processorPaymentId)
  return body.processorPaymentId
}

test('corrects a missed webhook by reading the processor, and reports it once', async () => {
  await pass(60)
  await reconcile()
  const [refundedOnce, disputed] = [await paid(), await paid()]
  const refund = await refunded(refundedOnce, '300')
  const charges = await payments.stripe('GET', 'charges', { payment_intent: disputed })
  const happened = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  const payout = await payments.stripe('POST', 'payouts', { amount: '1000', currency: 'usd' })
  const [payment] = await referencesOf([await paidUnnoticed()])
  await pass(60)
  const { lines, failure } = await reconcile()
  expect(failure).toBeUndefined()
  const expected = [
    `dispute ${String(happened['id'])} repaired: here nothing, there needs_response 1900 USD`,
    `payment ${payment} repaired: here requires_payment_method 1900 USD, there succeeded 1900 USD`,
    `payout ${payout.body.id} repaired: here nothing, there pending 1000 USD`,
    `refund ${refund} repaired: here nothing, there succeeded 300 USD`,
  ]
  for (const line of expected) expect(lines).toContainEqual(expect.stringContaining(line))
  expect(lines).toHaveLength(1 + expected.length)
  expect(await payments.eventsOf(refund)).toEqual(['payment.refunded'])
  expect((await reconcile()).lines).toEqual([expect.stringMatching(/ 0 found/)])
})

const wordsOf = (finding: ReconciliationBody['findings'][number]): string => {
  const { kind, difference, reference, ours, theirs } = finding
  return `${kind} ${difference} ${reference}: ${ours ?? '-'} | ${theirs ?? '-'}`
}

async function newestFindings(): Promise<ReconciliationBody['findings']> {
  const path = '/v1/ui/reconciliations'
  const { body: list } = await payments.call<{ reconciliations: ReconciliationBody[] }>('GET', path)
  const reference = list.reconciliations[0]!.reference
  return (await payments.call<ReconciliationBody>('GET', `${path}/${reference}`)).body.findings
}

test('finds credit that is held by no payment, and a payment whose credit is not held', async () => {
  const [holder, other] = [await payments.createCustomer(), await payments.createCustomer()]
  for (const customerRef of [holder, other]) {
    await sql()`
      insert into carried_amounts (provider_id, customer_ref, currency, amount, updated_at)
      values (${payments.tenant.providerId}, ${customerRef}, 'USD', -500, now())`
  }
  const request = { customerRef: holder, productRef: payments.productRef, planRef }
  const { body } = await payments.createIntent(`holding-${holder}`, request)
  expect(body).toMatchObject({ fromBalance: 500 })
  const held = async (): Promise<string[]> => {
    await pass(1)
    await reconcile()
    const findings = (await newestFindings()).filter(({ reference }) =>
      [holder, other].includes(reference),
    )
    return findings.map(wordsOf).toSorted()
  }
  expect(await held()).toEqual([])
  await sql()`update carried_amounts set held = 400 where customer_ref = ${holder}`
  await sql()`update carried_amounts set held = 300 where customer_ref = ${other}`
  expect(await held()).toEqual(
    [
      `posting differs ${holder}: held 500 USD | held 400 USD`,
      `posting missing_here ${other}: - | held 300 USD`,
    ].toSorted(),
  )
  await sql()`update carried_amounts set held = 500 where customer_ref = ${holder}`
  await sql()`update carried_amounts set held = 0 where customer_ref = ${other}`
  expect(await held()).toEqual([])
})

test('finds one difference of each kind, stores it for the console, and finds nothing else', async () => {
  const ids = await Promise.all([paid(), paid(), paid()])
  const [otherAmount, gone, given] = ids
  const refund = await refunded(given, '300')
  const charges = await payments.stripe('GET', 'charges', { payment_intent: given })
  const happened = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  const dispute = String(happened['id'])
  const payout = await payments.stripe('POST', 'payouts', { amount: '1000', currency: 'usd' })
  const { tenant, stack } = payments
  const customerRef = await payments.createCustomer()
  const invoice = await issueSample(stack, tenant.sandboxKey, customerRef)
  await payments.call('POST', `/v1/ui/customers/${customerRef}/credits/adjustments`, {
    amount: 50,
    reason: 'a present',
  })
  await pass(60)
  expect((await reconcile()).failure).toBeUndefined()
  const healthy = await reconcile()
  expect(healthy.lines).toEqual([expect.stringMatching(/\d+ invoice.* wallet.* 0 found/)])

  await pass(1)
  await tamper(async (rows) => {
    await rows`
      update payment_intents set original_amount = 1901 where processor_payment_id = ${otherAmount}`
    await rows`
      update payment_intents set processor_payment_id = 'pi_gone' where processor_payment_id = ${gone}`
    await rows`
      update payment_refunds set amount = 301 where processor_refund_id = ${refund}`
    await rows`
      insert into payment_refunds (provider_id, processor_refund_id, intent_ref, amount, currency,
        status, created_at, updated_at)
      select provider_id, 're_gone', intent_ref, amount, currency, status, created_at, updated_at
      from payment_refunds where processor_refund_id = ${refund}`
    await rows`update payment_disputes set status = 'won' where processor_dispute_id = ${dispute}`
    await rows`update payouts set amount = 1001, status = 'paid' where processor_payout_id = ${payout.body.id}`
    await rows`
      update wallets set balance_micros = balance_micros + 1 where customer_ref = ${customerRef}`
    await rows`
      update invoice_lines set amount = amount + 1, exact_numerator = exact_numerator + exact_denominator
      where invoice_ref = ${invoice} and line = 0`
  })
  const { failure } = await reconcile('--json')
  expect(failure).toBe('13 findings differ. See docs/operations.md, Reconciliation.')
  const path = '/v1/ui/reconciliations'
  const { body: list } = await payments.call<{ reconciliations: ReconciliationBody[] }>('GET', path)
  const [newest] = list.reconciliations
  expect(newest).toMatchObject({ found: 13, repaired: 0, gaps: [] })
  const { body } = await payments.call<ReconciliationBody>('GET', `${path}/${newest!.reference}`)
  const found = body.findings.map(wordsOf)
  const ours = await referencesOf([otherAmount, 'pi_gone'])
  expect(found).toHaveLength(13)
  const expected = [
    `dispute differs ${dispute}: won 1600 USD | needs_response 1600 USD`,
    expect.stringMatching(`invoice differs ${invoice}: \\d+ USD \\| line 1 4900 USD`),
    `payment differs ${ours[0]}: succeeded 1901 USD | succeeded 1900 USD`,
    `payment missing_here ${gone}: - | succeeded 1900 USD`,
    `payment missing_there ${ours[1]}: succeeded 1900 USD | -`,
    `payout differs ${payout.body.id}: paid 1001 USD | pending 1000 USD`,
    `posting differs ${payout.body.id}: bank 1001 USD | bank 0 USD`,
    `posting differs ${ours[0]}: clearing 1901 USD | clearing 1900 USD`,
    `posting differs re_gone: clearing -301 USD | clearing 0 USD`,
    `posting differs ${refund}: clearing -301 USD | clearing -300 USD`,
    `refund differs ${refund}: succeeded 301 USD | succeeded 300 USD`,
    `refund missing_there re_gone: succeeded 301 USD | -`,
    expect.stringMatching(`wallet differs ${customerRef}: balance 50.000001 \\| ledger 50,`),
  ]
  expect(found).toEqual(expect.arrayContaining(expected))
  const other = await stack.createTenant()
  const { status } = await stack.call(other.sandboxKey, 'GET', `${path}/${newest!.reference}`)
  expect(status).toBe(404)
})

test('finds differences between the ledger, the processor and the wallet', async () => {
  const [given, taken] = [await paid(), await paid()]
  const refund = await refunded(given, '300')
  const charges = await payments.stripe('GET', 'charges', { payment_intent: taken })
  const happened = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  const dispute = String(happened['id'])
  const customerRef = await payments.createCustomer()
  const request = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent('reconcile-top-up', request)
  await payments.confirm(body.processorPaymentId, 'pm_card_bypassPending')
  await payments.process<ProcessedPaymentBody>(body.processorPaymentId, customerRef)
  const [topUp] = await referencesOf([body.processorPaymentId])
  await pass(60)
  await reconcile()
  const subjects = [refund, dispute, topUp, 'txn_of_nothing']
  const found = async (): Promise<string[]> =>
    (await newestFindings())
      .filter(({ reference }) => subjects.includes(reference))
      .filter(({ repaired }) => !repaired)
      .map(wordsOf)
      .toSorted()
  await pass(1)
  await reconcile()
  expect(await found()).toEqual([])

  await pass(1)
  await tamper(async (rows) => {
    const entryOf = (key: string, account: string, unit: string) => rows`
      update ledger_entries set amount = amount + 1 where account = ${account} and unit = ${unit}
        and transaction_ref in (
          select reference from ledger_transactions where transaction_key like ${key})`
    await entryOf(`refund:${refund}:succeeded`, 'clearing', 'USD')
    await entryOf(`dispute:${dispute}:withdrawn:%`, 'clearing', 'USD')
    await entryOf(`top-up:${topUp}`, 'wallet', 'credits')
    await rows`
      insert into ledger_transactions (provider_id, reference, kind, transaction_key, input_sha256,
        customer_ref, reason, result, created_at)
      select provider_id, 'txn_of_nothing', kind, 'top-up:pay_nobody', input_sha256, customer_ref,
        reason, result, created_at
      from ledger_transactions where transaction_key = ${`top-up:${topUp}`}`
    await rows`
      insert into ledger_entries (provider_id, transaction_ref, line, account, customer_ref, unit, amount)
      select provider_id, 'txn_of_nothing', 0, 'wallet', customer_ref, 'credits', 5000000
      from ledger_transactions where reference = 'txn_of_nothing'`
  })
  await reconcile()
  expect(await found()).toEqual([
    expect.stringMatching(`posting differs ${dispute}: clearing -\\d+ USD \\| clearing -\\d+ USD`),
    `posting differs ${refund}: clearing -300 USD | clearing -299 USD`,
    expect.stringMatching(`top_up differs ${topUp}: \\d+ credits \\| \\d+\\.000001 credits`),
    'top_up missing_here txn_of_nothing: - | 5 credits',
  ])
})

test('compares everything else while the processor is unavailable', async () => {
  await payments.simulator.simulator.stop()
  const { lines, failure } = await reconcile()
  expect(failure).toContain('Not everything could be compared')
  expect(lines).toContainEqual(
    expect.stringContaining('refund not compared: the payment processor did not answer'),
  )
  expect(lines).toContainEqual(expect.stringMatching(/wallet \w+ differs/))
})
