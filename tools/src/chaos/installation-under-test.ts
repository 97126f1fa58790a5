import type { SeededRandom } from '../client/seeded-random.ts'
import { keepClickHouseCopy } from '../instance/disk-faults.ts'
import { startInstance, type Instance, type InstanceOptions } from '../instance/instance.ts'
import { killProcess } from '../instance/process-tree.ts'
import { startUnderKills } from './start-kills.ts'

type OlderCopy = { putBack(): Promise<void> }

/** An installation that is killed and started again. It counts its kills by the name of the killed process. */
export class InstallationUnderTest {
  readonly kills = new Map<string, number>()
  readonly #options: InstanceOptions
  #instance: Instance
  /** Copy of ClickHouse's folder, until it is used. */
  #olderCopy: OlderCopy | undefined

  private constructor(options: InstanceOptions, instance: Instance) {
    this.#options = options
    this.#instance = instance
  }

  static async start(options: InstanceOptions): Promise<InstallationUnderTest> {
    return new InstallationUnderTest(options, await startInstance(options))
  }

  get dataDir(): string {
    return this.#options.dataDir
  }

  get credentials(): Instance['credentials'] {
    return this.#instance.credentials
  }

  /** Kills the whole process tree and starts it again. `whileDown` may change the data folder in between. */
  async killTree(whileDown: () => Promise<void> = async () => {}): Promise<void> {
    await this.#killTree()
    await whileDown()
    this.#olderCopy ??= await keepClickHouseCopy(this.dataDir)
    this.#instance = await startInstance(this.#options)
  }

  /** Kills the whole process tree, and kills processes again during the start. */
  async killDuringStart(random: SeededRandom, killsMax: number): Promise<void> {
    await this.#killTree()
    this.#instance = await startUnderKills(this.#options, random, {
      killsMax,
      treeShare: 0.15,
      onKill: (name) => this.#count(`${name} at start`),
    })
  }

  /** Kills the whole process tree and starts it with the ClickHouse of an earlier kill, which lacks newer rows. */
  async restoreOlderClickHouse(): Promise<void> {
    const copy = this.#olderCopy
    if (copy === undefined) throw new Error('No older copy of ClickHouse was kept')
    this.#olderCopy = undefined
    await this.killTree(() => copy.putBack())
  }

  get hasOlderCopy(): boolean {
    return this.#olderCopy !== undefined
  }

  async killService(name: string): Promise<void> {
    killProcess(await this.pidOf(name))
    this.#count(name)
  }

  async pidOf(name: string): Promise<number> {
    const { processes } = await this.#instance.runFile()
    const pid = processes[name]
    if (pid !== undefined) return pid
    throw new Error(`No service ${name}; there are ${Object.keys(processes).join(', ')}`)
  }

  /** Returns the environment with which the services run now. */
  async environment(): Promise<Readonly<Record<string, string>>> {
    return (await this.#instance.runFile()).environment
  }

  async stop(): Promise<void> {
    await this.#instance.stop()
  }

  async end(): Promise<void> {
    await this.#instance.kill()
  }

  async #killTree(): Promise<void> {
    await this.#instance.kill()
    this.#count('tree')
  }

  #count(name: string): void {
    this.kills.set(name, (this.kills.get(name) ?? 0) + 1)
  }
}
