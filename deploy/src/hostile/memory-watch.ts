import { residentBytes } from '../instance/process-tree.ts'
import type { RunFile } from '../standalone/run-file.ts'

export type MemorySample = {
  readonly requests: number
  readonly bytes: Readonly<Record<string, number>>
}

const watched = [
  'ingest',
  'control-plane',
  'aggregator-counters',
  'aggregator-sink',
  'chdb-gateway',
]

export async function sampleMemory(
  { processes }: RunFile,
  requests: number,
): Promise<MemorySample> {
  const bytes: Record<string, number> = {}
  for (const service of watched) {
    const pid = processes[service]
    if (pid !== undefined) bytes[service] = await residentBytes([pid])
  }
  return { requests, bytes }
}

/** Above this share of its size after the first third, plus the allowance, a service has grown. */
const growthMax = 1.5
const allowanceBytes = 64 * 1_048_576

/** Services that went on growing after they were warm. */
export function growing(samples: readonly MemorySample[]): string[] {
  const warm = samples[Math.floor(samples.length / 3)]
  const last = samples.at(-1)
  if (!warm || !last) return []
  return watched.filter((service) => {
    const before = warm.bytes[service] ?? 0
    return (last.bytes[service] ?? 0) > before * growthMax + allowanceBytes
  })
}

export function sampleText({ requests, bytes }: MemorySample): string {
  const sizes = Object.entries(bytes).map(
    ([service, size]) => `${service} ${Math.round(size / 1_048_576)} MB`,
  )
  return `${String(requests).padStart(9)} requests  ${sizes.join('  ')}`
}
