import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { readSums, SumsUnreadableError } from './read-sums.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** Starts a server that gives the same answer to every request. Returns its URL. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function read(baseUrl: string, records = 3): Promise<unknown> {
  const client = createTollgateClient({ baseUrl, key: 'k', connectionsMax: 4, timeoutMs: 1_000 })
  const ledgers = [
    { customerRef: 'ada', units: 1_200, records, sentUnits: 1_200, sentRecords: records },
    { customerRef: 'bob', units: 34, records: 1, sentUnits: 34, sentRecords: 1 },
  ]
  const readLog = async () => ({ units: 0, records: 0, charged: new Map() })
  const context = { client, productRef: 'prd_1', meterRef: 'mtr_1', readLog, timeoutMs: 200 }
  return readSums(context, ledgers)
    .catch((error: unknown) => error)
    .finally(() => client.close())
}

test('reports the awaited sums and the last response in one line', async () => {
  const outcome = await read(await answering(503, '{"message":"not\\nnow"}'))
  expect(outcome).toBeInstanceOf(SumsUnreadableError)
  expect((outcome as Error).message).toMatch(
    /^Waited 0\.2 s for the sums of 2 customers, 1,234 units acked; the last answer was (POST|GET) \S+: 503 \{"message":"not\\nnow"\}$/,
  )
})

test('reports a refused connection', async () => {
  const outcome = await read('http://127.0.0.1:9')
  expect((outcome as Error).message).toMatch(/the last answer was connect ECONNREFUSED 127/)
})

test('waits longer for more records, because all of them may be stored again', async () => {
  const outcome = await read('http://127.0.0.1:9', 7_000)
  expect((outcome as Error).message).toMatch(/^Waited 0\.9 s/)
})
