import { setTimeout as sleep } from 'node:timers/promises'
import { processorSeconds } from '../load/process-clock.ts'
import { quantile } from '../load/statistics.ts'
import type { HttpResponse, HttpClient } from '@tollgate/deploy/client/http-client'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Instance } from '../instance/instance.ts'
import { formatCount } from '@tollgate/platform/terminal/table'
import { connectionsWithinLimit, crowdText, startCrowd } from './crowd/crowd.ts'
import { startHealthyClients } from './healthy-clients.ts'
import { watchServices } from './service-watch.ts'
import { untilStored } from './stored-records.ts'
import type { Check, Verdict } from './verdict.ts'

export type SlowOptions = {
  readonly sockets: number
  readonly rounds: number
  /** Total seconds over all rounds: next to slow clients, and the same time without them. */
  readonly seconds: number
}

const customerRef = 'beside_slow_clients'
const settleSeconds = 2
const openPatienceMs = 60_000

/**
 * Keeps almost idle connections open, first to the data plane and then to the control plane, while healthy clients use the same
 * address.
 */
export function checkSlow(options: SlowOptions): Check {
  return async (instance, say) => {
    const sockets = await connectionsWithinLimit(options.sockets)
    const lines =
      sockets < options.sockets ? [`Only ${sockets} connections: open files are limited.`] : []
    const dataPlane = await besideDataPlane(instance, { ...options, sockets }, say)
    const controlPlane = await besideControlPlane(instance, { ...options, sockets }, say)
    return {
      lines: [...lines, ...dataPlane.lines, ...controlPlane.lines],
      problems: [...dataPlane.problems, ...controlPlane.problems],
    }
  }
}

async function besideDataPlane(
  instance: Instance,
  options: SlowOptions,
  say: (line: string) => void,
): Promise<Verdict> {
  const { baseUrl, liveKey: key } = instance.credentials
  const call = (http: HttpClient): Promise<HttpResponse> =>
    http.send('POST', '/v1/sdk/usages', { customerRef })
  const { lines, problems, answered } = await measure(
    instance,
    { name: 'data plane', service: 'ingest', baseUrl, call },
    options,
    say,
  )
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
  const stored = await untilStored(client, answered, [customerRef]).finally(() => client.close())
  return {
    lines,
    problems:
      stored === answered
        ? problems
        : [...problems, `${answered} healthy records were acknowledged, ${stored} are stored`],
  }
}

async function besideControlPlane(
  instance: Instance,
  options: SlowOptions,
  say: (line: string) => void,
): Promise<Verdict> {
  const { environment } = await instance.runFile()
  const baseUrl = environment['TOLLGATE_CONTROL_PLANE_URL'] ?? ''
  const call = (http: HttpClient): Promise<HttpResponse> =>
    http.send('GET', '/v1/sdk/products?limit=1')
  return measure(
    instance,
    { name: 'control plane', service: 'control-plane', baseUrl, call },
    options,
    say,
  )
}

type Target = {
  readonly name: string
  /** Service that listens at the URL. */
  readonly service: string
  readonly baseUrl: string
  readonly call: (http: HttpClient) => Promise<HttpResponse>
}

type Lap = { readonly latenciesMs: readonly number[]; readonly processorMs: number }

/** Measures in rounds, without the crowd and next to it, so that changes of the machine affect both. */
async function measure(
  instance: Instance,
  { name, service, baseUrl, call }: Target,
  { sockets, rounds, seconds }: SlowOptions,
  say: (line: string) => void,
): Promise<Verdict & { readonly answered: number }> {
  const { liveKey: key } = instance.credentials
  const pid = (await instance.runFile()).processes[service] ?? 0
  const healthy = startHealthyClients({ baseUrl, key, call })
  let open = 0
  const progress = (): string => `${name}: ${formatCount(open)} slow connections`
  const watch = await watchServices(instance, progress, say)
  const quiet: Lap[] = []
  const beside: Lap[] = []
  const texts: string[] = []
  const problems: string[] = []
  const lap = async (lapSeconds: number, when: string): Promise<Lap> => {
    const startedMs = await processorMs(pid)
    await sleep(lapSeconds * 1000)
    const { latenciesMs, failures } = healthy.lap()
    for (const [outcome, times] of failures) {
      problems.push(`${name}, ${when}: ${times} healthy calls came to ${outcome}`)
    }
    return { latenciesMs, processorMs: (await processorMs(pid)) - startedMs }
  }
  for (let round = 0; round < rounds; round++) {
    await lap(settleSeconds, 'before')
    quiet.push(await lap(seconds / rounds, 'before'))
    const crowd = startCrowd('slow', baseUrl, sockets, key)
    await crowd.untilOpen(sockets, openPatienceMs)
    open = crowd.stats().open
    if (open < sockets) problems.push(`${name}: only ${open} of ${sockets} connections came about`)
    await lap(0, 'while slow clients came')
    beside.push(await lap(seconds / rounds, 'beside slow clients'))
    texts.push(`${name}: ${crowdText(await crowd.end())}`)
    open = 0
  }
  await lap(settleSeconds, 'afterwards')
  problems.push(...(await watch.end()))
  const answered = await healthy.stop()
  const memory = `${watch.memoryText('ingest')}; ${watch.memoryText('control-plane')}`
  return {
    lines: [...texts, `${name}: ${memory}`, `${name}: ${costText(beside, quiet)}`],
    problems,
    answered,
  }
}

function costText(beside: readonly Lap[], quiet: readonly Lap[]): string {
  const [withP99, withoutP99] = [p99Of(beside), p99Of(quiet)]
  const [withCall, withoutCall] = [processorPerCall(beside), processorPerCall(quiet)]
  return (
    `healthy p99 ${withP99.toFixed(2)} ms beside them, ${withoutP99.toFixed(2)} ms without: ratio ${(withP99 / withoutP99).toFixed(2)}; ` +
    `processor time per healthy call ${withCall.toFixed(3)} ms beside them, ${withoutCall.toFixed(3)} ms without`
  )
}

function p99Of(laps: readonly Lap[]): number {
  return quantile(
    laps.flatMap((lap) => lap.latenciesMs),
    0.99,
  )
}

/** Returns the CPU time of the service per healthy call. It shows the cost of the slow clients even on a busy machine. */
function processorPerCall(laps: readonly Lap[]): number {
  const calls = laps.reduce((sum, lap) => sum + lap.latenciesMs.length, 0)
  return laps.reduce((sum, lap) => sum + lap.processorMs, 0) / calls
}

/** Returns NaN on systems that do not report CPU time like Linux. */
async function processorMs(pid: number): Promise<number> {
  return processorSeconds(pid).then(
    (seconds) => seconds * 1000,
    () => Number.NaN,
  )
}
