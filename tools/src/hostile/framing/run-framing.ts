import { connect } from 'node:net'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { laneRandoms, runLanes, times } from '../../load/lanes.ts'
import { plainCustomer, smugglingBytes, usageRequest } from './framed-bytes.ts'

export type FramingRun = {
  readonly baseUrl: string
  readonly key: string
  readonly seed: number
  readonly requests: number
  readonly connections: number
  readonly onRequest: () => void
}

export type FramingTally = {
  /** Number of plain requests that were answered with 200. */
  ackedRecords: number
  /** Answers to the request that must not be executed, or that its connection ended without an answer. */
  readonly statuses: Map<string, number>
  readonly violations: string[]
}

/** Fraction of connections on which a plain request is sent first, so that the connection is already in use. */
const plainRate = 0.2
const splitRate = 0.3
const violationsMax = 20
const status = /HTTP\/1\.1 (\d{3})/g

/** Sends requests that must not be executed, each on its own connection, and waits until the connection has ended. */
export async function runFraming(options: FramingRun): Promise<FramingTally> {
  const tally: FramingTally = { ackedRecords: 0, statuses: new Map(), violations: [] }
  const randoms = laneRandoms(options.seed, options.connections)
  await runLanes(options.connections, times(options.requests), async (lane) => {
    const random = randoms[lane]!
    const plain = random.chance(plainRate) ? usageRequest(options.key, plainCustomer) : undefined
    const bytes = smugglingBytes(random, options.key)
    const answers = await exchange(options.baseUrl, plain, packetsOf(random, bytes))
    if (plain !== undefined && answers.shift() === '200') tally.ackedRecords++
    const outcome = answers.join(' ') || 'no answer'
    tally.statuses.set(outcome, (tally.statuses.get(outcome) ?? 0) + 1)
    if (answers.some((each) => each < '400') && tally.violations.length < violationsMax) {
      tally.violations.push(`${outcome} to ${JSON.stringify(bytes.toString('latin1'))}`)
    }
    options.onRequest()
  })
  return tally
}

/** Returns the statuses of all answers on a connection. The client closes its side after the last packet. */
function exchange(
  baseUrl: string,
  plain: string | undefined,
  packets: readonly Buffer[],
): Promise<string[]> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    let isSent = false
    const sendLast = (): void => {
      if (isSent) return
      isSent = true
      for (const packet of packets) socket.write(packet)
      socket.end()
    }
    socket.setNoDelay(true)
    socket.on('connect', () => {
      if (plain === undefined) sendLast()
      else socket.write(plain)
    })
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1')
      sendLast()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve([...received.matchAll(status)].map(([, code]) => code!)))
  })
}

/** Splits the bytes, but not within the request line: the native parser takes a part of that line for an older protocol. */
function packetsOf(random: SeededRandom, bytes: Buffer): Buffer[] {
  if (!random.chance(splitRate)) return [bytes]
  const place = random.integer(bytes.indexOf('\r\n') + 2, bytes.length - 1)
  return [bytes.subarray(0, place), bytes.subarray(place)]
}
