import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Lanes } from '../money/lanes.ts'
import { RunProgress } from '../run-progress.ts'
import { playBatch, type Fault } from './play-batch.ts'
import { anySequence, pauses } from './step.ts'

/*
 * In random order, customers of one market activate plans, change, cancel, are refunded, dispute, owe, and use what the limit check
 * admits. In every sequence, everything admitted is paid or promised, and nothing is charged twice.
 */

const configured = process.env['TOLLGATE_TEST_SEQUENCES']
const sequencesMax = Number(configured ?? 50)
const configuredSeed = process.env['TOLLGATE_TEST_SEED']

/** Number of sequences that share one clock. */
const batchSize = 100

const rounds = 3

/** A run that continues where it was stopped. Short runs and replays of a seed begin anew. */
const progress =
  configured === undefined || configuredSeed !== undefined
    ? undefined
    : RunProgress.open('sequences', sequencesMax)

/** The sequences are the same in each run, unless a number of sequences is set. */
const firstSeed = progress?.firstSeed ?? Number(configuredSeed ?? 14)

/**
 * Number of sequences per test, so that no test takes so long that the run counts as hanging. Each test has its own databases, because
 * the checks get slower with every sequence in them.
 */
const sequencesEach = 1_000

/** Batches that are played at the same time. A batch often waits for PostgreSQL. */
const lanesMax = sequencesMax > batchSize ? 2 : 1

const starts = Array.from(
  { length: Math.ceil(sequencesMax / sequencesEach) },
  (_, test) => test * sequencesEach,
)

test.each(starts)(
  'never yields more than one price pays for, and never charges twice (from %i)',
  { timeout: 6 * 3_600_000 },
  async (start) => {
    const batches = batchesFrom(start).filter(
      ({ seed, numRuns }) => progress?.hasPassed(seed, numRuns) !== true,
    )
    if (batches.length === 0) return
    const lanes = await Lanes.open(Math.min(lanesMax, batches.length))
    try {
      const played = batches.map(({ seed, numRuns }) =>
        lanes.run(async (stores) => {
          const faults = await playBatch(stores, ...drawn(seed, numRuns))
          progress?.end(seed, numRuns, faults.length === 0)
          // The run goes on with other batches, so the faults are printed now.
          if (faults.length > 0) console.error(`seed ${seed}`, faults)
          return faults.map((fault): Fault & { seed: number } => ({ seed, ...fault }))
        }),
      )
      const faults = (await Promise.all(played)).flat()
      expect(faults, `sequences of seed ${faults[0]?.seed}`).toEqual([])
    } finally {
      await lanes.stop()
    }
  },
)

type Batch = { readonly seed: number; readonly numRuns: number }

function batchesFrom(start: number): Batch[] {
  const end = Math.min(start + sequencesEach, sequencesMax)
  const count = Math.ceil((end - start) / batchSize)
  return Array.from({ length: count }, (_, at) => {
    const from = start + at * batchSize
    return { seed: firstSeed + from, numRuns: Math.min(batchSize, end - from) }
  })
}

/** Returns the sequences of a seed, and the hours between their rounds. */
function drawn(seed: number, numRuns: number) {
  const sequences = fc.sample(anySequence(rounds), { seed, numRuns })
  const anyPauses = fc.array(fc.constantFrom(...pauses), { minLength: rounds, maxLength: rounds })
  const [hours] = fc.sample(anyPauses, { seed, numRuns: 1 })
  return [sequences, hours!] as const
}
