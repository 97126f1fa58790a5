import cliProgress from 'cli-progress'
import { totalsOf, type CustomerTally } from './tally.ts'

const refreshMs = 250
const linesEveryMs = 5_000

/** Shows a progress bar while `work` runs, or prints a line every few seconds if the output is not a terminal. */
export async function showSending<Result>(
  seconds: number,
  tallies: readonly CustomerTally[],
  work: () => Promise<Result>,
): Promise<Result> {
  const bar = createBar(
    'sending   {bar} {value}/{total} s | sent {sent} | acked {acked} | denied {denied}',
  )
  const startedAtMs = Date.now()
  const update = (): void => {
    const elapsed = Math.round((Date.now() - startedAtMs) / 1000)
    bar.update(Math.min(seconds, elapsed), { ...totalsOf(tallies) })
  }
  bar.start(seconds, 0, { ...totalsOf(tallies) })
  const ticker = setInterval(update, refreshMs)
  try {
    return await work()
  } finally {
    clearInterval(ticker)
    update()
    bar.stop()
  }
}

export async function showComparing<Result>(
  customers: number,
  work: (onCompared: () => void) => Promise<Result>,
): Promise<Result> {
  const bar = createBar('comparing {bar} {value}/{total} customers')
  bar.start(customers, 0)
  try {
    return await work(() => bar.increment())
  } finally {
    bar.stop()
  }
}

function createBar(format: string): cliProgress.SingleBar {
  return new cliProgress.SingleBar(
    { format, noTTYOutput: true, notTTYSchedule: linesEveryMs, hideCursor: true },
    cliProgress.Presets.shades_classic,
  )
}
