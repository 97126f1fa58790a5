import { Agent, request } from 'node:http'
import { runArrivals } from '../../load/arrivals.ts'
import { times } from '../../load/lanes.ts'
import { quantile } from '../../load/statistics.ts'

export type PacedLoad = {
  /** URLs to which the calls of each client are sent alternately. */
  readonly urls: readonly string[]
  /** Request headers, one entry per client. */
  readonly headers: readonly Readonly<Record<string, string>>[]
  readonly body: string
  readonly seconds: number
  /** Calls per second of each client, independent of the outcome of earlier calls. */
  readonly callsPerSecond: number
}

export type PacedResult = {
  readonly calls: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Number of answers that are not a tool result. */
  readonly errors: number
}

/**
 * Sends calls at fixed times and measures each from the moment at which it was due. Clients that wait for earlier answers would
 * instead measure the capacity of a busy machine.
 */
export async function runPacedLoad(load: PacedLoad): Promise<PacedResult[]> {
  const { urls, headers, seconds, callsPerSecond } = load
  const agent = new Agent({ keepAlive: true, maxSockets: headers.length * 4 })
  const measured = urls.map((url) => ({ url, latencies: [] as number[], errors: 0 }))
  const clients = headers.length
  await runArrivals({
    perSecond: callsPerSecond * clients,
    shouldContinue: times(seconds * callsPerSecond * clients),
    act: async (number, dueMs) => {
      const client = number % clients
      const of = measured[(Math.floor(number / clients) + client) % measured.length]!
      if (!(await isAnswered(agent, of.url, headers[client]!, load.body))) of.errors += 1
      of.latencies.push(performance.now() - dueMs)
    },
  })
  agent.destroy()
  return measured.map(({ latencies, errors }) => {
    const [p50Ms, p99Ms] = [quantile(latencies, 0.5), quantile(latencies, 0.99)]
    return { calls: latencies.length, p50Ms, p99Ms, errors }
  })
}

function isAnswered(
  agent: Agent,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<boolean> {
  return new Promise((resolve) => {
    const length = String(Buffer.byteLength(body))
    const options = { agent, method: 'POST', headers: { ...headers, 'content-length': length } }
    const sent = request(url, options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => resolve(isResult(answer.statusCode, Buffer.concat(chunks))))
      answer.once('error', () => resolve(false))
    })
    sent.once('error', () => resolve(false))
    sent.end(body)
  })
}

/**
 * Returns whether the answer is the result of the tool. A paywall is also a result, but it has structured content, which the
 * measured tool has not.
 */
function isResult(status: number | undefined, body: Buffer): boolean {
  const text = body.toString()
  return status === 200 && text.includes('"result"') && !text.includes('structuredContent')
}
