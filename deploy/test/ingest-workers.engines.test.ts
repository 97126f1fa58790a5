import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { missingParts, prepareParts, type EngineParts } from './engines/engine-parts.ts'
import { IngestProcess, sampleOf } from './ingest-workers.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack, type Stack } from './stack.ts'

/* Two ingest workers on one port, on Kafka and Redis, beside the control plane and the projections of this process. */

const redis = 'TOLLGATE_TEST_REDIS_URL'
const cap = 1_000_000
const timeout = 120_000
const accepted = 'tollgate_ingest_events_accepted_total'

describe.skipIf(missingParts(redis).length > 0)('two ingest workers on one port', () => {
  let parts: EngineParts
  let stack: Stack
  let ingest: IngestProcess
  let environment: Record<string, string>
  let key: string
  let client: TollgateClient
  let productRef: string
  const clients: TollgateClient[] = []

  beforeAll(async () => {
    parts = prepareParts(redis)
    stack = await startStack({ settings: parts.settings, logLevel: 'silent' })
    environment = {
      ...stack.environment,
      TOLLGATE_INGEST_WORKERS: '2',
      TOLLGATE_PORT: String(await freePort()),
      TOLLGATE_HUNG_AFTER_SECONDS: '5',
    }
    ingest = await IngestProcess.start(environment)
    key = (await stack.createProvider()).keys.sandbox
    client = connect(64)
    productRef = await createCappedProduct(client, cap)
  }, timeout)
  afterAll(async () => {
    for (const each of clients) each.close()
    await ingest?.stop('SIGKILL')
    await stack?.stop()
    await parts?.remove()
  }, timeout)

  /** Returns a client with connections of its own, which the system gives to either worker. */
  function connect(connectionsMax: number): TollgateClient {
    const baseUrl = `http://127.0.0.1:${environment['TOLLGATE_PORT']}`
    const made = createTollgateClient({ baseUrl, key, connectionsMax, timeoutMs: 15_000 })
    clients.push(made)
    return made
  }

  /** Returns a customer whose first check, which creates the purchase, is done. */
  async function newCustomer(): Promise<string> {
    const customerRef = await createCustomer(client)
    await client.checkLimit(customerRef, productRef)
    return customerRef
  }

  async function usedBy(customerRef: string): Promise<number> {
    return cap - (await client.checkLimit(customerRef, productRef)).remaining
  }

  /** Sends usage on 32 lanes until it is ended. Usage with keys is sent again until it is acknowledged. */
  function startLoad(keyed: string, unkeyed: string, isRetried = () => true) {
    const load = connect(32)
    const counts = { keyed: 0, unkeyed: 0, unkeyedSent: 0, refused: [] as number[] }
    let isEnded = false
    let keys = 0
    const post = async (usage: object): Promise<boolean> => {
      const answer = await load.send('POST', '/v1/sdk/usages', usage).catch(() => undefined)
      if (answer !== undefined && answer.status !== 200) counts.refused.push(answer.status)
      return answer?.status === 200
    }
    const lane = async (number: number): Promise<void> => {
      while (!isEnded) {
        if (number % 2 === 0) {
          const idempotencyKey = `load ${keyed} ${keys++}`
          const usage = { customerRef: keyed, productRef, units: 1, idempotencyKey }
          let isAcked = await post(usage)
          while (!isAcked && isRetried()) isAcked = await sleep(20).then(() => post(usage))
          if (isAcked) counts.keyed += 1
        } else {
          counts.unkeyedSent += 1
          if (await post({ customerRef: unkeyed, productRef, units: 1 })) counts.unkeyed += 1
          else await sleep(20)
        }
      }
    }
    const lanes = Array.from({ length: 32 }, (_, number) => lane(number))
    const end = async () => {
      isEnded = true
      await Promise.all(lanes)
      return counts
    }
    return { counts, end }
  }

  test('both serve connections, and metrics tell them apart', { timeout }, async () => {
    const customerRef = await newCustomer()
    const before = await ingest.readMetrics()
    const usage = { customerRef, productRef, units: 1 }
    await Promise.all(Array.from({ length: 640 }, () => client.recordUsage(usage)))
    const page = await ingest.readMetrics()
    const recorded = [1, 2].map(
      (worker) => sampleOf(page, accepted, worker)! - sampleOf(before, accepted, worker)!,
    )
    expect(Math.min(...recorded)).toBeGreaterThan(0)
    expect(recorded[0]! + recorded[1]!).toBe(640)
    expect(await usedBy(customerRef)).toBe(640)
    expect(page.match(/^# TYPE tollgate_ingest_events_accepted_total /gm)).toHaveLength(1)
    expect(page).toMatch(/^tollgate_ingest_workers_missing\{service="ingest"\} 0$/m)
    const samples = page.match(/^tollgate_ingest_events_accepted_total\{.*$/gm)
    expect(samples).toHaveLength(2)
    expect(ingest.output).toContain('"worker":2')
    expect(await ingest.readHealth()).toMatchObject({ status: 'ok', httpStatus: 200 })
  })

  test('a key counts once that both receive at the same time', { timeout }, async () => {
    const customerRef = await newCustomer()
    const keys = Array.from({ length: 100 }, (_, number) => `key-${number}`)
    const references = await Promise.all(
      keys.map(async (idempotencyKey) => {
        const usage = { customerRef, productRef, units: 1, idempotencyKey }
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => client.recordUsage(usage)),
        )
        return new Set(answers.map(({ reference }) => reference)).size
      }),
    )
    expect(new Set(references)).toEqual(new Set([1]))
    expect(await usedBy(customerRef)).toBe(keys.length)
  })

  test.each([
    ['while the counters follow', async () => undefined],
    ['while the counters stand still', () => stack.stopProjections()],
  ])('a check sees what the other has acknowledged, %s', { timeout }, async (_, arrange) => {
    const customerRef = await newCustomer()
    await arrange()
    // Each request has a connection of its own. So half of the checks are answered by the worker that did not record the usage.
    const remaining: number[] = []
    for (let used = 1; used <= 60; used += 1) {
      const [recorder, checker] = [connect(1), connect(1)]
      await recorder.recordUsage({ customerRef, productRef, units: 1 })
      remaining.push((await checker.checkLimit(customerRef, productRef)).remaining)
      recorder.close()
      checker.close()
    }
    expect(remaining).toEqual(remaining.map((_, index) => cap - index - 1))
    await stack.stopProjections()
    await stack.startProjections()
  })

  test('the other serves while a killed one is started again', { timeout }, async () => {
    const [keyed, unkeyed] = [await newCustomer(), await newCustomer()]
    const before = await ingest.workerPids()
    const load = startLoad(keyed, unkeyed)
    await expect.poll(() => load.counts.keyed).toBeGreaterThan(200)
    process.kill(before.get(1)!, 'SIGKILL')
    const atKill = load.counts.keyed
    await expect
      .poll(() => ingest.readHealth(), { interval: 10 })
      .toMatchObject({ status: 'degraded', httpStatus: 200 })
    await expect.poll(() => load.counts.keyed).toBeGreaterThan(atKill + 50)
    await expect
      .poll(() => ingest.readHealth(), { timeout: 60_000 })
      .toMatchObject({ status: 'ok', httpStatus: 200 })
    // New connections reach the new process.
    await Promise.all(Array.from({ length: 40 }, () => connect(1).checkLimit(keyed, productRef)))
    const page = await ingest.readMetrics()
    expect(sampleOf(page, 'tollgate_ingest_worker_starts_total', 1)).toBe(2)
    expect(sampleOf(page, 'tollgate_ingest_worker_starts_total', 2)).toBe(1)
    expect(sampleOf(page, 'tollgate_ingest_limit_checks_total', 1)).toBeGreaterThan(0)
    const after = await ingest.workerPids()
    expect(after.get(1)).not.toBe(before.get(1))
    expect(after.get(2)).toBe(before.get(2))

    const counts = await load.end()
    expect(counts.refused).toEqual([])
    expect(await usedBy(keyed)).toBe(counts.keyed)
    const used = await usedBy(unkeyed)
    expect(used).toBeGreaterThanOrEqual(counts.unkeyed)
    expect(used).toBeLessThanOrEqual(counts.unkeyedSent)
  })

  test('a worker that hangs is killed and started again', { timeout }, async () => {
    const before = await ingest.workerPids()
    process.kill(before.get(2)!, 'SIGSTOP')
    await expect
      .poll(() => ingest.readHealth(), { timeout: 20_000 })
      .toMatchObject({ status: 'failing', httpStatus: 503 })
    await expect
      .poll(() => ingest.readHealth(), { timeout: 60_000 })
      .toMatchObject({ status: 'ok', httpStatus: 200 })
    expect((await ingest.workerPids()).get(2)).not.toBe(before.get(2))
    expect(ingest.output).toContain('worker hangs: killed')
  })

  test.each(['1', '2'])('another instance of %s workers is refused', { timeout }, async (count) => {
    const second = IngestProcess.start({ ...environment, TOLLGATE_INGEST_WORKERS: count })
    await expect(second).rejects.toThrow(/in use/)
    expect(await ingest.readHealth()).toMatchObject({ status: 'ok' })
  })

  test(
    'a stop under load loses no acknowledged usage, and frees the port',
    { timeout },
    async () => {
      const [keyed, unkeyed] = [await newCustomer(), await newCustomer()]
      let isStopping = false
      const load = startLoad(keyed, unkeyed, () => !isStopping)
      await expect.poll(() => load.counts.keyed).toBeGreaterThan(200)
      const pids = [...(await ingest.workerPids()).values()]
      isStopping = true
      expect(await ingest.stop()).toBe(0)
      expect(pids.map(hasEnded)).toEqual([true, true])
      const counts = await load.end()
      expect(counts.refused).toEqual([])
      ingest = await IngestProcess.start(environment)
      expect(await usedBy(unkeyed)).toBeGreaterThanOrEqual(counts.unkeyed)
      expect(await usedBy(keyed)).toBeGreaterThanOrEqual(counts.keyed)
    },
  )

  test(
    'workers end with a killed parent, and the next start has the port',
    { timeout },
    async () => {
      const pids = [...(await ingest.workerPids()).values()]
      await ingest.stop('SIGKILL')
      await expect.poll(() => pids.every(hasEnded), { timeout: 30_000 }).toBe(true)
      ingest = await IngestProcess.start(environment)
      expect(await usedBy(await newCustomer())).toBe(0)
    },
  )
})
