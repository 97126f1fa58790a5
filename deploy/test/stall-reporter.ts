import { readFile, readdir } from 'node:fs/promises'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Minutes after which a run without an ended test hangs. In `npm test`, no test takes longer than 10 minutes. The commands for full
 * sizes set more.
 */
const silenceMinutesMax = Number(process.env['TOLLGATE_TEST_SILENCE_MINUTES_MAX'] ?? 11)

/** Milliseconds that a run may take to report its end after its processes were killed. */
const endMaxMs = 60_000

/**
 * Ends a run that hangs, and reports where. A test that waits too long is ended by its own timeout. A test that blocks its process,
 * or a process that never reports back, would otherwise hang forever.
 */
export default class StallReporter implements Reporter {
  readonly #running = new Map<TestModule, TestCase | undefined>()
  #timer: NodeJS.Timeout | undefined

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module, undefined)
    this.#heard()
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.set(test.module, test)
    this.#heard()
  }

  onTestCaseResult(): void {
    this.#heard()
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module)
    this.#heard()
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer)
  }

  #heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#end(), silenceMinutesMax * 60_000)
    this.#timer.unref()
  }

  /**
   * Reports which tests hang, then kills their processes, which Vitest reports as a failure. Ends this process if even that hangs.
   */
  async #end(): Promise<void> {
    console.error(`No test has ended for ${silenceMinutesMax} minutes. Still running:`)
    for (const [module, test] of this.#running) {
      console.error(`  ${module.relativeModuleId}: ${test?.fullName ?? 'before its first test'}`)
    }
    const processes = await listProcesses()
    const workers = processes.filter(({ parent }) => parent === process.pid)
    for (const line of await describeTrees(workers, processes)) console.error(line)
    for (const { pid } of workers) process.kill(pid, 'SIGKILL')
    setTimeout(() => process.exit(1), endMaxMs).unref()
  }
}

interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

/** Returns all processes on Linux, and an empty list on other systems. */
async function listProcesses(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const entries = pids.map(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const [state = '?', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(pid), parent: Number(parent), state }
  })
  return Promise.all(entries)
}

/** Returns a line for each of the processes and their descendants: its command, and what its threads wait for. */
async function describeTrees(
  roots: readonly ProcessEntry[],
  all: readonly ProcessEntry[],
): Promise<string[]> {
  const lines = roots.map(async (root) => {
    const children = all.filter(({ parent }) => parent === root.pid)
    return [await describe(root), ...(await describeTrees(children, all))]
  })
  return (await Promise.all(lines)).flat()
}

async function describe({ pid, state }: ProcessEntry): Promise<string> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const waits = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/wchan`, 'utf8').catch(() => '?')),
  )
  const shortCommand = command.replaceAll('\0', ' ').slice(0, 160)
  return `  process ${pid} (${state}) ${shortCommand}: ${waits.join(' ')}`
}
