import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createSendRecords } from '@tollgate/mcp-proxy/gate/send-records'
import { ServiceCalls } from '@tollgate/mcp-proxy/services/service-calls'
import type { CallRecord } from '@tollgate/mcp-proxy/records/call-record'
import { openRecords } from '@tollgate/mcp-proxy/records/open-records'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { productRef, publishEntitlement } from '../../ingest/test/entitled-customer.ts'
import { Installation, providerId } from '../../ingest/test/installation.ts'
import { startCuttingRelay, type CuttingRelay } from './mcp/cutting-relay.ts'

/* Delivery of the records of tool calls to a real ingest: none is lost and none is counted twice. */

const nowMs = Date.UTC(2026, 0, 15)
const serviceSecret = randomUUID() + randomUUID()
const options = {
  clock: { now: () => nowMs },
  settings: { TOLLGATE_SERVICE_SECRET: serviceSecret },
}
const isUnlucky = () => Math.random() < 0.1

let installation: Installation
let relay: CuttingRelay
let dataDir: string

beforeEach(async () => {
  installation = await Installation.start(options)
  await publishEntitlement(installation, { cap: null })
  relay = await startCuttingRelay(() => installation.port, isUnlucky)
  dataDir = await mkdtemp(join(tmpdir(), 'tollgate-records-'))
})
afterEach(async () => {
  await relay.stop()
  await installation.remove()
  await rm(dataDir, { recursive: true })
})

const script = fileURLToPath(new URL('mcp/settle-until-killed.ts', import.meta.url))

class Settler {
  readonly #child: ChildProcess
  readonly #said = join(dataDir, `said-${randomUUID()}`)

  constructor() {
    const url = `http://127.0.0.1:${relay.port}`
    const given = [url, serviceSecret, dataDir, providerId, productRef, String(nowMs), this.#said]
    const node = ['--conditions=source', '--import', 'tsx', script, ...given]
    this.#child = spawn(process.execPath, node, { stdio: ['pipe', 'ignore', 'inherit'] })
  }

  async settleSome(count: number): Promise<void> {
    await expect.poll(() => this.lines('settled').length).toBeGreaterThan(count)
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async end(how: 'killed' | 'stopped'): Promise<void> {
    if (how === 'killed') this.#child.kill('SIGKILL')
    else this.#child.stdin!.write('stop\n')
    const [code] = (await once(this.#child, 'close')) as [number | null]
    expect(code).toBe(how === 'killed' ? null : 0)
  }

  /** Returns the ids of calls with the given word, from complete lines. */
  lines(word: 'begun' | 'settled'): string[] {
    if (!existsSync(this.#said)) return []
    const output = readFileSync(this.#said, 'utf8')
    const whole = output.slice(0, output.lastIndexOf('\n') + 1).split('\n')
    return whole.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')[1]!)
  }
}

test('records each settled call once while the proxy is killed, ingest restarts and responses are lost', async () => {
  const settlers: Settler[] = []
  for (let round = 0; round < 4; round++) {
    const settler = new Settler()
    settlers.push(settler)
    await settler.settleSome(100)
    await installation.restart(options)
    await settler.settleSome(200)
    await settler.end('killed')
  }
  const last = new Settler()
  settlers.push(last)
  await last.settleSome(1)
  await last.end('stopped')

  const { settled, recorded } = await expectExact(settlers)
  expect(settled.length).toBeGreaterThan(800)
  expect(relay.cutCount()).toBeGreaterThan(0)
  // A call is recorded even if its process died between the record and the answer.
  expect(recorded.length - settled.length).toBeLessThanOrEqual(4 * 8)
})

test("records each settled call once when another proxy takes over a paused proxy's journal", async () => {
  const settlers: Settler[] = []
  let changes = 0
  for (const end of ['killed', 'stopped'] as const) {
    const settler = new Settler()
    settlers.push(settler)
    for (let round = 0; round < 3; round++) {
      await settler.settleSome(100 * (round + 1))
      settler.pause()
      await sleep(20)
      const paused = journalFolders()
      paused.forEach(moveToAnotherHost)
      const other = await open()
      await expect.poll(journalFolders).not.toEqual(expect.arrayContaining(paused))
      settler.resume()
      await settler.settleSome(100 * (round + 1) + 50)
      await other.records.stop()
      await other.ingest.close()
      changes += paused.length
    }
    await settler.end(end)
  }
  const last = await open()
  await last.records.stop()
  await last.ingest.close()
  expect(changes).toBe(6)
  await expectExact(settlers)
  expect(readdirSync(join(dataDir, 'mcp-proxy'))).toEqual([])
})

/** Returns the journal folders of other processes. */
function journalFolders(): string[] {
  const names = readdirSync(join(dataDir, 'mcp-proxy'))
  return names.filter((name) => name.startsWith('journal-') && !name.includes(`-${process.pid}-`))
}

/** Makes the owner of a folder look like a process on another host that has not touched it for 2 minutes. */
function moveToAnotherHost(name: string): void {
  const path = join(dataDir, 'mcp-proxy', name, 'owner')
  const owner = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...owner, host: 'another-host' }))
  const before = new Date(Date.now() - 120_000)
  utimesSync(path, before, before)
}

/** Checks that each settled call is recorded once, and nothing else is recorded. */
async function expectExact(settlers: readonly Settler[]) {
  const keys = (await installation.events()).map(({ idempotencyKey }) => idempotencyKey!)
  const recorded = keys.map((key) => key.replace(/-fail$/, ''))
  const known = new Set(recorded)
  const settled = settlers.flatMap((settler) => settler.lines('settled'))
  const begun = new Set(settlers.flatMap((settler) => settler.lines('begun')))
  expect(known.size).toBe(recorded.length)
  const lost = settled.filter((callId) => !known.has(callId))
  const madeUp = recorded.filter((callId) => !begun.has(callId))
  expect({ lost, madeUp }).toEqual({ lost: [], madeUp: [] })
  return { settled, recorded }
}

function recordOf(callId: string, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    ...{
      environment: 'sandbox',
      providerId,
      customerRef: 'user-1',
      productRef,
      toolName: 'search',
    },
    ...{ callId, idempotencyKey: callId, outcome: 'success', durationMs: 1, acceptedAtMs: nowMs },
    ...changes,
  }
}

async function open(limits: { bytesMax?: number } = {}) {
  const origin = `http://127.0.0.1:${installation.port}`
  const ingest = new ServiceCalls({ origin, secret: serviceSecret, connectionsMax: 8 })
  const metrics = createMetrics('mcp-proxy')
  const records = await openRecords({
    dataDir,
    limits: { bytesMax: 1e9, segmentBytesMax: 10_000, syncMs: 0, stopGraceMs: 20_000, ...limits },
    send: createSendRecords(ingest),
    onRecorded: () => undefined,
    onAdopted: () => undefined,
    onLost: () => undefined,
    onUsedElsewhere: (record) => record,
    nowMs: () => nowMs,
    logger: createLogger('mcp-proxy', 'silent'),
    metrics,
  })
  return { records, metrics, ingest }
}

test('sets a record aside that ingest refuses, and records the others', async () => {
  const { records, ingest } = await open()
  const bad = [7, 40, 41, 299]
  const tooOldMs = nowMs - 31 * 86_400_000
  for (let number = 0; number < 300; number++) {
    const isBad = bad.includes(number)
    records.append(recordOf(`c${number}`, isBad ? { acceptedAtMs: tooOldMs } : {}))
  }
  await records.stop()
  await ingest.close()
  expect(await installation.stored()).toBe(296)
  const lines = (await readFile(join(dataDir, 'mcp-proxy/refused.ndjson'), 'utf8'))
    .trim()
    .split('\n')
  const aside = lines.map((line) => JSON.parse(line) as { message: string; record: CallRecord })
  expect(aside.map(({ record }) => record.callId)).toEqual(bad.map((number) => `c${number}`))
  expect(aside[0]!.message).toBe('400: Validation failed')
})

test('delays only the records of a provider that ingest refuses to hear', async () => {
  const { records, metrics, ingest } = await open()
  installation.controlPlane = (_, response) => response.writeHead(401).end('{}')
  records.append(recordOf('refused', { environment: 'live' }))
  records.append(recordOf('taken'))
  await expect.poll(() => installation.stored()).toBe(1)
  await sleep(100)
  expect(await metrics.getSingleMetricAsString('tollgate_mcp_delivery_failures_total')).not.toMatch(
    / 0$/,
  )
  installation.controlPlane = (_, response) => {
    const key = { keyId: 'service', providerId, environment: 'live', expiresAtMs: null }
    response.writeHead(200).end(JSON.stringify(key))
  }
  await records.stop()
  await ingest.close()
  expect((await installation.events('live')).map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    'refused',
  ])
})

test('refuses calls while the journal is full, and continues once ingest has accepted records', async () => {
  const { records, ingest } = await open({ bytesMax: 20_000 })
  // Ingest accepts nothing, because it asks the control plane about live providers and gets no valid answer.
  installation.controlPlane = (_, response) => response.writeHead(503).end('{}')
  let admitted = 0
  for (; records.promiseRoom(); admitted++) {
    records.append(recordOf(`c${admitted}`, { environment: 'live' }))
    records.endPromise()
  }
  // Room is reserved for records of the maximum size.
  expect(admitted).toBeGreaterThan(20)
  await expect(records.health.check()).rejects.toThrow('full')
  installation.controlPlane = (_, response) => {
    const key = { keyId: 'service', providerId, environment: 'live', expiresAtMs: null }
    response.writeHead(200).end(JSON.stringify(key))
  }
  await expect.poll(() => installation.stored('live')).toBe(admitted)
  await expect.poll(() => records.promiseRoom()).toBe(true)
  await expect(records.health.check()).resolves.toBeUndefined()
  await records.stop()
  await ingest.close()
})
