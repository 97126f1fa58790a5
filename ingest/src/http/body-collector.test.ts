import { describe, expect, it } from 'vitest'
import { BodyBudget, BodyCollector } from './body-collector.ts'

const limits = { bodyBytesMax: 10_000, discardedBytesMax: 30_000, collectedBytesMax: 20_000 }
const none = Number.NaN

describe('collecting a body', () => {
  it('keeps the pieces in order and does not keep their memory', () => {
    const collector = new BodyCollector(limits, new BodyBudget(40_000), none)
    const piece = Buffer.from('abc')
    collector.add(piece)
    piece.fill('x')
    collector.add(Buffer.from('def'))
    expect(collector.bytes().toString()).toBe('abcdef')
  })

  it('reserves memory for about the size of the body, however small the pieces and however large the announced length', () => {
    const budget = new BodyBudget(1_000_000)
    const collector = new BodyCollector({ ...limits, bodyBytesMax: 1_000_000 }, budget, 900_000)
    expect(budget.reserved).toBe(0)
    for (let index = 0; index < 5_000; index++) collector.add(Buffer.from('x'))
    expect(collector.bytes().byteLength).toBe(5_000)
    expect(budget.reserved).toBe(8_192)
  })

  it.each([
    [10_000, false],
    [10_001, true],
  ])('refuses a body of %i bytes: %s', (bytes, isRefused) => {
    const collector = new BodyCollector(limits, new BodyBudget(40_000), none)
    for (let at = 0; at < bytes; at += 1_000) {
      collector.add(Buffer.alloc(Math.min(1_000, bytes - at)))
    }
    expect(collector.refusal?.status).toBe(isRefused ? 413 : undefined)
  })

  it('refuses a body that is announced as too large before its first byte', () => {
    const collector = new BodyCollector(limits, new BodyBudget(20_000), 10_001)
    expect(collector.refusal?.status).toBe(413)
  })

  it('exceeds the discard limit once more bytes than that were discarded', () => {
    const budget = new BodyBudget(20_000)
    const collector = new BodyCollector(limits, budget, none)
    collector.add(Buffer.alloc(30_000))
    expect([collector.refusal?.status, collector.exceedsDiscardLimit]).toEqual([413, false])
    collector.add(Buffer.alloc(1))
    expect(collector.exceedsDiscardLimit).toBe(true)
    expect(budget.reserved).toBe(0)
  })

  it('exceeds the discard limit immediately if the announced length does', () => {
    const collector = new BodyCollector(limits, new BodyBudget(20_000), 30_001)
    expect(collector.exceedsDiscardLimit).toBe(true)
    expect(new BodyCollector(limits, new BodyBudget(20_000), 30_000).exceedsDiscardLimit).toBe(
      false,
    )
  })

  it('is refused with 503 when all bodies together reserve too much memory, and releases its memory', () => {
    const budget = new BodyBudget(12_000)
    const first = new BodyCollector(limits, budget, none)
    const second = new BodyCollector(limits, budget, none)
    first.add(Buffer.alloc(8_000))
    second.add(Buffer.alloc(8_000))
    expect([first.refusal?.status, second.refusal?.status]).toEqual([undefined, 503])
    first.release()
    first.release()
    expect(budget.reserved).toBe(0)
  })
})
