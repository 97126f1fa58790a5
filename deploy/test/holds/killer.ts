import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../../tools/src/client/seeded-random.ts'
import type { Instance } from '../../../tools/src/instance/instance.ts'
import { killProcess } from '../../../tools/src/instance/process-tree.ts'
import type { HoldStory } from './hold-caller.ts'

const services = ['ingest', 'aggregator-counters', 'control-plane'] as const
/**
 * The supervisor waits longer before each restart of a service that ended soon. So after a few kills, all processes are killed at
 * once and the installation is started again.
 */
const killsPerStart = 6
const pauseMs = { min: 100, max: 1_500 }

/** Kills services of an installation one after the other, and sometimes all processes at once. */
export class Killer {
  instance: Instance
  kills = 0
  readonly #start: () => Promise<Instance>

  constructor(instance: Instance, start: () => Promise<Instance>) {
    this.instance = instance
    this.#start = start
  }

  /** Kills until the stories have ended. Their ledgers must know when counters are killed. */
  async killDuring(
    playing: Promise<unknown>,
    random: SeededRandom,
    stories: readonly HoldStory[],
  ): Promise<void> {
    const over = new AbortController()
    const ended = playing.finally(() => over.abort())
    const killing = this.#kill(random, over.signal, () => {
      for (const { ledger } of stories) ledger.countersKilled(Date.now())
    })
    await Promise.all([ended, killing])
  }

  async #kill(random: SeededRandom, over: AbortSignal, onCounters: () => void): Promise<void> {
    while (!over.aborted) {
      const service = random.pick(services)
      await sleep(random.integer(pauseMs.min, pauseMs.max))
      if (over.aborted) return
      this.kills += 1
      if (this.kills % killsPerStart === 0) {
        await this.instance.kill()
        onCounters()
        this.instance = await this.#start()
        continue
      }
      const pid = await this.#pidOf(service)
      if (pid !== undefined) killProcess(pid)
      if (service === 'aggregator-counters') onCounters()
      while (!over.aborted && (await this.#pidOf(service)) === pid) await sleep(20)
    }
  }

  async #pidOf(service: string): Promise<number | undefined> {
    return (await this.instance.runFile()).processes[service]
  }
}
