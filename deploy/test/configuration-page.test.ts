import { readFile } from 'node:fs/promises'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { configurationPage } from '../src/configuration/configuration-page.ts'

test('docs/configuration.md is what the services declare (npm run docs makes it anew)', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  expect(page).toBe(await format(configurationPage(), { parser: 'markdown' }))
})
