import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLane, LaneClosedError, LaneFullError } from './lane.ts'

describe('a lane', () => {
  it('runs work in order, and never more than its width at once', async () => {
    const lane = createLane(2, 100)
    const begun: number[] = []
    let running = 0
    let widest = 0
    await Promise.all(
      Array.from({ length: 20 }, (_, each) =>
        lane.run(async () => {
          begun.push(each)
          widest = Math.max(widest, (running += 1))
          await sleep(1)
          running -= 1
        }),
      ),
    )
    expect(begun).toEqual(Array.from({ length: 20 }, (_, each) => each))
    expect(widest).toBe(2)
  })

  it('refuses work beyond its queue at once, and accepts work again afterwards', async () => {
    const lane = createLane(1, 1)
    const first = lane.run(() => sleep(10, 'first'))
    const second = lane.run(() => sleep(1, 'second'))
    await expect(lane.run(() => sleep(1))).rejects.toThrow(LaneFullError)
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
    expect(await lane.run(() => Promise.resolve('third'))).toBe('third')
  })

  it('runs the next work after a failure', async () => {
    const lane = createLane(1, 1)
    await expect(lane.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await lane.run(() => Promise.resolve('well'))).toBe('well')
  })

  it('closes when running work has ended, and refuses waiting work', async () => {
    const lane = createLane(1, 1)
    let isDone = false
    const running = lane.run(async () => {
      await sleep(20)
      isDone = true
    })
    const waiting = lane.run(() => Promise.resolve())
    const refused = expect(waiting).rejects.toThrow(LaneClosedError)
    await lane.close()
    expect(isDone).toBe(true)
    await Promise.all([running, refused])
    await expect(lane.run(() => Promise.resolve())).rejects.toThrow(LaneClosedError)
  })
})
