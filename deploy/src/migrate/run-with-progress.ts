import cliProgress from 'cli-progress'
import type { Work } from './work.ts'

const lineIntervalMs = 5_000

/**
 * Shows a progress bar while a step runs, or prints a line every few seconds if the output is not a terminal. Shows nothing if the
 * step has no work.
 */
export async function runWithProgress(
  title: string,
  unit: string,
  signal: AbortSignal,
  step: (work: Work) => Promise<void>,
): Promise<void> {
  const format = `${title.padEnd(28)} {bar} {value}/{total} ${unit}`
  const bar = new cliProgress.SingleBar(
    { format, noTTYOutput: true, notTTYSchedule: lineIntervalMs, hideCursor: true },
    cliProgress.Presets.shades_classic,
  )
  let total = 0
  const expect = (amount: number): void => {
    if (amount === 0) return
    if (total === 0) bar.start(amount, 0)
    bar.setTotal((total += amount))
  }
  try {
    await step({ signal, expect, advance: (amount) => bar.increment(amount) })
  } finally {
    if (total > 0) bar.stop()
  }
}
