import { expect, it } from 'vitest'
import { insertToken, readSinkNote, writeSinkNote } from './sink-note.ts'

it('reads what it wrote', () => {
  for (const note of [
    { lineage: 'm', openTo: undefined, again: 0, hasMovedRecords: false },
    { lineage: 'm', openTo: 12, again: 0, hasMovedRecords: false },
    { lineage: 'm', openTo: 12, again: 2, hasMovedRecords: true },
  ]) {
    expect(readSinkNote(writeSinkNote(note))).toEqual(note)
  }
  expect(readSinkNote('')).toBeUndefined()
})

it('names a batch by its range and the lineage it belongs to', () => {
  const tokenOf = (again: number) => insertToken('m', 'tollgate.usage.live', 3, 10, 20, again)
  expect(tokenOf(0)).toBe('tollgate.usage.live-3-10-20-m')
  expect(tokenOf(2)).toBe('tollgate.usage.live-3-10-20-m-again-2')
})
