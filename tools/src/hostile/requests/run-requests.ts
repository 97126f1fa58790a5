import type { SeededRandom } from '../../client/seeded-random.ts'
import { laneRandoms } from '../../load/lanes.ts'
import { openHostileConnection, type HostileConnection } from './hostile-connection.ts'
import { nextHostileRequest, type HostileRequest } from './hostile-request.ts'
import { countAnswer, addUnanswered, createHostileTally, type HostileTally } from './tally.ts'

export type RequestsRun = {
  readonly baseUrl: string
  readonly key: string
  readonly seed: number
  readonly requests: number
  readonly connections: number
  readonly onProgress: (tally: HostileTally) => void
}

const pipelinedMax = 16
/**
 * Fraction of turns with pipelining. The native server closes a connection if the next request arrives before the previous answer,
 * so most turns wait for each answer. Requests that are lost with such a connection count as unanswered.
 */
const pipelinedRate = 0.03
/** Long enough for a busy machine. */
const answerTimeoutMs = 60_000
/** After a request with invalid framing, the server may wait for more bytes. */
const brokenTimeoutMs = 150
/**
 * Fraction of turns that end in the middle of a request. The client then disconnects, or stays connected and sends nothing more.
 */
const abandonRate = 0.03
const silentConnectionsMax = 32
const progressEvery = 10_000

/** Runs many connections at once, with keep-alive, pipelining, splits at any byte and disconnects at any point. */
export async function runRequests(options: RequestsRun): Promise<HostileTally> {
  const tally = createHostileTally()
  const { hostname, port } = new URL(options.baseUrl)
  const open = (): HostileConnection => openHostileConnection(hostname, Number(port))
  const silent: HostileConnection[] = []
  let left = options.requests

  async function runConnection(random: SeededRandom): Promise<void> {
    let connection = open()
    while (left > 0) {
      if (!connection.isOpen) connection = open()
      const requests = nextPipeline(random, options.key, Math.min(left, pipelinedMax))
      left -= requests.length
      const bytes = Buffer.concat(requests.map((request) => request.bytes))
      if (random.chance(abandonRate)) {
        abandon(connection, requests, bytes, random)
        connection = open()
        continue
      }
      if (random.chance(pipelinedRate)) {
        const packets = split(random, bytes)
        const answers = await connection.exchange(requests, packets, brokenTimeoutMs)
        requests.forEach((request, at) => countAndReport(request, answers[at]))
        connection.destroy()
        continue
      }
      let before: HostileRequest | undefined
      for (const request of requests) {
        if (!connection.isOpen) connection = open()
        const packets = split(random, request.bytes)
        const timeoutMs = request.isBroken ? brokenTimeoutMs : answerTimeoutMs
        const [answer] = await connection.exchange([request], packets, timeoutMs)
        countAndReport(request, answer)
        if (!answer && !request.isBroken && !request.isChunked)
          addUnanswered(tally, request, before)
        if (answer?.isLast || request.method === 'HEAD') {
          connection.destroy()
          connection = open()
        }
        before = request
      }
      if (requests.some((request) => request.isBroken)) connection.destroy()
    }
    connection.destroy()
  }

  function countAndReport(...[request, answer]: CountArguments): void {
    countAnswer(tally, request, answer)
    if (tally.requests % progressEvery === 0) options.onProgress(tally)
  }

  function abandon(
    connection: HostileConnection,
    requests: readonly HostileRequest[],
    bytes: Buffer,
    random: SeededRandom,
  ): void {
    const cut = bytes.subarray(0, random.integer(0, bytes.length - 1))
    void connection.exchange([], [cut], 0)
    for (const request of requests) countAndReport(request, undefined)
    if (random.chance(0.5)) return connection.destroy()
    silent.push(connection)
    if (silent.length > silentConnectionsMax) silent.shift()?.destroy()
  }

  await Promise.all(laneRandoms(options.seed, options.connections).map(runConnection))
  for (const connection of silent) connection.destroy()
  return tally
}

type CountArguments = [HostileRequest, Parameters<typeof countAnswer>[2]]

/**
 * Returns the requests of a turn. A request with invalid framing is the last one, because the server could not parse what follows.
 */
function nextPipeline(random: SeededRandom, key: string, countMax: number): HostileRequest[] {
  const requests: HostileRequest[] = []
  const count = random.integer(1, countMax)
  while (requests.length < count) {
    const request = nextHostileRequest(random, key)
    requests.push(request)
    if (request.isBroken) break
  }
  return requests
}

/**
 * Splits the bytes, but not within the request line: the native server takes a request line in 2 packets for an older protocol and
 * answers with 505.
 */
function split(random: SeededRandom, bytes: Buffer): Buffer[] {
  if (random.chance(0.7)) return [bytes]
  const from = Math.min(bytes.indexOf('\r\n') + 2, bytes.length)
  const cuts = Array.from({ length: random.integer(1, 4) }, () =>
    random.integer(from, bytes.length),
  )
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}
