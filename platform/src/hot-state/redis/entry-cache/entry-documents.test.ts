import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EntryDocuments } from './entry-documents.ts'

const at = { partition: 0, subject: 'customer', scope: 'product' }

describe('EntryDocuments', () => {
  it('distinguishes missing entries from unknown ones', () => {
    const documents = new EntryDocuments(1_000)
    expect(documents.find('customer', 'product')).toBeUndefined()
    documents.keep(documents.beginRead(0), at, null)
    expect(documents.find('customer', 'product')).toBeNull()
    expect(documents.find('customer', '')).toBeUndefined()
  })

  it('keeps no answer of a read during which an entry of the partition changed', () => {
    const documents = new EntryDocuments(1_000)
    const moment = documents.beginRead(0)
    documents.drop(0, ['customer'])
    documents.keep(moment, at, 'old')
    expect(documents.find('customer', 'product')).toBeUndefined()
    const next = documents.beginRead(0)
    documents.drop(1, ['another'])
    documents.keep(next, at, 'new')
    expect(documents.find('customer', 'product')).toBe('new')
    const last = documents.beginRead(0)
    documents.clear()
    documents.keep(last, at, 'old')
    expect(documents.find('customer', 'product')).toBeUndefined()
  })

  it('returns the last answer or nothing, and keeps what is used', () => {
    const subject = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.record({ subject, kind: fc.constantFrom('keep', 'find', 'drop') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const documents = new EntryDocuments(800)
        const last = new Map<string, string>()
        for (const [version, { subject, kind }] of steps.entries()) {
          if (kind === 'keep') {
            documents.keep(documents.beginRead(0), { ...at, subject }, `${version}`)
            last.set(subject, `${version}`)
            expect(documents.find(subject, 'product')).toBe(`${version}`)
          } else if (kind === 'drop') {
            documents.drop(0, [subject])
            last.delete(subject)
          }
          expect([undefined, last.get(subject)]).toContain(documents.find(subject, 'product'))
        }
      }),
    )
    const documents = new EntryDocuments(1_000)
    documents.keep(documents.beginRead(0), at, 'used')
    for (let number = 0; number < 1_000; number += 1) {
      documents.keep(documents.beginRead(0), { ...at, subject: `other ${number}` }, 'unused')
      expect(documents.find('customer', 'product')).toBe('used')
    }
    expect(documents.find('other 0', 'product')).toBeUndefined()
  })
})
