import { once } from 'node:events'
import {
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { missingParts, prepareParts, type EngineParts } from './engines/engine-parts.ts'
import { IngestProcess } from './ingest-workers.ts'

/* Requests in flight while ingest workers end. The control plane is a server that answers when the test lets it. */

const redis = 'TOLLGATE_TEST_REDIS_URL'
const timeout = 120_000
const requests = 64

describe.skipIf(missingParts(redis).length > 0)('requests in flight at a stop', () => {
  let parts: EngineParts
  let controlPlane: Server
  let environment: Record<string, string>
  let ingest: IngestProcess | undefined
  /** Responses that the control plane has not sent yet. */
  const held: ServerResponse[] = []
  /** Suspended processes, which cannot end by themselves. */
  const suspended: number[] = []

  beforeAll(async () => {
    parts = prepareParts(redis)
    controlPlane = createServer((_, response) => held.push(response))
    await once(controlPlane.listen(0, '127.0.0.1'), 'listening')
    environment = {
      ...parts.settings,
      TOLLGATE_SERVICE_SECRET: 'secret of the services in this test',
      TOLLGATE_CONTROL_PLANE_URL: `http://127.0.0.1:${(controlPlane.address() as AddressInfo).port}`,
      TOLLGATE_PORT: String(await freePort()),
    }
  }, timeout)
  afterEach(async () => {
    release()
    for (const pid of suspended.splice(0)) if (!hasEnded(pid)) process.kill(pid, 'SIGKILL')
    await ingest?.stop('SIGKILL')
    ingest = undefined
  })
  afterAll(async () => {
    controlPlane?.close()
    await parts?.remove()
  }, timeout)

  function release(): void {
    for (const response of held.splice(0)) response.end('released')
  }

  /** Sends a request on a connection of its own. Resolves with the status, or with the code of the error. */
  async function send(): Promise<number | string> {
    const url = `http://127.0.0.1:${environment['TOLLGATE_PORT']}/v1/held`
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url, { agent: false }, resolve).on('error', reject)
      })
      response.resume()
      await once(response, 'end')
      return response.statusCode!
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error)
    }
  }

  /** Sends requests and waits until the control plane holds them. */
  async function hold(count: number): Promise<{ outcomes: Promise<(number | string)[]> }> {
    const outcomes = Promise.all(Array.from({ length: count }, send))
    await expect.poll(() => held.length).toBe(count)
    return { outcomes }
  }

  test.each(['1', '2'])('%s workers answer all at a stop', { timeout }, async (workers) => {
    ingest = await IngestProcess.start({ ...environment, TOLLGATE_INGEST_WORKERS: workers })
    const { outcomes } = await hold(requests)
    const stopped = ingest.stop()
    await sleep(500)
    release()
    expect(new Set(await outcomes)).toEqual(new Set([200]))
    expect(await stopped).toBe(0)
  })

  test('workers of a killed parent answer all, and end', { timeout }, async () => {
    ingest = await IngestProcess.start({ ...environment, TOLLGATE_INGEST_WORKERS: '2' })
    const pids = [...(await ingest.workerPids()).values()]
    const { outcomes } = await hold(requests)
    process.kill(ingest.pid, 'SIGKILL')
    await sleep(500)
    release()
    expect(new Set(await outcomes)).toEqual(new Set([200]))
    await expect.poll(() => pids.every(hasEnded), { timeout: 30_000 }).toBe(true)
  })

  test(
    'a stop while a worker starts waits for the requests of the other',
    { timeout },
    async () => {
      ingest = IngestProcess.launch({ ...environment, TOLLGATE_INGEST_WORKERS: '2' })
      const stopping = ingest
      await expect.poll(async () => (await stopping.workerPids()).size, { interval: 5 }).toBe(2)
      const pids = await stopping.workerPids()
      suspended.push(pids.get(2)!)
      process.kill(pids.get(2)!, 'SIGSTOP')
      await expect.poll(() => stopping.output).toMatch(/"worker":1,.*"ready"/)
      const { outcomes } = await hold(4)
      const stopped = stopping.stop()
      await sleep(500)
      expect(hasEnded(stopping.pid)).toBe(false)
      release()
      expect(new Set(await outcomes)).toEqual(new Set([200]))
      expect(await stopped).toBe(0)
      expect([...pids.values()].map(hasEnded)).toEqual([true, true])
      expect(stopping.output).not.toContain('could not start')
    },
  )
})
