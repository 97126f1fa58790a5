import { expect, it } from 'vitest'
import { insertToken, readSinkNote, writeSinkNote } from './sink-note.ts'

it('reads what it wrote', () => {
  for (const note of [
    { lineage: 'm', openTo: undefined, hasMovedRecords: false },
    { lineage: 'm', openTo: 12, hasMovedRecords: false },
    { lineage: 'm', openTo: 12, hasMovedRecords: true },
  ]) {
    expect(readSinkNote(writeSinkNote(note))).toEqual(note)
  }
  expect(readSinkNote('')).toBeUndefined()
})

it('names a batch by its range and the lineage it belongs to', () => {
  expect(insertToken('m', 'tollgate.usage.live', 3, 10, 20)).toBe('tollgate.usage.live-3-10-20-m')
})
