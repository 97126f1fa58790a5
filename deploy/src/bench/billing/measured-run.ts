import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One run of a job. */
export type MeasuredRun = {
  /** How many purchases had each outcome. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly seconds: number
  /** Of the runner's process, start included. */
  readonly processorSeconds: number
  /** The most it had of its own after any batch. */
  readonly memoryMiB: number
  readonly batchSeconds: readonly number[]
}

const program = fileURLToPath(new URL('../../../dist/bench/billing-run/main.js', import.meta.url))

/** Runs the job at that time, in a process of its own with the settings of the services. */
export async function measureRun(
  job: string,
  at: Date,
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredRun> {
  const child = fork(program, [job, at.toISOString()], {
    env: { ...environment },
    execArgv: ['--enable-source-maps'],
  })
  const ended = once(child, 'exit')
  let measured: MeasuredRun | undefined
  child.once('message', (message) => (measured = message as MeasuredRun))
  await ended
  if (measured === undefined) throw new Error(`the run of ${job} came to no end`)
  return measured
}
