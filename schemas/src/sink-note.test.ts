import { expect, it } from 'vitest'
import {
  closeBatchIn,
  firstNote,
  insertToken,
  moveBackIn,
  openBatchIn,
  readSinkNote,
  writeSinkNote,
  type SinkNote,
} from './sink-note.ts'

const closed = { ...firstNote('m'), comparedIncarnation: 'table/first' }
const open = openBatchIn(closed, 12, 1_700_000_000_000)

it('reads the notes that it writes', () => {
  const notes: SinkNote[] = [
    firstNote('m'),
    open,
    { ...open, furtherTokens: 2, hasMovedRecords: true },
    { ...closed, storeAgainTo: 30 },
    { ...open, storeAgainTo: 30 },
    { ...open, generation: 'g' },
  ]
  for (const note of notes) expect(readSinkNote(writeSinkNote(note))).toEqual(note)
  expect(readSinkNote('')).toBeUndefined()
})

it('reads notes of earlier releases', () => {
  expect(readSinkNote('{"lineage":"m"}')).toEqual(firstNote('m'))
  expect(readSinkNote('{"lineage":"m","openTo":12,"again":1,"hasMovedRecords":true}')).toEqual({
    ...openBatchIn({ ...firstNote('m'), hasMovedRecords: true }, 12, 0),
    furtherTokens: 1,
    openedAtMs: undefined,
  })
  expect(readSinkNote('{"lineage":"m","store":"table/first","againTo":30}')).toEqual({
    ...closed,
    storeAgainTo: 30,
  })
})

it('prevents earlier releases from taking over a partition whose records are stored again', () => {
  // Earlier releases read a note with JSON.parse only, and retry a batch whose note they cannot read.
  expect(() => JSON.parse(writeSinkNote({ ...closed, storeAgainTo: 30 })) as unknown).toThrow(
    SyntaxError,
  )
  expect(JSON.parse(writeSinkNote(closed))).toMatchObject({ lineage: 'm' })
  expect(JSON.parse(writeSinkNote(open))).toMatchObject({ lineage: 'm', openTo: 12 })
})

it('compares batches until one ends at the previous position', () => {
  expect(moveBackIn(closed, 10)).toEqual({ ...closed, storeAgainTo: 10 })
  expect(moveBackIn({ ...closed, storeAgainTo: 40 }, 10)).toEqual({ ...closed, storeAgainTo: 40 })
  expect(moveBackIn({ ...open, furtherTokens: 2 }, 10)).toEqual({ ...closed, storeAgainTo: 12 })
  const named = { ...closed, generation: 'next' }
  expect(closeBatchIn({ ...open, storeAgainTo: 13 }, () => 'next')).toEqual({
    ...closed,
    storeAgainTo: 13,
  })
  expect(closeBatchIn({ ...open, storeAgainTo: 12 }, () => 'next')).toEqual(named)
})

it('names another generation when records were stored again below the position, and only then', () => {
  const named = { ...closed, generation: 'first' }
  const next = closeBatchIn(openBatchIn(named, 20, 0), () => 'next')
  expect(next.generation).toBe('first')
  const back = moveBackIn(named, 20)
  expect(back.generation).toBeUndefined()
  const again = closeBatchIn(openBatchIn(back, 19, 0), () => 'next')
  expect(again.generation).toBeUndefined()
  expect(closeBatchIn(openBatchIn(again, 20, 0), () => 'next').generation).toBe('next')
})

it('names a batch by its range and lineage', () => {
  const tokenOf = (further: number) => insertToken('m', 'tollgate.usage.live', 3, 10, 20, further)
  expect(tokenOf(0)).toBe('tollgate.usage.live-3-10-20-m')
  expect(tokenOf(2)).toBe('tollgate.usage.live-3-10-20-m-again-2')
})
