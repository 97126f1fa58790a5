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
import { waitUntilStored } from './stored-records.ts'
import type { Check, Verdict } from './verdict.ts'

export type SlowOptions = {
  readonly sockets: number
  readonly rounds: number
  /** Total seconds over all rounds: next to slow clients, and the same time without them. */
  readonly seconds: number
}

const customerRef = 'beside_slow_clients'
/** Duration before and after the rounds in which nothing is measured. */
const unmeasuredSeconds = 2
const openTimeoutMs = 60_000

/**
 * Keeps almost idle connections open, first to the data plane and then to the control plane, while healthy clients use the same
 * address.
 */
export function checkSlow(options: SlowOptions): Check {
  return async (instance, print) => {
    const sockets = await connectionsWithinLimit(options.sockets)
    const lines =
      sockets < options.sockets ? [`Only ${sockets} connections: open files are limited.`] : []
    const dataPlane = await checkDataPlane(instance, { ...options, sockets }, print)
    const controlPlane = await checkControlPlane(instance, { ...options, sockets }, print)
    return {
      lines: [...lines, ...dataPlane.lines, ...controlPlane.lines],
      problems: [...dataPlane.problems, ...controlPlane.problems],
    }
  }
}

async function checkDataPlane(
  instance: Instance,
  options: SlowOptions,
  print: (line: string) => void,
): Promise<Verdict> {
  const { baseUrl, liveKey: key } = instance.credentials
  const call = (http: HttpClient): Promise<HttpResponse> =>
    http.send('POST', '/v1/sdk/usages', { customerRef })
  const { lines, problems, answered } = await measure(
    instance,
    { name: 'data plane', service: 'ingest', baseUrl, call },
    options,
    print,
  )
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
  const stored = await waitUntilStored(client, answered, [customerRef]).finally(() =>
    client.close(),
  )
  return {
    lines,
    problems:
      stored === answered
        ? problems
        : [...problems, `${answered} healthy records were acknowledged, ${stored} are stored`],
  }
}

async function checkControlPlane(
  instance: Instance,
  options: SlowOptions,
  print: (line: string) => void,
): Promise<Verdict> {
  const { environment } = await instance.runFile()
  const baseUrl = environment['TOLLGATE_CONTROL_PLANE_URL'] ?? ''
  const call = (http: HttpClient): Promise<HttpResponse> =>
    http.send('GET', '/v1/sdk/products?limit=1')
  return measure(
    instance,
    { name: 'control plane', service: 'control-plane', baseUrl, call },
    options,
    print,
  )
}

type Target = {
  readonly name: string
  /** Service that listens at the URL. */
  readonly service: string
  readonly baseUrl: string
  readonly call: (http: HttpClient) => Promise<HttpResponse>
}

type Measurement = { readonly latenciesMs: readonly number[]; readonly processorMs: number }

/** Measures in rounds, without the crowd and next to it, so that changes of the machine affect both. */
async function measure(
  instance: Instance,
  { name, service, baseUrl, call }: Target,
  { sockets, rounds, seconds }: SlowOptions,
  print: (line: string) => void,
): Promise<Verdict & { readonly answered: number }> {
  const { liveKey: key } = instance.credentials
  const pid = (await instance.runFile()).processes[service] ?? 0
  const healthy = startHealthyClients({ baseUrl, key, call })
  let open = 0
  const progress = (): string => `${name}: ${formatCount(open)} slow connections`
  const watch = await watchServices(instance, progress, print)
  const baseline: Measurement[] = []
  const beside: Measurement[] = []
  const texts: string[] = []
  const problems: string[] = []
  const measureFor = async (forSeconds: number, when: string): Promise<Measurement> => {
    const startedMs = await processorMs(pid)
    await sleep(forSeconds * 1000)
    const { latenciesMs, failures } = healthy.take()
    for (const [outcome, times] of failures) {
      problems.push(`${name}, ${when}: ${times} healthy calls ended with ${outcome}`)
    }
    return { latenciesMs, processorMs: (await processorMs(pid)) - startedMs }
  }
  for (let round = 0; round < rounds; round++) {
    await measureFor(unmeasuredSeconds, 'before')
    baseline.push(await measureFor(seconds / rounds, 'before'))
    const crowd = startCrowd('slow', baseUrl, sockets, key)
    await crowd.waitUntil((stats) => stats.open >= sockets, openTimeoutMs)
    open = crowd.stats().open
    if (open < sockets) problems.push(`${name}: only ${open} of ${sockets} connections were opened`)
    await measureFor(0, 'while slow clients came')
    beside.push(await measureFor(seconds / rounds, 'beside slow clients'))
    texts.push(`${name}: ${crowdText(await crowd.end())}`)
    open = 0
  }
  await measureFor(unmeasuredSeconds, 'afterwards')
  problems.push(...(await watch.end()))
  const answered = await healthy.stop()
  const memory = `${watch.memoryText('ingest')}; ${watch.memoryText('control-plane')}`
  return {
    lines: [...texts, `${name}: ${memory}`, `${name}: ${costText(beside, baseline)}`],
    problems,
    answered,
  }
}

function costText(beside: readonly Measurement[], baseline: readonly Measurement[]): string {
  const [withP99, withoutP99] = [p99Of(beside), p99Of(baseline)]
  const [withCall, withoutCall] = [processorPerCall(beside), processorPerCall(baseline)]
  return (
    `healthy p99 ${withP99.toFixed(2)} ms beside them, ${withoutP99.toFixed(2)} ms without: ratio ${(withP99 / withoutP99).toFixed(2)}; ` +
    `CPU time per healthy call ${withCall.toFixed(3)} ms beside them, ${withoutCall.toFixed(3)} ms without`
  )
}

function p99Of(measurements: readonly Measurement[]): number {
  return quantile(
    measurements.flatMap((measurement) => measurement.latenciesMs),
    0.99,
  )
}

/** Returns the CPU time of the service per healthy call. It shows the cost of the slow clients even on a busy machine. */
function processorPerCall(measurements: readonly Measurement[]): number {
  const calls = measurements.reduce((sum, measurement) => sum + measurement.latenciesMs.length, 0)
  return measurements.reduce((sum, measurement) => sum + measurement.processorMs, 0) / calls
}

/** Returns NaN on systems that do not report CPU time like Linux. */
async function processorMs(pid: number): Promise<number> {
  return processorSeconds(pid).then(
    (seconds) => seconds * 1000,
    () => Number.NaN,
  )
}
