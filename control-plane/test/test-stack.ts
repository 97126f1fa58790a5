import { jobActor } from '@tollgate/domain/audit/actor'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import type { Environment } from '@tollgate/schemas/environment'
import type { ErrorBody } from '@tollgate/schemas/http/errors'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { readControlPlaneConfig, type ControlPlaneConfig } from '../src/config.ts'
import { createControlPlane, type ControlPlane } from '../src/service.ts'

type Answer<Body> = {
  readonly status: number
  readonly headers: Headers
  /** Either of the two types, depending on the status. */
  readonly body: Body & ErrorBody
}

export type Tenant = {
  readonly providerId: string
  readonly sandboxKey: string
  readonly liveKey: string
}

/** A clock that stands still at the time that the test sets. Without a time, it follows the machine's clock. */
type TestClock = Clock & { set(iso?: string): void }

export type TestStack = {
  readonly database: Database
  readonly databaseUrl: string
  readonly hotState: HotState
  readonly eventLog: EventLog
  readonly clock: TestClock
  readonly folder: string
  /** Creates a provider with a key for each environment. */
  createTenant(currency?: string): Promise<Tenant>
  call<Body>(
    key: string | undefined,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<Body>>
  /** Sends the body unchanged. */
  callRaw<Body>(
    key: string | undefined,
    method: string,
    path: string,
    raw: RequestInit,
  ): Promise<Answer<Body>>
  /** Address of the service. */
  readonly baseUrl: string
  /** Sends a request without a key. Returns the response unchanged. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Records usage as the data plane and the counters do: in the log, and in the counters. */
  countUsage(usage: CountedUsage): Promise<void>
  /** Creates another service on the same stores, without starting it. */
  createService(settings?: Record<string, string>): ControlPlane
  stop(): Promise<void>
}

type CountedUsage = {
  readonly environment?: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef?: string
  readonly units: number
  readonly at?: string
}

const partitions = 4

type TestStackOptions = {
  readonly usageStore?: UsageStore
  readonly settings?: Record<string, string>
  /** Wraps the hot state that the services get. */
  readonly wrapHotState?: (hotState: HotState) => HotState
}

export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-control-plane-'))
  const testDatabase = await startTestDatabase(migrationsFolder)
  const { database } = testDatabase
  const hotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
  const eventLog = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [usageTopic('sandbox')]: partitions, [usageTopic('live')]: partitions },
  })
  // No process listens at this address, because requests that do not query usage must not need the store.
  const usageStore =
    options.usageStore ??
    createClickHouseUsageStore({
      url: 'http://127.0.0.1:9',
      username: 'default',
      password: '',
      requestTimeoutMs: 500,
    })
  const clock = testClock()
  const createService = (settings: Record<string, string> = {}): ControlPlane =>
    createControlPlane(testConfig(folder, testDatabase.url, { ...options.settings, ...settings }), {
      clock,
      database,
      hotState: options.wrapHotState?.(hotState) ?? hotState,
      eventLog,
      usageStore,
      logger: createLogger('control-plane', 'silent'),
    })
  const service = createService()
  await service.start()

  const callRaw = async <Body>(
    key: string | undefined,
    method: string,
    path: string,
    raw: RequestInit,
  ): Promise<Answer<Body>> => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method,
      ...raw,
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(raw.headers as Record<string, string> | undefined),
      },
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const body = (isJson ? JSON.parse(text) : undefined) as Body & ErrorBody
    return { status: response.status, headers: response.headers, body }
  }
  return {
    database,
    databaseUrl: testDatabase.url,
    hotState,
    eventLog,
    clock,
    folder,
    createTenant: (currency) => createTenant(database, hotState, currency),
    callRaw,
    baseUrl: `http://127.0.0.1:${service.port}`,
    call: (key, method, path, body) =>
      callRaw(key, method, path, body === undefined ? {} : { body: JSON.stringify(body) }),
    fetch: (path, init) => fetch(`http://127.0.0.1:${service.port}${path}`, init),
    countUsage: (usage) => countUsage(eventLog, hotState, clock, usage),
    createService,
    stop: async () => {
      await service.stop()
      if (options.usageStore === undefined) await usageStore.close()
      await eventLog.close()
      await hotState.close()
      await testDatabase.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function testConfig(
  folder: string,
  databaseUrl: string,
  settings: Record<string, string>,
): ControlPlaneConfig {
  return readControlPlaneConfig({
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_DATABASE_URL: databaseUrl,
    TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
    ...settings,
  })
}

function testClock(): TestClock {
  let fixedMs: number | undefined
  return {
    now: () => fixedMs ?? Date.now(),
    set: (iso) => (fixedMs = iso === undefined ? undefined : Date.parse(iso)),
  }
}

async function createTenant(
  database: Database,
  hotState: HotState,
  defaultCurrency = 'USD',
): Promise<Tenant> {
  const now = new Date()
  const fields = { name: 'Acme', email: null, defaultCurrency, cycleMode: 'calendar' } as const
  const { providerId } = await createProvider(database, hotState, jobActor('test'), fields, now)
  const keyOf = async (environment: Environment): Promise<string> => {
    const key = { providerId, environment, name: null, expiresAt: null }
    return (await issueApiKey(database, hotState, jobActor('test'), key, now)).secretKey
  }
  return { providerId, sandboxKey: await keyOf('sandbox'), liveKey: await keyOf('live') }
}

async function countUsage(
  eventLog: EventLog,
  hotState: HotState,
  clock: Clock,
  usage: CountedUsage,
): Promise<void> {
  const space = usage.environment ?? 'sandbox'
  const topic = usageTopic(space)
  const subject = subjectKey(usage.providerId, usage.customerRef)
  const partition = partitionOf(subject, eventLog.partitionCount(topic))
  const atMs = usage.at === undefined ? clock.now() : Date.parse(usage.at)
  const records = [{ partition, value: new Uint8Array([0]) }]
  const [offset] = (await eventLog.appendAll(topic, records, atMs)) as [number]
  const outcome = await hotState.apply({
    space,
    partition,
    expectedOffset: offset,
    nextOffset: offset + 1,
    marks: [],
    increments: [
      {
        subject,
        scope: usage.productRef ?? '',
        series: 'requests',
        second: Math.floor(atMs / 1000),
        amount: BigInt(usage.units) * 1_000_000n,
      },
    ],
  })
  if (outcome !== 'applied') throw new Error('the counters were somewhere else')
}
