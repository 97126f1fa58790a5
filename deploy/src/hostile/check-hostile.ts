import { setTimeout as sleep } from 'node:timers/promises'
import { createTollgateClient, type TollgateClient } from '../client/tollgate-client.ts'
import type { Instance } from '../instance/instance.ts'
import type { RunFile } from '../standalone/run-file.ts'
import { growing, sampleMemory, sampleText, type MemorySample } from './memory-watch.ts'
import { runHostile } from './run-hostile.ts'
import type { HostileTally } from './tally.ts'

export type HostileVerdict = {
  readonly tally: HostileTally
  readonly storedRecords: number
  readonly samples: readonly MemorySample[]
  /** Empty when the service withstood. */
  readonly problems: readonly string[]
}

export type HostileCheck = {
  readonly seed: number
  readonly requests: number
  readonly connections: number
  readonly say: (line: string) => void
}

const dayMs = 86_400_000
const storedPatienceMs = 60_000
const sampleEveryMs = 5_000

/** Runs the load with the live key, which nothing else uses, and then asks what is left of it. */
export async function checkHostile(
  instance: Instance,
  check: HostileCheck,
): Promise<HostileVerdict> {
  const { baseUrl, liveKey: key } = instance.credentials
  const before = await instance.runFile()
  const samples: MemorySample[] = [await sampleMemory(before, 0)]
  let requests = 0
  const ticker = setInterval(() => {
    void sampleMemory(before, requests).then((sample) => {
      samples.push(sample)
      check.say(sampleText(sample))
    })
  }, sampleEveryMs)
  const onProgress = (tally: HostileTally): void => void (requests = tally.requests)
  const tally = await runHostile({ baseUrl, key, ...check, onProgress }).finally(() =>
    clearInterval(ticker),
  )
  samples.push(await sampleMemory(before, tally.requests))

  const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
  try {
    const storedRecords = await readStored(client, tally.ackedRecords)
    const problems = findProblems(tally, storedRecords, samples, before, await instance.runFile())
    const alive = await client.send('POST', '/v1/sdk/usages', { customerRef: 'alive' })
    if (alive.status !== 200) problems.push(`a plain usage call is answered ${alive.status}`)
    return { tally, storedRecords, samples, problems }
  } finally {
    client.close()
  }
}

function findProblems(
  tally: HostileTally,
  storedRecords: number,
  samples: readonly MemorySample[],
  before: RunFile,
  after: RunFile,
): string[] {
  const problems = [...tally.offences]
  const { ackedRecords, unansweredRecordsMax } = tally
  if (storedRecords < ackedRecords || storedRecords > ackedRecords + unansweredRecordsMax) {
    problems.push(
      `${storedRecords} records are stored; ${ackedRecords} were acknowledged and at most ${unansweredRecordsMax} got no answer`,
    )
  }
  for (const service of growing(samples)) problems.push(`${service} keeps growing`)
  for (const [service, pid] of Object.entries(before.processes)) {
    if (after.processes[service] !== pid) problems.push(`${service} died and was started again`)
  }
  return problems
}

/** All meters of the provider together, whatever the outcome of the records. */
async function readStored(client: TollgateClient, expected: number): Promise<number> {
  const { body } = await client.send('GET', '/v1/ui/meters')
  const { meters } = body as { meters: { reference: string }[] }
  const query = {
    from: new Date(Date.now() - 32 * dayMs).toISOString(),
    to: new Date(Date.now() + 2 * dayMs).toISOString(),
    outcome: 'all',
  }
  for (const deadline = Date.now() + storedPatienceMs; ; await sleep(200)) {
    let stored = 0
    for (const { reference } of meters) stored += (await client.meterUsage(reference, query)).count
    if (stored >= expected || Date.now() > deadline) return stored
  }
}
