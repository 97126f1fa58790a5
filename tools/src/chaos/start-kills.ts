import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../client/seeded-random.ts'
import { startInstance, type Instance, type InstanceOptions } from '../instance/instance.ts'
import { killProcess, killTree, processTree } from '../instance/process-tree.ts'
import { runningProcesses } from '@tollgate/deploy/standalone/running-processes'

export type StartKills = {
  /** Maximum number of kills during one start. */
  readonly killsMax: number
  /** Fraction of kills that affect the whole process tree. */
  readonly treeShare: number
  /** Called with the name of each killed process. */
  readonly onKill: (name: string) => void
}

/** Maximum pause before a kill. A start takes several seconds, so kills at random moments affect each of its steps. */
const pauseMsMax = 2_500
const startTimeoutMs = 300_000

/**
 * Starts an installation while its processes are killed at random moments. Sometimes the whole process tree is killed, and the
 * installation is then started again. Rejects if it does not become ready.
 */
export async function startUnderKills(
  options: InstanceOptions,
  random: SeededRandom,
  kills: StartKills,
): Promise<Instance> {
  for (let killsLeft = kills.killsMax; ; killsLeft -= 1) {
    const started = new AbortController()
    let killing: Promise<'tree' | undefined> | undefined
    const outcome = await startInstance({
      ...options,
      startTimeoutMs,
      onSpawned: (pid) => {
        killing = killDuring(pid, started.signal, random, { ...kills, killsMax: killsLeft })
      },
    }).catch((error: unknown) => ({ error }))
    started.abort()
    const killed = await killing
    if (!('error' in outcome)) return outcome
    if (killed !== 'tree') throw outcome.error
  }
}

async function killDuring(
  supervisorPid: number,
  started: AbortSignal,
  random: SeededRandom,
  { killsMax, treeShare, onKill }: StartKills,
): Promise<'tree' | undefined> {
  for (let kills = 0; kills < killsMax;) {
    await sleep(random.integer(0, pauseMsMax), undefined, { signal: started }).catch(
      () => undefined,
    )
    if (started.aborted) return undefined
    if (random.chance(treeShare)) {
      onKill('tree')
      await killTree(supervisorPid)
      return 'tree'
    }
    const tree = await processTree(supervisorPid)
    const parts = await runningProcesses(tree.filter((pid) => pid !== supervisorPid))
    if (started.aborted) return undefined
    if (parts.length === 0) continue
    const { pid, command } = random.pick(parts)
    killProcess(pid)
    kills += 1
    onKill(nameOf(command))
  }
  return undefined
}

function nameOf(command: string): string {
  return (
    /([\w-]+)\/dist\//.exec(command)?.[1] ?? /^(?:\S*\/)?([\w-]+)/.exec(command)?.[1] ?? command
  )
}
