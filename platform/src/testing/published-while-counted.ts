import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HotState } from '../hot-state/hot-state.ts'
import {
  apply,
  publicationArbitrary,
  publish,
  readAll,
  useArbitrary,
} from './uses-and-publications.ts'

/** A publication takes several steps. Usage that is counted between them has the same result as before or after. */
export function describePublishedWhileCounted(hotState: () => HotState): void {
  it('counts the same while entries are published as after', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(useArbitrary, { maxLength: 80, size: 'max' }),
        fc.array(publicationArbitrary, { maxLength: 8, size: 'max' }),
        async (uses, publications) => {
          const hot = hotState()
          const [after, meanwhile] = [`after ${round}`, `meanwhile ${round}`]
          round += 1
          const publishAll = async (world: string): Promise<void> => {
            for (const time of ['early', 'meanwhile', 'late'] as const) {
              await publish(hot, world, publications, time)
            }
          }
          await publishAll(after)
          await apply(hot, after, 0, uses)

          const waiting = uses.slice(0, 40)
          await apply(hot, meanwhile, 0, waiting)
          const publishing = publishAll(meanwhile)
          for (let offset = waiting.length; offset < uses.length; offset += 3) {
            await apply(hot, meanwhile, offset, uses.slice(offset, offset + 3))
          }
          await publishing
          const views = await Promise.all([readAll(hot, after), readAll(hot, meanwhile)])
          const [expected, found] = views.map((ofWorld) =>
            ofWorld.map(({ document, amounts }) => ({ document, amounts })),
          )
          expect(found).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  }, 120_000)
}
