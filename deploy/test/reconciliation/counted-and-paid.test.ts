import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { repair } from '@tollgate/billing-runner/jobs/repair'
import type { Parts } from '@tollgate/billing-runner/open-parts'
import { insertPublication, lockPublicationTargets } from '@tollgate/domain/publications/repository'
import type { WithheldRepair } from '@tollgate/domain/reconciliation/decide-repairs'
import type { Finding, Repair } from '@tollgate/domain/reconciliation/finding'
import { walletAddress } from '@tollgate/domain/wallet/hot-wallet'
import { systemClock } from '@tollgate/platform/clock/clock'
import type { EntryAddress, HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { walletSeries, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createCappedProduct, createCustomer } from '../offers.ts'
import { databaseOf, hotStateOf, CrashingProcess } from '../money/crashing-process.ts'
import { startStack, type Stack } from '../stack.ts'
import { WalletCaller } from '../wallet-caller.ts'

/*
 * Counts and debits of wallets compared with the records: there are no findings while usage is recorded, and every deliberate
 * difference is found.
 */

const environment = 'sandbox'
const patienceMs = 60_000

let folder: string
let hotState: HotState
let stack: Stack
let client: TollgateClient
let wallets: WalletCaller
let cappedRef: string
let customerRef: string
let payerRef: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-reconciliation-'))
  hotState = await openLmdbHotState({ folder, role: 'projection' })
  stack = await startStack({ hotState })
  client = (await stack.createProvider())[environment]
  wallets = await WalletCaller.open(stack, client, send)
  cappedRef = await createCappedProduct(client, 1_000_000)
  customerRef = await createCustomer(client, 'user-1')
  await client.checkLimit(customerRef, cappedRef)
  payerRef = await wallets.createPayer('payer-1')
  // More than a fast machine can spend in these tests.
  await wallets.grant(payerRef, 100_000_000)
}, patienceMs)
afterAll(async () => {
  await stack.stop()
  await hotState.close()
  await rm(folder, { recursive: true, force: true })
})

async function send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await client.send(method, path, body)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body as Body
}

const use = (reference: string, productRef: string, more: object = {}) =>
  client.recordUsage({ customerRef: reference, productRef, ...more })

type Told = {
  readonly compared: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
  readonly repairs: readonly Repair[]
  readonly withheld: readonly WithheldRepair[]
}

const config = () =>
  readBillingRunnerConfig({
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_DATABASE_URL: 'postgres://not-opened',
    TOLLGATE_CLICKHOUSE_URL: 'http://not-opened',
    TOLLGATE_RECONCILE_GRACE_MINUTES: '0',
    TOLLGATE_RECONCILE_LOOK_AGAIN_MS: '100',
  })

function partsOf(): Parts {
  const { database, eventLog, usageStore } = stack
  return {
    clock: systemClock,
    logger: createLogger('test', 'silent'),
    database,
    eventLog,
    hotState,
    usageStore,
    tracing: undefined,
    processors: { of: () => undefined, close: async () => undefined },
    charge: undefined,
  }
}

async function reconcile(isRepairing = false, providerId?: string): Promise<Told> {
  const parts = partsOf()
  const request = { environment, providerId } as const
  const { reports, repairs, withheld } = await runReconciliation(config(), parts, request)
  if (isRepairing) await repair(parts, environment, repairs)
  expect(reports).toHaveLength(1)
  const [report] = reports
  expect(report!.gaps).toEqual([])
  return { compared: report!.compared, findings: report!.findings, repairs, withheld }
}

const wordsOf = ({ findings }: Told): string[] =>
  findings
    .map(({ kind, reference, ours, theirs }) => `${kind} ${reference}: ${ours} | ${theirs}`)
    .toSorted()

async function purchaseOf(reference: string): Promise<string> {
  const [row] = await stack.database.in(environment)<{ reference: string }[]>`
    select reference from purchases where customer_ref = ${reference} and plan_ref is not null`
  return row!.reference
}

async function providerOf(reference: string): Promise<string> {
  const [row] = await stack.database.in(environment)<{ provider_id: string }[]>`
    select provider_id from customers where reference = ${reference}`
  return row!.provider_id
}

/** Adds a count without a record. */
async function miscount(at: EntryAddress, series: string, amount: bigint): Promise<void> {
  const offset = await hotState.appliedOffset(environment, at.partition)
  const second = Math.floor(Date.now() / 1000)
  const { subject, scope } = at
  const increments = [{ subject, scope, series, second, amount }]
  const { partition } = at
  const batch = { space: environment, partition, marks: [], increments }
  await hotState.apply({ ...batch, expectedOffset: offset, nextOffset: offset })
}

async function countersOf(reference: string, productRef: string): Promise<EntryAddress> {
  const subject = subjectKey(await providerOf(customerRef), reference)
  const partition = partitionOf(subject, stack.eventLog.partitionCount(usageTopic(environment)))
  return { space: environment, partition, subject, scope: productRef }
}

async function walletOf(reference: string): Promise<EntryAddress> {
  const name = {
    environment,
    providerId: await providerOf(reference),
    customerRef: reference,
  } as const
  return walletAddress(name, stack.eventLog.partitionCount(usageTopic(environment)))
}

/** Waits until the ledger contains the debits of the payer's calls. */
async function posted(): Promise<void> {
  await expect
    .poll(() => wallets.ledgerOf(payerRef), { timeout: patienceMs })
    .toBe(await wallets.balanceOf(payerRef))
}

test('finds nothing while usage is recorded', { timeout: patienceMs }, async () => {
  let isDone = false
  let calls = 0
  const flow = async (reference: string, productRef: string): Promise<void> => {
    for (; !isDone; calls += 1) {
      const idempotencyKey = `flow-${calls % 7}-${calls}`
      await use(reference, productRef, { units: 3, idempotencyKey })
      await use(reference, productRef, { units: 3, idempotencyKey })
    }
  }
  const flows = [
    flow(customerRef, cappedRef),
    flow('user-1', cappedRef),
    flow('payer-1', wallets.productRef),
  ]
  const told: Told[] = []
  while (told.length < 3 || calls < 100) told.push(await reconcile())
  isDone = true
  await Promise.all(flows)
  for (const each of told) {
    expect(wordsOf(each)).toEqual([])
    expect(each.compared).toMatchObject({ counter: 2 })
  }
})

test(
  'finds a wrong counter under any reference of the customer',
  { timeout: patienceMs },
  async () => {
    const before = await client.checkLimit(customerRef, cappedRef)
    const used = 1_000_000 - before.remaining
    await stack.stopProjections()
    await miscount(await countersOf('user-1', cappedRef), 'requests', 2_500_000n)
    await stack.startProjections()
    const purchaseRef = await purchaseOf(customerRef)
    expect(wordsOf(await reconcile())).toEqual([
      `counter ${purchaseRef}: counted ${used + 2.5} | recorded ${used}`,
    ])
  },
)

/** Publishes a wallet with a different amount of granted credits. */
async function publishGranted(at: EntryAddress, grantedMicros: string): Promise<void> {
  const [row] = await stack.database.in(environment)<{ version: number }[]>`
    select nextval('publication_versions')::int as version`
  const { version } = row!
  const document = JSON.stringify({ grantedMicros })
  await hotState.putEntry(at, { version, document, windows: [walletWindow] })
}

test('finds a wallet that differs in hot state', { timeout: patienceMs }, async () => {
  const otherRef = await wallets.createPayer()
  await wallets.grant(otherRef, 500)
  const at = await walletOf(otherRef)
  await publishGranted(at, '900000000')
  await stack.stopProjections()
  await miscount(at, walletSeries, 7_000_000n)
  await stack.startProjections()
  const findings = (await reconcile()).findings.filter(({ reference }) => reference === otherRef)
  expect(findings.map(({ kind, ours, theirs }) => `${kind}: ${ours} | ${theirs}`)).toEqual([
    'wallet: put in 500 | 900',
    'wallet: spent by the hot state 7 | 0',
  ])
})

test('ignores wallet changes that are not published yet', { timeout: 2 * patienceMs }, async () => {
  const waitingRef = await wallets.createPayer()
  await wallets.grant(waitingRef, 500)
  await publishGranted(await walletOf(waitingRef), '300000000')
  const found = async (): Promise<readonly Finding[]> =>
    (await reconcile()).findings.filter(({ reference }) => reference === waitingRef)
  expect(await found()).toHaveLength(1)
  const pool = stack.database.in(environment)
  const name = { providerId: await providerOf(waitingRef), target: waitingRef }
  await pool.begin(async (holding) => {
    await lockPublicationTargets(holding, 'customer', [name])
    await insertPublication(pool, { kind: 'customer', ...name })
    expect(await found()).toEqual([])
  })
  await expect.poll(found, { timeout: patienceMs }).toEqual([])
})

test(
  'does not rebuild counters when only one provider is compared',
  async () => {
    const report = await reconcile(true, await providerOf(customerRef))
    expect(report.repairs.filter(({ kind }) => kind === 'counts')).toEqual([])
    expect(report.withheld).toContainEqual({
      repair: { kind: 'counts', partition: (await countersOf('user-1', cappedRef)).partition },
      reason: 'one provider alone',
    })
    expect(wordsOf(await reconcile()).filter((words) => words.startsWith('counter'))).toHaveLength(
      1,
    )
  },
  patienceMs,
)

test('rebuilds counters and wallets on request', { timeout: 2 * patienceMs }, async () => {
  await posted()
  const money = await stack.database.in(environment)`
    select * from wallets order by provider_id, customer_ref`
  await reconcile(true)
  let isDone = false
  const flow = (async () => {
    while (!isDone) await use('user-1', cappedRef, { units: 3 })
  })()
  await expect.poll(async () => wordsOf(await reconcile()), { timeout: patienceMs }).toEqual([])
  isDone = true
  await flow
  expect(wordsOf(await reconcile())).toEqual([])
  expect(
    await stack.database.in(environment)`select * from wallets order by provider_id, customer_ref`,
  ).toEqual(money)
})

/** Repairs until the process dies at the given step. */
async function repairUntil(atStep: number, repairs: readonly Repair[]): Promise<CrashingProcess> {
  const life = new CrashingProcess({ atStep, sendsPendingCall: false })
  const parts = {
    ...partsOf(),
    database: databaseOf(life, stack.database),
    hotState: hotStateOf(life, hotState),
  }
  await repair(parts, environment, repairs).catch((error: unknown) => {
    if (!life.hasCrashed) throw error
  })
  return life
}

test(
  'completes a repair that died at any effect with the next one',
  { timeout: 4 * patienceMs },
  async () => {
    const counters = await countersOf('user-1', cappedRef)
    const wallet = await walletOf(payerRef)
    const repairs: Repair[] = [
      { kind: 'published', providerId: await providerOf(payerRef), customerRef: payerRef },
      { kind: 'counts', partition: counters.partition },
    ]
    const remaining = async (): Promise<number> =>
      (await client.checkLimit(customerRef, cappedRef)).remaining
    const [left, balance] = [await remaining(), await wallets.balanceOf(payerRef)]
    let isOver = true
    for (let atStep = 1; isOver; atStep += 1) {
      await stack.stopProjections()
      await miscount(counters, 'requests', 4_000_000n)
      await publishGranted(wallet, '900000000')
      await stack.startProjections()
      expect(await remaining()).toBe(left - 4)
      const life = await repairUntil(atStep, repairs)
      isOver = life.hasCrashed
      if (isOver) await repairUntil(Infinity, repairs)
      else expect(life.steps.length).toBeGreaterThan(1)
      await expect.poll(remaining, { timeout: patienceMs }).toBe(left)
      await expect.poll(() => wallets.balanceOf(payerRef), { timeout: patienceMs }).toBe(balance)
    }
    expect(wordsOf(await reconcile())).toEqual([])
  },
)

test('finds a missing record by its count and its debit', { timeout: patienceMs }, async () => {
  const { reference: id } = await use(payerRef, wallets.productRef, { units: 2 })
  await posted()
  expect(wordsOf(await reconcile())).toEqual([])
  const total = async (): Promise<number> => {
    const [sum] = await stack.usageStore.query<{ total: string }>(
      `SELECT toString(sum(value)) AS total FROM ${environment}.usage_records FINAL
       WHERE customer_ref = {customerRef:String}`,
      { customerRef: payerRef },
    )
    return Number(sum!.total)
  }
  const counted = await total()
  await stack.usageStore.command(`DELETE FROM ${environment}.usage_records WHERE id = '${id}'`)
  // ClickHouse may answer before the row is gone.
  await expect.poll(total).toBe(counted - 2)
  const paid = counted * 100
  const purchaseRef = await purchaseOf(payerRef)
  const report = await reconcile()
  expect(wordsOf(report)).toEqual([
    `counter ${purchaseRef}: counted ${counted} | recorded ${counted - 2}`,
    `wallet ${payerRef}: spent and posted ${paid} | ${paid - 200}`,
    `wallet ${payerRef}: spent by the hot state ${paid} | ${paid - 200}`,
  ])
  // Counts rebuilt from the remaining records would return credits that were already spent.
  const { partition } = await walletOf(payerRef)
  expect(report.repairs).not.toContainEqual({ kind: 'counts', partition })
  expect(report.withheld).toContainEqual({
    repair: { kind: 'counts', partition },
    reason: 'records are gone',
  })
})
