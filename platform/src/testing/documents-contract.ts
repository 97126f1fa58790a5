import { expect, it } from 'vitest'
import type { HotState } from '../hot-state/hot-state.ts'

type Under = { readonly hot: HotState; readonly openReader: () => Promise<HotState> }

export function describeDocuments(under: () => Under): void {
  it('stores documents under any key, and shows them to other processes at once', async () => {
    const { hot, openReader } = under()
    const reader = await openReader()
    const keys = ['a', 'a/b', '', 'ü'.repeat(100), 'x'.repeat(5000), `${'x'.repeat(4999)}y`]
    for (const key of keys) await hot.putDocument(key, `document of ${key}`)
    for (const key of keys) {
      expect(await hot.readDocument(key)).toBe(`document of ${key}`)
      expect(await reader.readDocument(key)).toBe(`document of ${key}`)
    }
    await hot.putDocument('a', 'ñ'.repeat(100_000))
    expect(await reader.readDocument('a')).toBe('ñ'.repeat(100_000))
    await hot.deleteDocument('a')
    await hot.deleteDocument('never there')
    expect(await reader.readDocument('a')).toBeUndefined()
    expect(await reader.readDocument('a/b')).toBe('document of a/b')
    await hot.ping()
    await reader.ping()
    await reader.close()
  })
}
