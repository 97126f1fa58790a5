import { expect, test } from 'vitest'
import { codeSamples } from './code-samples.ts'
import type { PlacedOperation } from './description-document.ts'
import type { DocsFrame } from './docs-page.tsx'
import { createSearch, hitsMax } from './search.ts'

test('saves no error in place of a document in a sample', () => {
  const operation = {
    operationId: 'getPdf',
    responses: { 200: { content: { 'application/pdf': {} } } },
  }
  const placed = { method: 'get', path: '/pdf', operation } as unknown as PlacedOperation
  const [curl, typescript, python] = codeSamples(placed, 'http://a').map(({ code }) => code)
  expect(curl).toMatch(/^curl -f .* -o invoice\.pdf$/s)
  expect(typescript).toContain('\nif (!response.ok) throw new Error(await response.text())\n')
  expect(python).toContain('\nresponse.raise_for_status()\n')
})

test('limits the hits of a search, and ignores single letters', () => {
  const frame = { docsPath: '/docs', sections: [] } as unknown as DocsFrame
  const guide = Array.from({ length: 100 }, (_, at) => `\n## Heading ${at}\n\nText\n`).join('')
  const search = createSearch(frame, guide)
  const { hits, total } = search('heading')
  expect([hits.length, total]).toEqual([hitsMax, 100])
  expect(search('h e')).toEqual({ hits: [], total: 0 })
})
