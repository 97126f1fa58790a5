import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One run of a job by one or more runners. */
export type MeasuredRun = {
  readonly runners: number
  /** Number of purchases by outcome. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly seconds: number
  /** CPU seconds of all runner processes, including their start. */
  readonly processorSeconds: number
  /** Highest anonymous memory of one runner after any batch, in MiB. */
  readonly memoryMiB: number
  /** Durations of the batches of the runner with the most batches. */
  readonly batchSeconds: readonly number[]
}

/** Measurements that one runner reports about itself. */
export type RunnerResult = Omit<MeasuredRun, 'runners'>

const program = fileURLToPath(new URL('../../../dist/bench/billing-run/main.js', import.meta.url))

/** Runs the job at a given time, in the given number of processes with the settings of the services. */
export async function measureRun(
  job: string,
  at: Date,
  runners: number,
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredRun> {
  const starting = Array.from({ length: runners }, () => runOne(job, at, environment))
  const runs = await Promise.all(starting)
  const outcomes: Record<string, number> = {}
  for (const [name, count] of runs.flatMap((run) => Object.entries(run.outcomes))) {
    outcomes[name] = (outcomes[name] ?? 0) + count
  }
  return {
    runners,
    outcomes,
    seconds: Math.max(...runs.map(({ seconds }) => seconds)),
    processorSeconds: runs.reduce((sum, run) => sum + run.processorSeconds, 0),
    memoryMiB: Math.max(...runs.map(({ memoryMiB }) => memoryMiB)),
    batchSeconds: longestOf(runs.map(({ batchSeconds }) => batchSeconds)),
  }
}

function longestOf(lists: readonly (readonly number[])[]): readonly number[] {
  return lists.reduce((longest, list) => (list.length > longest.length ? list : longest), [])
}

async function runOne(
  job: string,
  at: Date,
  environment: Readonly<Record<string, string>>,
): Promise<RunnerResult> {
  const child = fork(program, [job, at.toISOString()], {
    env: { ...environment },
    execArgv: ['--enable-source-maps'],
  })
  const ended = once(child, 'exit')
  let measured: RunnerResult | undefined
  child.once('message', (message) => (measured = message as RunnerResult))
  await ended
  if (measured === undefined) throw new Error(`The run of ${job} ended without a result`)
  return measured
}
