import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sealedSegments } from '@tollgate/platform/chaos/damage-segment'
import type { SeededRandom } from '../client/seeded-random.ts'
import { damageOldSegment } from '../instance/disk-faults.ts'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'
import type { InstallationUnderTest } from './installation-under-test.ts'

export type FaultContext = {
  readonly installation: InstallationUnderTest
  readonly countersStoppedMs: number
  readonly timeoutMs: number
  /** Pauses the load until ClickHouse contains everything acknowledged, then resumes it. */
  readonly waitUntilStored: () => Promise<void>
}

type Damage = {
  /** Short description of the fault. */
  readonly detail: string
  /** Repairs, after the sums of the round are compared, damage that the installation cannot repair itself. */
  readonly undo?: () => void
}

type Fault = (faultContext: FaultContext, random: SeededRandom) => Promise<Damage>

/** Services that can be killed separately. */
export const services = [
  'aggregator-counters',
  'aggregator-sink',
  'chdb-gateway',
  'ingest',
  'control-plane',
  'billing-runner',
  'webhook-dispatcher',
  'mcp-proxy',
  'postgres',
] as const

const killsPerStart = 4
const copyAgeMs = { min: 500, max: 3_000 }
const sealedPollMs = 100

const faults: Readonly<Record<string, Fault>> = {
  tree: async ({ installation }) => {
    await installation.killTree()
    return { detail: '' }
  },
  'kills during start': async ({ installation }, random) => {
    const before = totalKills(installation)
    await installation.killDuringStart(random, killsPerStart)
    return { detail: `${totalKills(installation) - before} kills` }
  },
  'counters stopped': stopCounters,
  'older ClickHouse': restoreOlderClickHouse,
  'damaged segment': damageSegment,
}

export const faultNames: readonly string[] = [...Object.keys(faults), ...services]

export function losesHotState(fault: string): boolean {
  return fault === 'damaged segment'
}

/** Causes the fault, and resolves when the installation is running again. The supervisor starts a killed service again. */
export async function causeFault(
  name: string,
  faultContext: FaultContext,
  random: SeededRandom,
): Promise<Damage> {
  const fault = faults[name]
  if (fault !== undefined) return await fault(faultContext, random)
  await faultContext.installation.killService(name)
  return { detail: '' }
}

export function totalKills({ kills }: InstallationUnderTest): number {
  return [...kills.values()].reduce((sum, each) => sum + each, 0)
}

/** Stops counting while usage is recorded and limits are checked. */
async function stopCounters({ installation, countersStoppedMs }: FaultContext): Promise<Damage> {
  const pid = await installation.pidOf('aggregator-counters')
  process.kill(pid, 'SIGSTOP')
  try {
    await sleep(countersStoppedMs)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return { detail: `for ${countersStoppedMs / 1000} s` }
}

/** Simulates a power loss or a restored backup: ClickHouse lacks rows that are stored according to the sink's position. */
async function restoreOlderClickHouse(
  { installation }: FaultContext,
  random: SeededRandom,
): Promise<Damage> {
  if (!installation.hasOlderCopy) {
    await installation.killTree()
    await sleep(random.integer(copyAgeMs.min, copyAgeMs.max))
  }
  await installation.restoreOlderClickHouse()
  return { detail: '' }
}

/**
 * Damages a segment of the log whose records are stored, and deletes hot state, so that the counts must be rebuilt from ClickHouse.
 * The damage is undone after the round. Otherwise a later round with an older ClickHouse would lack records that exist in no store.
 */
async function damageSegment(
  { installation, timeoutMs, waitUntilStored }: FaultContext,
  random: SeededRandom,
): Promise<Damage> {
  const { dataDir } = installation
  const { log, hot } = dataFolderAt(dataDir)
  const deadline = performance.now() + timeoutMs
  while (sealedSegments(log).length === 0) {
    if (performance.now() > deadline) throw new Error('The load does not fill a segment of the log')
    await sleep(sealedPollMs)
  }
  const index = random.integer(0, sealedSegments(log).length - 1)
  const at = random.pick([0, 0.3, 0.6])
  const damage = (): void => void damageOldSegment(dataDir, { index, at })
  await waitUntilStored()
  await installation.killTree(async () => {
    damage()
    await rm(hot, { recursive: true })
  })
  const where = at === 0 ? 'its header' : `at ${at * 100} %`
  return { detail: `${index + 1} of ${sealedSegments(log).length}, ${where}`, undo: damage }
}
