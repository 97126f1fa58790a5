import type { Instance } from '../instance/instance.ts'
import { ownBytes } from '../instance/process-tree.ts'

export type ServiceWatch = {
  /** Stops the watch. Returns the problems: services that kept growing or died. */
  end(): Promise<readonly string[]>
  /** Returns the memory of a service at the start of the watch, at its maximum and now. */
  memoryText(service: string): string
}

type Sample = Readonly<Record<string, number>>

const watched = [
  'ingest',
  'control-plane',
  'billing-runner',
  'webhook-dispatcher',
  'mcp-proxy',
  'aggregator-counters',
  'aggregator-sink',
  'chdb-gateway',
]
const sampleEveryMs = 5_000
/** A service has grown if its size exceeds its size after the first third by this factor plus the allowance. */
const growthMax = 1.5
const allowanceBytes = 64 * 1_048_576

/** Samples the memory of all services at intervals, and prints it together with the progress of the caller. */
export async function watchServices(
  instance: Instance,
  progress: () => string,
  print: (line: string) => void,
): Promise<ServiceWatch> {
  const { processes } = await instance.runFile()
  const samples: Sample[] = []
  const take = async (): Promise<Sample> => {
    const sample = await sampleMemory(processes)
    samples.push(sample)
    return sample
  }
  await take()
  const ticker = setInterval(() => {
    void take().then((sample) => print(`${progress()}  ${sampleText(sample)}`))
  }, sampleEveryMs)
  return {
    async end() {
      clearInterval(ticker)
      await take()
      const problems = growing(samples).map((service) => `${service} keeps growing`)
      const after = (await instance.runFile()).processes
      for (const [service, pid] of Object.entries(processes)) {
        if (after[service] !== pid) problems.push(`${service} died and was started again`)
      }
      return problems
    },
    memoryText(service) {
      const sizes = samples.map((sample) => sample[service] ?? 0)
      const [first = 0, last = 0] = [sizes[0], sizes.at(-1)]
      return `${service} ${megabytes(first)}, at most ${megabytes(Math.max(...sizes))}, at the end ${megabytes(last)}`
    },
  }
}

async function sampleMemory(processes: Readonly<Record<string, number>>): Promise<Sample> {
  const bytes: Record<string, number> = {}
  for (const service of watched) {
    const pid = processes[service]
    if (pid !== undefined) bytes[service] = await ownBytes(pid)
  }
  return bytes
}

/** Returns the services that kept growing after their warm-up. */
function growing(samples: readonly Sample[]): string[] {
  const warm = samples[Math.floor(samples.length / 3)]
  const last = samples.at(-1)
  if (!warm || !last) return []
  return watched.filter((service) => {
    return (last[service] ?? 0) > (warm[service] ?? 0) * growthMax + allowanceBytes
  })
}

function sampleText(sample: Sample): string {
  return Object.entries(sample)
    .map(([service, size]) => `${service} ${megabytes(size)}`)
    .join('  ')
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`
}
