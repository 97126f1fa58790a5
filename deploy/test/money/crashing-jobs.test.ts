import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { openParts, paymentPartsOf, type Parts } from '@tollgate/billing-runner/open-parts'
import { listLedgerSeals } from '@tollgate/domain/money-ledger/ledger-seals'
import { postMoney } from '@tollgate/domain/money-ledger/post-money'
import { paymentSucceeded } from '@tollgate/domain/money-ledger/postings'
import { sealLedger } from '@tollgate/domain/money-ledger/seal-ledger'
import { listUnbalancedTransactions } from '@tollgate/domain/money-ledger/unbalanced'
import { findBrokenSeal } from '@tollgate/domain/money-ledger/verify-seals'
import { pollEvents } from '@tollgate/domain/settlement/poll-events'
import { processInbox } from '@tollgate/domain/settlement/process-inbox'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PaymentStack } from '../payments/payment-stack.ts'
import { environment } from './environment.ts'
import { databaseOf, ProcessCrashedError, hotStateOf, CrashingProcess } from './crashing-process.ts'
import { operationIn } from './operation-in.ts'
import { addCustomer, openShop } from './shop.ts'
import { openStores, type Stores } from './stores.ts'

/* The process of a job dies once at each of its effects. Another process then does the job again. */

/** Returns the steps of the process that survived all of them. */
async function crashAtEachStep(
  round: (process: CrashingProcess) => Promise<void>,
): Promise<readonly string[]> {
  for (let atStep = 1; ; atStep += 1) {
    const process = new CrashingProcess({ atStep, sendsPendingCall: false })
    await round(process)
    if (!process.hasCrashed) return process.steps
  }
}

async function ignoreCrash(process: CrashingProcess, job: () => Promise<unknown>): Promise<void> {
  try {
    await job()
  } catch (error) {
    if (!process.hasCrashed && !(error instanceof ProcessCrashedError)) throw error
  }
}

describe('changes at the processor without a webhook', () => {
  let payments: PaymentStack
  const day = '86400'

  beforeAll(async () => {
    // The control plane processes no payments by itself, except in its first round.
    const settings = {
      TOLLGATE_PROCESSOR_POLL_SECONDS: day,
      TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000',
    }
    payments = await PaymentStack.start({ settings })
    payments.stack.clock.set(new Date().toISOString())
  })
  afterAll(() => payments.stop())

  const config = () =>
    readBillingRunnerConfig({
      ...payments.serviceSettings,
      TOLLGATE_RECONCILE_GRACE_MINUTES: '0',
      TOLLGATE_RECONCILE_LOOK_AGAIN_MS: '100',
      TOLLGATE_USAGE_STORED_WAIT_MS: '0',
    })

  async function runJob(
    process: CrashingProcess,
    job: (parts: Parts) => Promise<unknown>,
  ): Promise<void> {
    const { clock, database, hotState, eventLog } = payments.stack
    const crashing = {
      database: databaseOf(process, database),
      hotState: hotStateOf(process, hotState),
    }
    const logger = createLogger('billing-runner', 'silent')
    const parts = await openParts(config(), { clock, eventLog, logger, ...crashing })
    try {
      await ignoreCrash(process, () => job(parts))
    } finally {
      await parts.close()
    }
  }

  /** Creates a refunded payment whose refund the service does not know yet. */
  async function createUnknownRefund(): Promise<string> {
    const customerRef = await payments.createCustomer()
    const request = { customerRef, purpose: 'credit_topup', amount: 2_000, currency: 'USD' }
    const { body } = await payments.createIntent(`dying-${customerRef}`, request)
    const id = body.processorPaymentId
    await payments.confirm(id, 'pm_card_bypassPending')
    const processed = await payments.process<ProcessedPaymentBody>(id, customerRef)
    expect(processed.body.status).toBe('succeeded')
    const refund = await payments.stripe('POST', 'refunds', { payment_intent: id, amount: '500' })
    payments.stack.clock.set(new Date(payments.stack.clock.now() + 360_000).toISOString())
    await payments.simulate('clock', { advanceSeconds: 360 })
    return refund.body.id
  }

  const sql = () => payments.stack.database.in(environment)

  async function expectOnce(refundId: string): Promise<void> {
    expect(await payments.eventsOf(refundId)).toEqual(['payment.refunded'])
    const kept = await sql()<{ status: string; claims: number }[]>`
      select status, (select count(*)::int from credit_take_backs
        where reference = processor_refund_id) as claims
      from payment_refunds where processor_refund_id = ${refundId}`
    expect(kept).toEqual([{ status: 'succeeded', claims: 1 }])
    expect(await listUnbalancedTransactions(sql(), 9)).toEqual([])
  }

  test(
    'are found by the next process that reads the event list',
    { timeout: 300_000 },
    async () => {
      const poll = (process: CrashingProcess) =>
        runJob(process, async (parts) => {
          const jobParts = paymentPartsOf(config(), parts)
          await pollEvents(jobParts, environment, 300_000)
          while (await processInbox(jobParts, environment));
        })
      const steps = await crashAtEachStep(async (process) => {
        const refundId = await createUnknownRefund()
        await poll(process)
        // Work that a dead process had claimed is taken over after some time.
        payments.stack.clock.set(new Date(payments.stack.clock.now() + 360_000).toISOString())
        await poll(new CrashingProcess())
        await expectOnce(refundId)
        const unsettled = await sql()`select 1 from processor_events where settled_at is null`
        expect(unsettled).toHaveLength(0)
      })
      expect(steps).toContain('before insert processor_events')
      expect(steps).toContain('after commit')
    },
  )

  test('are corrected and reported by the next reconciliation', { timeout: 300_000 }, async () => {
    const reconcile = (process: CrashingProcess) =>
      runJob(process, (parts) => runReconciliation(config(), parts, { environment }))
    const steps = await crashAtEachStep(async (process) => {
      const refundId = await createUnknownRefund()
      await reconcile(process)
      await reconcile(new CrashingProcess())
      await expectOnce(refundId)
      const [last] = await sql()<{ open: number }[]>`
        select found - repaired as open from reconciliations order by finished_at desc limit 1`
      expect(last).toEqual({ open: 0 })
    })
    expect(steps).toContain('after commit')
  })
})

describe('posted entries', () => {
  let stores: Stores

  beforeAll(async () => {
    stores = await openStores()
  })
  afterAll(() => stores.stop())

  test('are sealed once by the next process', async () => {
    const { database } = stores.postgres
    const sql = database.in(environment)
    let charges = 0
    const shops = [await openShop(stores), await openShop(stores)]
    const customers = await Promise.all(shops.map((shop) => addCustomer(stores, shop)))
    const post = async (): Promise<void> => {
      for (const [index, { providerId }] of shops.entries()) {
        charges += 1
        const customerRef = customers[index]!.reference
        const fields = {
          chargeRef: `ch_${charges}`,
          customerRef,
          currency: 'USD',
          amountMinor: 100n,
        }
        await runUnitOfWork(database, operationIn(providerId, new Date()), (work) =>
          postMoney(work, paymentSucceeded({ ...fields, pays: 'refunds' })),
        )
      }
    }
    const seal = (process: CrashingProcess) =>
      ignoreCrash(process, () =>
        sealLedger(databaseOf(process, database).in(environment), 0n, new Date()),
      )
    const steps = await crashAtEachStep(async (process) => {
      await post()
      await seal(process)
      await post()
      await seal(new CrashingProcess())
      for (const { providerId } of shops) {
        expect(await findBrokenSeal(sql, providerId)).toBeUndefined()
        const seals = await listLedgerSeals(sql, providerId, 0n, 100)
        const sealed = seals.reduce((sum, { transactions }) => sum + transactions, 0n)
        expect(sealed).toBe(BigInt(charges / shops.length))
      }
    })
    expect(steps.filter((step) => step === 'before commit')).toHaveLength(shops.length)
  })
})
