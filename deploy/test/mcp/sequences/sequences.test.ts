import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { play } from './play.ts'
import { anySequence, type Sequence } from './step.ts'
import { World } from './world.ts'

/*
 * In random order, customers of MCP servers call tools, answer questions, disconnect, repeat and forge calls, and change plans, and
 * providers change their tools. In every sequence, executed calls are recorded once, refused calls are not executed, and no cap is
 * exceeded.
 */

const { numRuns: sequencesMax, seed: firstSeed } = randomRuns(
  12,
  process.env['TOLLGATE_TEST_MCP_SEQUENCES'],
)

/** Number of sequences that share one clock. */
const batchSize = 40

const rounds = 2

const world = await World.start()
afterAll(() => world.stop())

test(
  'records exactly the served calls for every sequence of calls',
  { timeout: 7_200_000 },
  async () => {
    for (let played = 0; played < sequencesMax; played += batchSize) {
      const seed = firstSeed + played
      const numRuns = Math.min(batchSize, sequencesMax - played)
      const sequences = fc.sample(anySequence(rounds), { seed, numRuns })
      expect(await play(world, sequences), `seed ${seed}`).toEqual([])
    }
  },
)

const by = { who: 0, proxy: 0 }
const repeat = { ...by, do: 'repeat', tool: 'basic', era: 'stateless', inTurn: false } as const

const call = { ...by, do: 'call', tool: 'basic', opensUrls: false } as const
const keyed = { ...call, ending: 'result', key: 0 } as const
const inSession = { ...call, era: 'sessions', key: null } as const

/* Sequences that broke a rule of the service or of its model in the past. */
test.each<[string, Sequence]>([
  [
    'leaves the remaining units to later calls after free repeats of a key',
    [
      [
        { ...repeat, ending: 'tool error', key: 1, count: 6 },
        { ...by, do: 'batch', tools: ['basic', 'basic'] },
        { ...repeat, ending: 'result', key: 0, count: 4 },
        { ...by, do: 'calls at once', tool: 'basic', count: 4 },
      ],
    ],
  ],
  [
    'leaves the last unit to repeats of a key by the proxy that knows it',
    [
      [
        { ...by, do: 'batch', tools: ['basic', 'pro', 'pro', 'basic'] },
        { ...repeat, ending: 'result', key: 0, count: 4, proxy: 1 },
      ],
    ],
  ],
  [
    'leaves the unit of a key that another proxy knows',
    [
      [
        { ...repeat, ending: 'result', key: 0, count: 4, inTurn: true },
        { ...by, do: 'restart proxy' },
        { ...repeat, ending: 'result', key: 0, count: 2 },
        { ...by, do: 'batch', tools: ['basic', 'basic'] },
        { ...by, do: 'calls at once', tool: 'basic', count: 4 },
      ],
    ],
  ],
  [
    'serves calls of a session after calls that were cancelled or not answered',
    [
      [
        { ...by, do: 'hang up', tool: 'basic', era: 'sessions' },
        { ...inSession, ending: 'result' },
        { ...inSession, ending: 'broken stream' },
        { ...inSession, ending: 'result' },
        { ...inSession, ending: 'status 500' },
        { ...inSession, ending: 'result' },
      ],
    ],
  ],
  [
    'keeps the access of tools that the MCP server no longer lists',
    [
      [
        { ...by, do: 'configure', configuration: 'drop', tool: 'open' },
        { ...call, tool: 'open', era: 'stateless', ending: 'result', key: null },
        { ...by, do: 'configure', configuration: 'drop', tool: 'pro' },
        { ...by, do: 'change', change: 'buy pro' },
        { ...call, tool: 'pro', era: 'stateless', ending: 'result', key: null },
      ],
    ],
  ],
  [
    'counts a key once for each version and for each set of capabilities that the MCP server reads',
    [
      [
        { ...keyed, era: 'stateless' },
        { ...keyed, era: 'sessions' },
        { ...keyed, era: 'stateless', opensUrls: true },
        { ...keyed, era: 'stateless' },
        { ...keyed, era: 'sessions', opensUrls: true },
      ],
    ],
  ],
])('%s', async (_, sequence) => {
  expect(await play(world, [sequence])).toEqual([])
})
